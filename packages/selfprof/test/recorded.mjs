// Records programs as `selfprof run` does, and reads the journals.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { PACKAGE, runNode } from './program.mjs';
import { spin } from './spin.mjs';

export const PRELOAD = path.join(PACKAGE, 'run.cjs');

/** The option that asks a process and its children for a recording. */
export const OPTION = `--require="${PRELOAD}"`;

/**
 * Records a program as `selfprof run` does. With `settings.children`, the preload comes from the environment, and
 * otherwise from the command line.
 *
 * @returns how it ended; `script`, its file; `journals`, what was recorded, by thread: `main` or `worker-N`; `all`, the
 *   journals of all processes; and `failures`, what could not be recorded
 */
export async function record(t, source, { settings = {}, file = 'main.cjs', args = [], ...options } = {}) {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-')));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  const [dir, script] = [path.join(directory, 'journals'), path.join(directory, file)];
  fs.mkdirSync(dir);
  fs.writeFileSync(script, `${spin}\n${source}`);
  const env = {
    SELFPROF_RUN: JSON.stringify({ dir, interval: 1, limit: null, mode: 'eager', nodeFrames: 'fold', ...settings }),
    ...(settings.children ? { NODE_OPTIONS: OPTION } : {}),
    ...options.env,
  };
  const preload = settings.children ? [] : ['--require', PRELOAD];
  const ended = await runNode([...preload, script, ...args], { cwd: directory, ...options, env });
  const read = (name) => fs.readFileSync(path.join(dir, name), 'utf8');
  const names = fs.readdirSync(dir);
  const failures = names.filter((name) => name.endsWith('.failure')).map((name) => JSON.parse(read(name)));
  const journals = {};
  const all = [];
  for (const name of names.filter((name) => name.endsWith('.journal'))) {
    const journal = parse(read(name));
    // `PID.ID.main.journal`
    journals[name.split('.')[2]] = journal;
    all.push(journal);
  }
  return { ...ended, script, journals, all, failures };
}

/** Parses a journal and checks what every journal has: whole lines, a header, segments whose ids resolve. */
export function parse(text) {
  assert.ok(text.endsWith('\n'), 'the last line is whole');
  const [header, ...records] = text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(header.selfprofJournal, 6);
  const tables = { names: [], resources: [], frames: [], stacks: [] };
  const { names, resources, frames, stacks } = tables;
  const samples = [];
  const entries = [];
  let dropped = 0;
  const waiting = [];
  const sourceMaps = [];
  const labels = [];
  let leftOut = 0;
  let end = null;
  for (const segment of records) {
    if ('failed' in segment) {
      assert.equal(segment.failed.trim(), '', 'the journal could be written');
      continue;
    }
    if (segment.end) {
      assert.equal(end, null, 'an end follows what it ends');
      end = segment.end;
      continue;
    }
    // A program that seemed to end went on.
    end = null;
    if (segment.entries) {
      assert.ok(header.entries, 'entries are announced');
      for (const [type, name, startTime, duration] of segment.entries) {
        assert.ok(name < segment.entryNames.length);
        entries.push([['mark', 'measure'][type], segment.entryNames[name], startTime, duration]);
      }
      dropped += segment.droppedEntries;
      continue;
    }
    if (segment.waiting) {
      waiting.push(...segment.waiting);
      continue;
    }
    if (segment.sourceMaps) {
      sourceMaps.push(...segment.sourceMaps);
      continue;
    }
    if (segment.labels) {
      labels.push(...segment.labels.map(([from, set]) => ({ from, labels: segment.labelSets[set] ?? null })));
      continue;
    }
    if (segment.leftOutSourceMaps) {
      leftOut += segment.leftOutSourceMaps;
      continue;
    }
    if (segment.fresh) for (const table of [names, resources, frames, stacks]) table.length = 0;
    for (const [name, table] of Object.entries(tables)) table.push(...segment[name]);
    samples.push(...segment.samples);
    assert.equal(typeof segment.lost, 'number');
  }
  for (const [name, resource] of frames) assert.ok(name < names.length && resource < resources.length);
  for (const [index, [parent, frame]] of stacks.entries()) assert.ok(parent < index && frame < frames.length);
  for (const [, stack, , count = 1] of samples) assert.ok(count >= 1 && (count === 1 || stack === -1));
  for (const [since, stack] of samples) assert.ok(since >= 0 && stack < stacks.length);
  for (const [since, waited] of waiting) assert.ok(since >= 0 && waited >= 0);
  return {
    header,
    names,
    resources,
    frames,
    stacks,
    samples,
    waiting,
    entries,
    dropped,
    sourceMaps,
    leftOut,
    labels,
    end,
  };
}

/** The number of the marker `gc` in a journal. */
const GC = 2;

/**
 * How many samples of a journal have which labels, by the innermost function with one of these names. Those of garbage
 * collections are left out: their labels are read, but their stacks are inferred.
 *
 * @returns an object of objects: by the function, then by the labels as JSON
 */
export function labelsOf(journal, functions) {
  const { names, frames, stacks, samples, labels } = journal;
  const counts = Object.fromEntries(functions.map((name) => [name, {}]));
  let time = 0;
  let next = 0;
  let current = null;
  for (const [since, stack, marker, , run = 0] of samples) {
    time += since;
    while (next < labels.length && labels[next].from <= time) current = labels[next++].labels;
    for (let at = marker === GC ? -1 : stack; at >= 0; at = stacks[at][0]) {
      const name = names[frames[stacks[at][1]][0]];
      if (!functions.includes(name)) continue;
      const key = JSON.stringify(current);
      counts[name][key] = (counts[name][key] ?? 0) + 1;
      break;
    }
    time += run;
  }
  return counts;
}
