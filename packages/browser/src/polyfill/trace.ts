// The trace of a recording. Members of dictionaries are in WebIDL's lexicographical order.

import type { Trace } from '../../index.d.ts';
import { type FunctionEntry, functionAt, loadFunctions, ownUrl } from './functions.ts';
import { dictionary } from './intrinsics.ts';
import { type CallNode, ENTERED, type Recording } from './recording.ts';
import { type Line, parseLine } from './stack-text.ts';

/** What a line of a stack shows. */
interface Place extends Line {
  /** `undefined` if there is no table. */
  found: FunctionEntry | undefined;
}

/** https://wicg.github.io/js-self-profiling/#the-profilertrace-dictionary */
export async function traceOf({ start, interval, runs }: Recording): Promise<Trace> {
  const table = await loadFunctions();
  const frames: Trace['frames'] = [];
  const resources: Trace['resources'] = [];
  const samples: Trace['samples'] = [];
  const stacks: Trace['stacks'] = [];
  const places = dictionary<Place | null>();
  const ids = dictionary<number>();

  /** `null` if the callers are not running, `undefined` if it is not shown. */
  const placeOf = ({ text }: CallNode) => {
    if (!(text in places)) places[text] = place(text);
    return places[text];
  };
  const place = (text: string): Place | null | undefined => {
    const line = parseLine(text);
    if (!line) return line;
    const found = table && functionAt(table, line);
    if (table ? !found : line.url === ownUrl) return undefined;
    return { ...line, found };
  };
  const idOf = <T>(list: T[], key: string, element: T): number => {
    ids[key] ??= list.length;
    const id = ids[key];
    // Elements with the same key are equal.
    list[id] = element;
    return id;
  };
  const frameOf = ({ name, url, found }: Place): number => {
    const resourceId = idOf(resources, `r${url}`, url);
    return found
      ? idOf(frames, `f${resourceId} ${found[1]} ${found[2]}`, {
          column: found[2],
          line: found[1],
          name: found[0],
          resourceId,
        })
      : idOf(frames, `f${resourceId} ${name}`, { name, resourceId });
  };
  /** The innermost node that is shown. */
  const shown = (inner: CallNode | undefined): CallNode | undefined => {
    for (let node = inner; node; node = node.caller) {
      const itsPlace = placeOf(node);
      if (itsPlace !== undefined) return itsPlace ? node : undefined;
    }
    return undefined;
  };
  const stackOf = (inner: CallNode | undefined): number | undefined => {
    const node = shown(inner);
    if (node && node.stackId === undefined) {
      const parentId = stackOf(node.caller);
      const frameId = frameOf(placeOf(node) as Place);
      node.stackId = idOf(
        stacks,
        `s${parentId} ${frameId}`,
        parentId === undefined ? { frameId } : { frameId, parentId },
      );
    }
    return node?.stackId;
  };

  let index = 0;
  for (let run = 0; run < runs.length; run++) {
    const { count, state, node } = runs[run];
    const stackId = stackOf(state === ENTERED ? shown(node)?.caller : node);
    for (const end = index + count; index < end; index++) {
      const timestamp = start + index * interval;
      // A sample without a marker would appear idle.
      const marker = 'script';
      samples[index] = stackId !== undefined ? { stackId, timestamp } : state ? { marker, timestamp } : { timestamp };
    }
  }
  return { frames, resources, samples, stacks };
}
