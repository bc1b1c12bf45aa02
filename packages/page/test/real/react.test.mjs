// A site in React: production builds of react and react-dom rendering a table of thousands of rows.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, serve } from '../server.mjs';
import { modulesOf, packageRoute, packageText } from './packages.mjs';
import { assertWellFormed } from '../../../selfprof/test/well-formed.mjs';
import { assertTraceOf, namesOf, samplesByResource } from './traces.mjs';

const REACT = 'react/umd/react.production.min.js';
const REACT_DOM = 'react-dom/umd/react-dom.production.min.js';
const ROWS = 2_000;

const APP = `
const { createElement: element, memo, useEffect, useMemo, useState } = React;

const Row = memo(function Row({ item, isSelected, onSelect }) {
  if (item.id === window.watched) window.watcher = new Profiler({ sampleInterval: 2147483, maxBufferSize: 10 });
  return element('tr', { className: isSelected ? 'selected' : '' },
    element('td', null, item.id),
    element('td', null, element('a', { onClick: () => onSelect(item.id) }, item.label)),
    element('td', { style: { opacity: item.id % 2 } }, item.price.toFixed(2)));
});

function Table({ items }) {
  const [selected, select] = useState(-1);
  const [isDescending, setDescending] = useState(false);
  const sorted = useMemo(() => isDescending ? [...items].reverse() : items, [items, isDescending]);
  useEffect(() => { performance.mark('committed'); });
  return element('div', null,
    element('button', { id: 'sort', onClick: () => setDescending(!isDescending) }, 'Sort'),
    element('table', null, element('tbody', null,
      sorted.map((item) => element(Row, { key: item.id, item, isSelected: item.id === selected, onSelect: select })))));
}

function makeItems(count, round = 0) {
  return Array.from({ length: count }, (_, id) => ({ id, label: 'Item ' + id + ' of ' + round, price: id * 1.5 }));
}

const root = ReactDOM.createRoot(document.getElementById('root'));
function render(items) {
  ReactDOM.flushSync(() => root.render(element(Table, { items })));
}
`;

async function site(t) {
  const modules = [modulesOf('SELFPROF_TEST_REACT_DOM'), modulesOf('SELFPROF_TEST_REACT')];
  const html = `<!doctype html><title>Table</title><div id="root"></div>
    <script src="/npm/${REACT}"></script><script src="/npm/${REACT_DOM}"></script><script src="/app.js"></script>`;
  const server = await serve(t, {
    '/': {
      body: html,
      headers: {
        'document-policy': 'js-profiling',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
      },
    },
    '/app.js': APP,
    '*': packageRoute(...modules),
  });
  const page = await open(t, server.url('/'));
  const urls = {
    app: server.url('/app.js'),
    react: server.url(`/npm/${REACT}`),
    reactDom: server.url(`/npm/${REACT_DOM}`),
  };
  const sources = {
    [urls.app]: APP,
    [urls.react]: packageText(modules[1], REACT),
    [urls.reactDom]: packageText(modules[0], REACT_DOM),
  };
  return { page, urls, sources };
}

test('a big table is profiled while it renders', async (t) => {
  const { page, urls, sources } = await site(t);
  // As many rounds as it takes to fill the buffer, so the number of samples does not depend on the machine.
  const { entries, ...trace } = await page.evaluate(async (rows) => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 300, includeEntries: true });
    let isFull = false;
    profiler.addEventListener('samplebufferfull', () => (isFull = true));
    for (let round = 0; !isFull; round++) {
      render(makeItems(rows, round));
      await new Promise((resolve) => setTimeout(resolve));
    }
    return await profiler.stop();
  }, ROWS);
  assertTraceOf(trace, sources);
  assert.equal(trace.samples.length, 300);
  const counts = samplesByResource(trace);
  assert.ok(counts.get(urls.reactDom) > 100, `${[...counts]}`);
  assert.ok(counts.get(urls.app) > 100, `${[...counts]}`);
  // React calls the page's function to render rows, and DOM methods to create them.
  const stacks = trace.samples.map((sample) => namesOf(trace, sample).join(' > '));
  assert.ok(
    stacks.some((stack) => /\[(createElement|appendChild|setAttribute|set textContent)\]$/.test(stack)),
    'calls of the DOM',
  );
  assert.ok(
    stacks.some((stack) => / > Row( > |$)/.test(stack)),
    'the component',
  );
  assert.deepEqual(new Set(trace.samples.map(({ marker }) => marker)).has('script'), true);
  assert.ok(
    entries.some(({ entryType, name }) => entryType === 'mark' && name === 'committed'),
    'what effects mark',
  );
  assert.equal(await page.evaluate('document.querySelectorAll("tr").length'), ROWS);
  assert.deepEqual([page.errors, page.problems], [[], []]);
});

test("the stack of a component is React's", async (t) => {
  const { page, urls, sources } = await site(t);
  // A profiler's first sample is taken in its constructor.
  const trace = await page.evaluate(async () => {
    window.watched = 3;
    render(makeItems(10));
    return await watcher.stop();
  });
  assertTraceOf(trace, sources);
  assert.equal(trace.samples.length, 1);
  const names = namesOf(trace, trace.samples[0]);
  assert.deepEqual(names.slice(-1), ['Row']);
  assert.equal(names.filter((name) => name === 'render').length, 1);
  const row = trace.frames.find(({ name }) => name === 'Row');
  const line = APP.split('\n').findIndex((text) => text.includes('function Row('));
  assert.deepEqual(
    [trace.resources[row.resourceId], row.line, row.column],
    [urls.app, line + 1, APP.split('\n')[line].indexOf('Row({') + 4],
  );
  // Between the two, there are React's frames only.
  const between = trace.frames.filter(({ resourceId }) => trace.resources[resourceId] === urls.reactDom);
  assert.ok(between.length > 5, names.join(' > '));
});

test('dispatched events reach handlers, and forced samples are counted', async (t) => {
  const { page } = await site(t);
  await page.evaluate((rows) => {
    render(makeItems(rows));
    window.profiler = new Profiler({ sampleInterval: 2147483, maxBufferSize: 10 });
  }, 200);
  await page.evaluate(() => document.querySelectorAll('a')[77].click());
  await page.forceSample();
  await page.evaluate(() => document.getElementById('sort').click());
  await page.forceSample();
  const [selected, first, trace] = await page.evaluate(async () => [
    document.querySelector('.selected').textContent,
    document.querySelector('tr').textContent,
    await profiler.stop(),
  ]);
  assert.deepEqual([selected, first], ['77Item 77 of 0115.50', '199Item 199 of 0298.50']);
  assertWellFormed(trace);
  assert.equal(trace.samples.length, 3);
});
