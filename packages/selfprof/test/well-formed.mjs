// Checks that every trace must pass, and functions that read traces.

import assert from 'node:assert/strict';

const MARKERS = ['script', 'gc', 'parse', 'style', 'layout', 'paint', 'other'];
/** V8's own nodes, which are not functions. */
const ENGINE_NODES = ['(root)', '(program)', '(idle)', '(garbage collector)', '(unresolved function)'];

/** Fails unless `trace` is a well-formed ProfilerTrace. */
export function assertWellFormed(trace) {
  assert.deepEqual(Object.keys(trace), ['frames', 'resources', 'samples', 'stacks']);
  const { frames, resources, samples, stacks } = trace;
  for (const list of [frames, resources, samples, stacks]) assert.ok(Array.isArray(list));

  assertDistinct(resources);
  for (const resource of resources) assert.equal(typeof resource, 'string');

  assertDistinct(frames.map((frame) => JSON.stringify(frame)));
  for (const frame of frames) {
    assertMembers(frame, ['column', 'line', 'name', 'resourceId'], ['name']);
    assert.equal(typeof frame.name, 'string');
    assert.ok(!ENGINE_NODES.includes(frame.name), `${frame.name} is a function's name`);
    if ('resourceId' in frame) assertIndex(frame.resourceId, resources.length);
    else assert.deepEqual(Object.keys(frame), ['name'], 'a position without a resource');
    if ('line' in frame) assertPosition(frame.line);
    if ('column' in frame) assertPosition(frame.column);
  }

  assertDistinct(stacks.map((stack) => JSON.stringify(stack)));
  stacks.forEach((stack, index) => {
    assertMembers(stack, ['frameId', 'parentId'], ['frameId']);
    assertIndex(stack.frameId, frames.length);
    if ('parentId' in stack) assertIndex(stack.parentId, index);
  });

  let last = 0;
  for (const sample of samples) {
    assertMembers(sample, ['marker', 'stackId', 'timestamp'], ['timestamp']);
    assert.equal(typeof sample.timestamp, 'number');
    assert.ok(sample.timestamp >= last, `${sample.timestamp} comes after ${last}`);
    last = sample.timestamp;
    if ('stackId' in sample) assertIndex(sample.stackId, stacks.length);
    if ('marker' in sample) assert.ok(MARKERS.includes(sample.marker), `${sample.marker} is a marker`);
  }
}

/** Checks that members are in WebIDL's order, that required ones are present, and that none is undefined. */
function assertMembers(dictionary, allowed, required) {
  assert.equal(Object.getPrototypeOf(dictionary), Object.prototype);
  const present = allowed.filter((member) => member in dictionary);
  assert.deepEqual(Object.keys(dictionary), present);
  for (const member of required) assert.ok(present.includes(member), `${member} is there`);
  for (const member of present) assert.notEqual(dictionary[member], undefined, `${member} is undefined`);
}

function assertDistinct(list) {
  assert.equal(new Set(list).size, list.length, 'equal elements share an id');
}

function assertIndex(id, length) {
  assert.ok(Number.isInteger(id) && id >= 0 && id < length, `${id} is an index below ${length}`);
}

function assertPosition(number) {
  assert.ok(Number.isInteger(number) && number >= 1, `${number} is a 1-based position`);
}

/** The frames of a stack, innermost first. */
export function framesOf(trace, stackId) {
  const frames = [];
  for (let id = stackId; id !== undefined; id = trace.stacks[id].parentId) {
    frames.push(trace.frames[trace.stacks[id].frameId]);
  }
  return frames;
}

/** Whether `frames`, innermost first, have these names next to each other somewhere. */
export function hasCalls(trace, names) {
  return trace.stacks.some((_, id) => {
    const frames = framesOf(trace, id);
    return names.every((name, index) => frames[index]?.name === name);
  });
}
