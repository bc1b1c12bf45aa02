// Pages of this process, for tests that look inside: what the process of the pages has, with the methods of its client.

import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';

const require = createRequire(import.meta.url);
const { readValue, writeValue } = require('../src/client/cloned-values.cjs');
const { BrowserContext } = require('../src/host/browser-context.cjs');
const { Page } = require('../src/host/page.cjs');

class PageOfTest extends Page {
  async evaluate(script, ...parameters) {
    const isFunction = typeof script === 'function';
    const source = isFunction ? `(${script})` : script;
    return readValue(await super.evaluate({ source, isFunction, parameters: writeValue(parameters) }));
  }

  async takeProfile() {
    return JSON.parse(gunzipSync(await super.takeProfile(30_000)));
  }
}

export class PageHost {
  #context;

  constructor(options) {
    this.#context = new BrowserContext(options);
  }

  get pages() {
    return this.#context.pages();
  }

  async open(url = 'about:blank', { on = {}, ...options } = {}) {
    const page = new PageOfTest(this.#context);
    this.#context.add(page);
    for (const [type, listener] of Object.entries(on)) page.on(type, listener);
    try {
      await page.navigate(url, options);
    } catch (error) {
      await page.close();
      throw error;
    }
    return page;
  }

  async close() {
    await this.#context.close();
  }
}
