'use strict';

// Resolves what the DOM's modules require, as a bundler for browsers does: with the condition `browser` and the manifest
// field `browser`, because the realm that they run in has nothing of Node.
// https://nodejs.org/api/esm.html#resolution-algorithm-specification

const fs = require('node:fs');
const path = require('node:path');

const CONDITIONS = { cjs: new Set(['browser', 'require', 'default']), esm: new Set(['browser', 'import', 'default']) };

/** Manifests by folder, `null` where there is none. Packages do not change while a page is open. */
const manifests = new Map();

function manifestIn(folder) {
  let manifest = manifests.get(folder);
  if (manifest === undefined) {
    try {
      manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    } catch {
      manifest = null;
    }
    manifests.set(folder, manifest);
  }
  return manifest;
}

/** The package that a file belongs to: the nearest folder with a manifest that has a name. */
function packageOf(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest !== null && manifest.name !== undefined) return { folder, manifest };
    if (folder === path.dirname(folder)) throw new Error(`${file} belongs to no package`);
  }
}

function isFile(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/** A path as CommonJS completes it. */
function complete(wanted) {
  const found = [wanted, `${wanted}.js`, `${wanted}.json`, path.join(wanted, 'index.js')].find(isFile);
  if (found === undefined) throw new Error(`${wanted} is not there`);
  return found;
}

/** The first target whose conditions are met. */
function choose(target, conditions) {
  if (typeof target === 'string') return target;
  if (Array.isArray(target)) return choose(target[0], conditions);
  for (const [condition, inner] of Object.entries(target ?? {})) {
    const chosen = conditions.has(condition) ? choose(inner, conditions) : undefined;
    if (chosen !== undefined) return chosen;
  }
  return undefined;
}

/** Looks a subpath up in `exports` or `imports`. */
function lookUp(table, subpath, conditions) {
  const plain = typeof table === 'string' || Array.isArray(table) || !Object.keys(table).some((key) => /^[.#]/.test(key));
  const entries = plain ? { '.': table } : table;
  if (Object.hasOwn(entries, subpath)) return choose(entries[subpath], conditions);
  for (const [pattern, target] of Object.entries(entries)) {
    const [before, after] = pattern.split('*');
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) continue;
    return choose(target, conditions)?.replaceAll('*', subpath.slice(before.length, subpath.length - after.length));
  }
  return undefined;
}

/** The manifest's `browser` field replaces a package's own files. */
function forBrowsers(file) {
  const { folder, manifest } = packageOf(file);
  if (typeof manifest.browser !== 'object') return file;
  const other = manifest.browser[`./${path.relative(folder, file).replaceAll(path.sep, '/')}`];
  return typeof other === 'string' ? complete(path.join(folder, other)) : file;
}

function folderOfPackage(name, from) {
  for (let folder = path.dirname(from); ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules', name);
    // Package managers that link packages keep a package's dependencies beside its real place.
    if (manifestIn(candidate) !== null) return fs.realpathSync(candidate);
    if (folder === path.dirname(folder)) throw new Error(`the package ${name}, which ${from} requires, is not installed`);
  }
}

/**
 * @param {string} specifier what is required or imported
 * @param {string} from the file that does, an absolute path
 * @param {'cjs' | 'esm'} kind of that file
 * @returns {string} an absolute path
 */
function resolve(specifier, from, kind) {
  const conditions = CONDITIONS[kind];
  if (/^\.{0,2}\//.test(specifier)) return forBrowsers(complete(path.resolve(path.dirname(from), specifier)));
  if (specifier.startsWith('#')) {
    const { folder, manifest } = packageOf(from);
    return path.join(folder, lookUp(manifest.imports ?? {}, specifier, conditions));
  }
  const [, name, subpath] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier);
  const folder = folderOfPackage(name, from);
  const manifest = manifestIn(folder);
  // A trailing slash only says that the package is meant and not a module of Node's.
  const inner = subpath === undefined || subpath === '/' ? '.' : `.${subpath}`;
  if (manifest.exports !== undefined) {
    const target = lookUp(manifest.exports, inner, conditions);
    if (target === undefined) throw new Error(`${name} does not export ${inner}, which ${from} requires`);
    return forBrowsers(path.join(folder, target));
  }
  if (inner !== '.') return forBrowsers(complete(path.join(folder, inner)));
  const main = typeof manifest.browser === 'string' ? manifest.browser : manifest.main;
  return forBrowsers(complete(path.join(folder, main ?? 'index.js')));
}

/** @returns {'cjs' | 'esm' | 'json'} what a file is compiled as */
function kindOf(file) {
  if (file.endsWith('.json')) return 'json';
  if (file.endsWith('.cjs')) return 'cjs';
  if (file.endsWith('.mjs')) return 'esm';
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest !== null) return manifest.type === 'module' ? 'esm' : 'cjs';
    if (folder === path.dirname(folder)) return 'cjs';
  }
}

module.exports = { kindOf, resolve };
