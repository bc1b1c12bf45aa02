// Profilers of probes. A profiler takes its first sample while it is constructed, so the stack of its constructor's
// caller is in its trace, however fast the machine is.

import { atEnd } from './surroundings.mjs';

/** A new profiler, which is stopped when the probe has ended. */
export function start(options, { Profiler = globalThis.Profiler } = {}) {
  const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 1000, ...options });
  atEnd(() => profiler.stopped || profiler.stop());
  return profiler;
}

/** What scripts of probes call: the profiler's first sample shows who called. */
export function sample() {
  globalThis.sampled.push(start());
}
globalThis.sample = sample;
globalThis.sampled = [];

/** The frames of each sampled profiler's first sample: only those after `sample`, outermost last. */
export async function sampledStacks() {
  const stacks = [];
  for (const profiler of globalThis.sampled.splice(0)) stacks.push(stackOf(await profiler.stop()));
  return stacks;
}

/** The traces of the sampled profilers. */
export async function sampledTraces() {
  const traces = [];
  for (const profiler of globalThis.sampled.splice(0)) traces.push(await profiler.stop());
  return traces;
}

/** The callers of `sample` in the first sample of a trace, up to the probe. */
export function stackOf(trace) {
  const frames = firstStack(trace).filter(isOfPage);
  const here = frames.findLastIndex(({ name }) => /^(?:start|sample)$/.test(name));
  const shown = frames.slice(here + 1).map((frame) => showFrame(trace, frame));
  const end = shown.findIndex((text) => /@(?:surroundings|places|probe)\.mjs/.test(text));
  return shown.slice(0, end === -1 ? undefined : end).join(' < ');
}

/**
 * Functions of the browser have a name alone. Whether Chromium shows one between two functions of the page depends on
 * how V8 has compiled the call, so no probe shows them: see `browserFunctions`.
 */
function isOfPage({ resourceId, name }) {
  return resourceId !== undefined || name === '';
}

/** The names of the browser's functions in the first sample that are not among these. */
export function browserFunctions(trace, expected) {
  return firstStack(trace)
    .filter((frame) => !isOfPage(frame))
    .map(({ name }) => name)
    .filter((name) => !expected.includes(name));
}

/** The frames of the first sample, innermost first. */
export function firstStack({ samples, stacks, frames }) {
  const found = [];
  for (let id = samples[0]?.stackId; id !== undefined; id = stacks[id].parentId) found.push(frames[stacks[id].frameId]);
  return found;
}

/** `name@file.js:line:column` */
export function showFrame({ resources }, { name, resourceId, line, column }) {
  if (resourceId === undefined)
    return line === undefined && column === undefined ? `${name}@` : `${name}@:${line}:${column}`;
  return `${name}@${shortUrl(resources[resourceId])}:${line}:${column}`;
}

/** Without the query, which has the whole script of an answer. */
export function shortUrl(url) {
  return url
    .replace(/\?[^#]*/, '')
    .replace(/^blob:.*\/[\da-f-]{36}$/, 'blob')
    .replace(/^data:[^,]*,.*$/s, 'data')
    .replace(/^https?:.*\//, '');
}
