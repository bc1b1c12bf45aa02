// Chrome DevTools's trace engine from npm (@paulirish/trace_engine), with .cpuprofile files and trace events.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { assertSame, convert, marks, merged, nameIn, packageFolder, sums, top, traces } from './conversion.mjs';

// The engine requires this class of browsers.
globalThis.DOMRect ??= class DOMRect {};
const engine = pathToFileURL(`${packageFolder('@paulirish/trace_engine')}/models/trace/trace.js`);
const { TraceModel, Types, Helpers } = await import(engine);

const known = (number) => (number < 0 ? null : number + 1);
const key = ({ name, resource, line, column }) => `${name}\n${resource ?? ''}:${line}:${column}`;
const keyOfCall = ({ functionName, url, lineNumber, columnNumber }) =>
  key({
    name: nameIn(functionName) || '(anonymous)',
    resource: url,
    line: known(lineNumber),
    column: known(columnNumber),
  });
// In trace events, the engine merges functions of the same name on the same line.
const withoutColumn = (key) => key.replace(/:[^:]*$/, '');

async function parse(events, metadata) {
  const model = TraceModel.Model.createWithAllHandlers();
  await model.parse(events, metadata ? { isCPUProfile: true, metadata } : {});
  return model.parsedTrace().data;
}

/** The times of the calls that the Performance panel draws. */
function callSums(entryToNode, keyOf = keyOfCall) {
  const rows = [];
  for (const [entry, node] of entryToNode) {
    if (!Types.Events.isProfileCall(entry)) continue;
    const name = keyOf(entry.callFrame);
    let above = node.parent;
    while (above && !(Types.Events.isProfileCall(above.entry) && keyOf(above.entry.callFrame) === name))
      above = above.parent;
    // Recursive calls count once.
    rows.push({ name, self: (node.selfTime ?? 0) / 1000, total: above ? 0 : (entry.dur ?? 0) / 1000 });
  }
  return sums(rows, ({ name }) => name);
}

/** Functions without time are not drawn. */
const withTime = (sums) => new Map([...sums].filter(([, { total }]) => total > 0));

for (const [name, trace] of Object.entries(traces)) {
  describe(`DevTools, on a trace ${name}`, () => {
    test('shows the times of selfprof top for .cpuprofile', async () => {
      const profile = JSON.parse(readFileSync(convert(trace, '.cpuprofile')));
      const fake = Helpers.SamplesIntegrator.SamplesIntegrator.createFakeTraceFromCpuProfile(profile, 1);
      const { Samples } = await parse(fake.traceEvents, fake.metadata);
      // Times are off by at most a microsecond, see cpuprofile/devtools_time.rs.
      assertSame(withTime(callSums(Samples.entryToNode)), withTime(sums(top(trace), key)), 0.02);
    });

    test('shows the times of selfprof top for trace events', async () => {
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
  const named = (type) =>
    entries
      .filter(({ entryType }) => entryType === type)
      .map(({ name }) => name)
      .sort();
  assert.deepEqual(UserTimings.performanceMarks.map(({ name }) => name).sort(), named('mark'));
  assert.deepEqual(UserTimings.performanceMeasures.map(({ name }) => name).sort(), named('measure'));
});
