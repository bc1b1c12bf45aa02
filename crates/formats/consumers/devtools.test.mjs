// Chrome DevTools' own engine, as npm has it (@paulirish/trace_engine), on .cpuprofile and trace events.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { assertSame, convert, marks, merged, packageFolder, sums, top, traces } from './conversion.mjs';

// The engine takes this class of browsers for granted.
globalThis.DOMRect ??= class DOMRect {};
const engine = pathToFileURL(`${packageFolder('@paulirish/trace_engine')}/models/trace/trace.js`);
const { TraceModel, Types, Helpers } = await import(engine);

const known = (number) => (number < 0 ? null : number + 1);
const key = ({ name, resource, line, column }) => `${name}\n${resource ?? ''}:${line}:${column}`;
const keyOfCall = ({ functionName, url, lineNumber, columnNumber }) =>
  key({ name: functionName || '(anonymous)', resource: url, line: known(lineNumber), column: known(columnNumber) });
// In traces, functions of one name on one line are the same to the engine.
const withoutColumn = (key) => key.replace(/:[^:]*$/, '');

async function parse(events, metadata) {
  const model = TraceModel.Model.createWithAllHandlers();
  await model.parse(events, metadata ? { isCPUProfile: true, metadata } : {});
  return model.parsedTrace().data;
}

/** The calls that the Performance panel draws, summed up. */
function callSums(entryToNode, keyOf = keyOfCall) {
  const rows = [];
  for (const [entry, node] of entryToNode) {
    if (!Types.Events.isProfileCall(entry)) continue;
    const name = keyOf(entry.callFrame);
    let above = node.parent;
    while (above && !(Types.Events.isProfileCall(above.entry) && keyOf(above.entry.callFrame) === name)) above = above.parent;
    // Time in recursive calls counts once.
    rows.push({ name, self: (node.selfTime ?? 0) / 1000, total: above ? 0 : (entry.dur ?? 0) / 1000 });
  }
  return sums(rows, ({ name }) => name);
}

/** Functions on stacks without time of their own are not drawn when no time passes. */
const withTime = (sums) => new Map([...sums].filter(([, { total }]) => total > 0));

for (const [name, trace] of Object.entries(traces)) {
  describe(`DevTools, on a trace ${name}`, () => {
    test('shows the sums of top for .cpuprofile', async () => {
      const profile = JSON.parse(readFileSync(convert(trace, '.cpuprofile')));
      const fake = Helpers.SamplesIntegrator.SamplesIntegrator.createFakeTraceFromCpuProfile(profile, 1);
      const { Samples } = await parse(fake.traceEvents, fake.metadata);
      // Times are moved by a microsecond at most, see cpuprofile/settled.rs.
      assertSame(withTime(callSums(Samples.entryToNode)), withTime(sums(top(trace), key)), 0.02);
    });

    test('shows the sums of top for trace events', async () => {
      const { traceEvents } = JSON.parse(readFileSync(convert(trace, '.trace.json')));
      const { Renderer } = await parse(traceEvents);
      const found = callSums(Renderer.entryToNode, (callFrame) => withoutColumn(keyOfCall(callFrame)));
      const expected = merged(trace, (row) => withoutColumn(key(row)));
      assertSame(withTime(found), withTime(expected), 1e-3);
    });
  });
}

test('DevTools shows marks and measures', async () => {
  const { traceEvents } = JSON.parse(readFileSync(convert(marks, '.trace.json')));
  const { UserTimings } = await parse(traceEvents);
  const { entries } = JSON.parse(readFileSync(marks));
  const named = (type) => entries.filter(({ entryType }) => entryType === type).map(({ name }) => name).sort();
  assert.deepEqual(UserTimings.performanceMarks.map(({ name }) => name).sort(), named('mark'));
  assert.deepEqual(UserTimings.performanceMeasures.map(({ name }) => name).sort(), named('measure'));
});
