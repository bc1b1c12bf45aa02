// A copy of jsdom with a back door.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { jsdom } from './server.mjs';

/**
 * Pages that are shown with it have what a page could get that has taken over the DOM realm: in `window.doors` the functions of the main
 * realm, and in `window.domRealm` the global object.
 *
 * @param {import('node:test').TestContext} t removes the copy when it ends
 * @returns {string} its folder
 */
export function jsdomWithBackDoor(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const original = fs.realpathSync(jsdom);
  const modules = path.join(folder, 'node_modules');
  fs.mkdirSync(modules);
  for (const name of fs.readdirSync(path.dirname(original))) {
    if (name !== 'jsdom') fs.symlinkSync(path.join(path.dirname(original), name), path.join(modules, name));
  }
  const copy = path.join(modules, 'jsdom');
  fs.cpSync(original, copy, { recursive: true });
  fs.appendFileSync(
    path.join(copy, 'lib/jsdom/browser/Window.js'),
    `{ const { createWindow } = exports;
       exports.createWindow = (...parameters) => Object.assign(createWindow(...parameters), { doors: require('selfprof:main-realm'), domRealm: globalThis }); }`,
  );
  return copy;
}
