// What probes put around themselves: frames, scripts, workers and profilers. All of it is gone when the probe has
// ended.

import { OTHER_ORIGIN } from './show.mjs';

/** @type {(() => void)[]} */
const undo = [];

/** Is called when the probe has ended. @param {() => void} work */
export function atEnd(work) {
  undo.push(work);
}

export function cleanUp() {
  for (const work of undo.splice(0)) {
    try {
      work();
    } catch {
      // The probe may have changed what this uses.
    }
  }
  performance.clearMarks();
  performance.clearMeasures();
  performance.clearResourceTimings();
}

/** The variant that this document is loaded in: `policy`, `isolated` or `none`. */
export const VARIANT = new URLSearchParams(location.search).get('variant');

const { setTimeout } = globalThis;

/** The options that a call reads, in this order. @param {(options: object) => unknown} call */
export function readsOf(call) {
  const log = [];
  const options = new Proxy(
    {},
    {
      get(_, key) {
        log.push(String(key));
        return undefined;
      },
    },
  );
  try {
    call(options);
  } catch {
    // It may require what it has not got.
  }
  return log;
}

/** @param {number} [ms] */
export function later(ms = 0) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves with the first event. */
export function event(target, type) {
  return new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));
}

/**
 * The URL of a response. The name's ending decides the type.
 *
 * @param {string} name
 * @param {string} body
 * @param {{ headers?: Record<string, string>, status?: number, isOther?: boolean, variant?: string, fragment?: string
 *   }} [options]
 */
export function answer(
  name,
  body,
  { headers = {}, status = 200, isOther = false, variant = VARIANT, fragment = '' } = {},
) {
  const query = new URLSearchParams({ body, status: String(status), variant, other: OTHER_ORIGIN });
  // Otherwise isolated pages would not load it.
  const all = { 'cross-origin-resource-policy': 'cross-origin', ...headers };
  for (const [header, value] of Object.entries(all)) query.append('header', `${header}: ${value}`);
  return `${isOther ? OTHER_ORIGIN : location.origin}/answer/${name}?${query}${fragment}`;
}

/**
 * Adds a frame and waits until it has loaded.
 *
 * @param {string} url
 * @param {Record<string, string>} [attributes]
 */
export async function openFrame(url, attributes = {}) {
  const frame = document.createElement('iframe');
  for (const [name, value] of Object.entries({ ...attributes, src: url })) frame.setAttribute(name, value);
  const loaded = event(frame, 'load');
  document.body.append(frame);
  atEnd(() => frame.remove());
  await loaded;
  return frame;
}

/** A frame with this document. @param {string} html */
export async function frameWith(html, { attributes = {}, ...options } = {}) {
  return await openFrame(answer('frame.html', `<!doctype html><body>${html}`, options), attributes);
}

/** Adds a script element and waits until its script has run, or not. */
export async function addScript({ text, ...attributes }) {
  const script = document.createElement('script');
  for (const [name, value] of Object.entries(attributes)) script.setAttribute(name, value);
  if (text !== undefined) script.textContent = text;
  const ended = Promise.race([event(script, 'load'), event(script, 'error')]);
  atEnd(() => script.remove());
  document.body.append(script);
  if ('src' in attributes) return (await ended).type;
  // An inline module runs soon, and fires no event.
  if (attributes.type === 'module') await later(30);
  return 'run';
}

/** Runs the text of a worker until it posts a message, and gives that. */
export async function fromWorker(text, options) {
  const worker = new Worker(answer('worker.js', text), options);
  atEnd(() => worker.terminate());
  const failed = event(worker, 'error').then((error) => `error: ${error.message}`);
  return await Promise.race([event(worker, 'message').then(({ data }) => data), failed]);
}
