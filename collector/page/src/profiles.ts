// Answers of the collector as the profiles that the views show. All times are means of a session.

import { FrameTable } from '@selfprof/views/frame-table.ts';
import { Profile, type Totals } from '@selfprof/views/profile.ts';
import { NO_MARKER, Thread } from '@selfprof/views/thread.ts';

import type { FlameGraphAnswer, FunctionName, FunctionsAnswer } from './api.ts';

/** What a view shows of a selection. */
export interface Selection {
  profile: Profile;
  totals: Totals;
  profiles: number;
  sessions: number;
}

function frameTable(functions: readonly FunctionName[]): FrameTable {
  const indexer = (): { texts: string[]; indexOf(text: string): number } => {
    const texts: string[] = [];
    const known = new Map<string, number>();
    const indexOf = (text: string): number => {
      let index = known.get(text);
      if (index === undefined) {
        index = texts.push(text) - 1;
        known.set(text, index);
      }
      return index;
    };
    return { texts, indexOf };
  };
  const [names, resources] = [indexer(), indexer()];
  const frames = {
    name: functions.map(({ name }) => names.indexOf(name)),
    resource: functions.map(({ resource }) => (resource === null ? -1 : resources.indexOf(resource))),
    line: functions.map(({ line }) => line ?? 0),
    column: functions.map(({ column }) => column ?? 0),
  };
  return new FrameTable({
    name: '',
    notes: [],
    names: names.texts,
    resources: resources.texts,
    frames,
    inferredNames: {},
    stacks: { frame: [], parent: [] },
    markers: [],
    snippets: {},
    threads: [],
  });
}

const ABOUT = { name: '', notes: [], markers: [] };

/** The functions, without their stacks. */
export function functionsOf(answer: FunctionsAnswer): Selection {
  const { functions, profiles, sessions, samples, busy } = answer;
  const perSession = 1 / Math.max(1, sessions);
  const none = { frame: new Int32Array(0), parent: new Int32Array(0) };
  const totals: Totals = {
    self: Float64Array.from(functions, ({ selfTime }) => selfTime * perSession),
    total: Float64Array.from(functions, ({ totalTime }) => totalTime * perSession),
    selfSamples: Uint32Array.from(functions, ({ selfSamples }) => selfSamples),
    stacks: new Float64Array(0),
    stackSelf: new Float64Array(0),
    busy: busy.time * perSession,
    busySamples: samples,
    samples,
    counted: 'sample',
  };
  return { profile: new Profile(ABOUT, frameTable(functions), none, []), totals, profiles, sessions };
}

/** The tree of calls. Each call is a stack, with one sample of its time. */
export function treeOf(answer: FlameGraphAnswer): Selection {
  const { functions, nodes, profiles, sessions } = answer;
  const perSession = 1 / Math.max(1, sessions);
  const stacks = {
    frame: Int32Array.from(nodes, (node) => node.function),
    parent: Int32Array.from(nodes, ({ parent }) => parent ?? -1),
  };
  const weight = Float64Array.from(nodes, ({ selfTime }) => selfTime * perSession);
  let now = 0;
  const time = weight.map((each) => {
    now += each;
    return now;
  });
  const samples = {
    time,
    weight,
    stack: Int32Array.from(nodes.keys()),
    marker: new Int8Array(nodes.length).fill(NO_MARKER),
  };
  const thread = new Thread(
    {
      name: '',
      process: null,
      file: null,
      interval: null,
      samples: { start: 0, delta: [], weightOf: [], weight: [], split: [], stack: [], marker: [] },
      entries: { names: [], name: [], isMeasure: [], start: [], duration: [] },
    },
    samples,
  );
  const profile = new Profile(ABOUT, frameTable(functions), stacks, [thread]);
  return { profile, totals: profile.totals(profile.extent), profiles, sessions };
}

/** The frame of the function with this name and location, or -1. */
export function frameOf({ frames }: Profile, identity: string): number {
  for (let frame = 0; frame < frames.count && identity !== ''; frame++)
    if (frames.identity(frame) === identity) return frame;
  return -1;
}

/** By frame: whether it matches a search. */
export function matchesOf({ frames }: Profile, isMatch: (identity: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: frames.count }, (_, frame) => Number(isMatch(frames.identity(frame))));
}
