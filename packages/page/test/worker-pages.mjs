// Pages that make workers, for tests.

import { once } from 'node:events';

import { eventually } from './server.mjs';

/** Source for pages: makes a worker from a URL or from text, and resolves with its first message or its error. */
const HEAR = `function textUrl(text) { return URL.createObjectURL(new Blob([text], { type: 'text/javascript' })); }
  function listen(worker) {
    return new Promise((resolve) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = (event) => { event.preventDefault(); resolve(event instanceof ErrorEvent ? [event.message, event.filename, event.lineno, event.colno, event.error] : event.type); };
      worker.onmessageerror = () => resolve('messageerror');
    });
  }
  function hear(url, options) { const worker = new Worker(url, options); workers.push(worker); return listen(worker); }
  const workers = [];`;

/** A page with this source. */
export const html = (body = '') => `<script>${HEAR}</script>${body}`;

/** Waits for an event after which a condition holds. */
export async function until(page, type, isIt) {
  while (!isIt()) await once(page, type);
}

/** Waits until a page has so many workers. */
export async function untilWorkers(page, count) {
  await eventually(async () => (await page.workers()).length === count);
}
