// What probes are made with. A probe is a function of the page with a name. What it returns, or throws, is shown as one
// text, which is compared.

import { show, showThrown } from './show.mjs';
import { VARIANT, cleanUp, later, openFrame } from './surroundings.mjs';

/** How long a probe may take, in milliseconds. */
const LIMIT = 10_000;

/** @type {Map<string, { run: () => unknown, file: string, isAlone: boolean }>} */
const registered = new Map();

/**
 * @param {string} concept what the probes are about, which begins their names
 * @param {Record<string, () => unknown>} probes
 * @param {{ file: string, alone?: boolean, variants?: string[] }} options `file` is the file's name without its ending.
 *   `alone`: each probe runs in a frame of its own, because it changes what others would see. `variants`: all of them
 *   by default
 */
export function probes(concept, list, { file, alone = false, variants }) {
  if (variants?.includes(VARIANT) === false) return;
  for (const [name, run] of Object.entries(list)) {
    const full = `${concept}: ${name}`;
    if (registered.has(full)) throw new Error(`two probes have the name ${full}`);
    registered.set(full, { run, file, isAlone: alone });
  }
}

/** The names of all probes of the document. */
export function names() {
  return [...registered.keys()];
}

/** Runs a probe, and returns what it says as text. */
export async function run(name, isInFrame = false) {
  const probe = registered.get(name);
  try {
    if (probe.isAlone && !isInFrame) return await runInFrame(name, probe.file);
    const said = probe.run();
    return show(await Promise.race([said, later(LIMIT).then(() => 'the probe did not end')]));
  } catch (thrown) {
    return showThrown(thrown);
  } finally {
    cleanUp();
  }
}

/** Runs probes one after another. */
export async function runAll(names) {
  const said = [];
  for (const name of names) said.push([name, await run(name)]);
  return said;
}

async function runInFrame(name, file) {
  const query = new URLSearchParams({ variant: new URLSearchParams(location.search).get('variant'), file });
  const frame = await openFrame(`/probes.html?${query}`);
  return await frame.contentWindow.probing.run(name, true);
}
