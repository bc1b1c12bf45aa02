// The trace of a recording. Members of dictionaries are in WebIDL's lexicographical order.

import type { CallTrace } from '../../index.d.ts';
import { type FunctionEntry, loadFunctions } from '../polyfill/functions.ts';
import { dictionary, floor } from '../polyfill/intrinsics.ts';
import type { Recording } from './call-recording.ts';

/** Microseconds are exact enough, and short as text. */
const rounded = (milliseconds: number) => floor(milliseconds * 1_000 + 0.5) / 1_000;

/** A `ProfilerTrace` with the extension `calls`, and without samples. */
export async function traceOf({ start, end, isTruncated, blocks, count }: Recording): Promise<CallTrace> {
  const table = await loadFunctions();
  const calls: CallTrace['calls'] = {
    end: rounded(end as number),
    frameIds: [],
    start: rounded(start),
    timestamps: [],
    truncated: isTruncated,
    types: [],
  };
  const trace: CallTrace = { calls, frames: [], resources: [], samples: [], stacks: [] };
  const { frames, resources } = trace;
  const ids = dictionary<number>();
  const idOf = <T>(list: T[], key: string, element: () => T): number => {
    let id = ids[key];
    if (id === undefined) {
      id = list.length;
      list[id] = element();
      ids[key] = id;
    }
    return id;
  };
  const frameOf = (id: number): CallTrace['frames'][number] => {
    for (const url in table) {
      const functions = table[url] as FunctionEntry[];
      // A table that is wrong has none.
      const found = functions[id - (functions[0]?.[8] ?? NaN)];
      if (!found) continue;
      const resourceId = idOf(resources, `r${url}`, () => url);
      return { column: found[2], line: found[1], name: found[0], resourceId };
    }
    return { name: `function ${id}` };
  };
  for (let block = 0; block < blocks.length; block++) {
    const { events, times } = blocks[block];
    for (let index = 0; index < events.length && calls.types.length < count; index++) {
      const event = events[index];
      const id = event >>> 2;
      const at = calls.types.length;
      calls.frameIds[at] = idOf(frames, `f${id}`, () => frameOf(id));
      calls.timestamps[at] = rounded(times[index]);
      calls.types[at] = event & 3;
    }
  }
  return trace;
}
