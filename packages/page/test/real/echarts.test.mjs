// A site with charts: the bundle of ECharts, a megabyte of minified JavaScript, draws tens of thousands of points as
// SVG.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, serve } from '../server.mjs';
import { modulesOf, packageRoute, packageText } from './packages.mjs';
import { assertTraceOf, namesOf, samplesByResource } from './traces.mjs';

const ECHARTS = 'echarts/dist/echarts.min.js';

const APP = `
function points(count, f) {
  return Array.from({ length: count }, (_, x) => [x, f(x / 50) * 100]);
}

function draw(count, label) {
  const chart = echarts.init(document.getElementById('chart'), null, { renderer: 'svg', width: 800, height: 400 });
  chart.setOption({
    animation: false,
    tooltip: {},
    xAxis: { type: 'value', axisLabel: { formatter: label } },
    yAxis: {},
    series: [{ type: 'scatter', data: points(count, Math.sin) }, { type: 'line', smooth: true, data: points(count, Math.cos) }],
  });
  return chart;
}`;

async function site(t) {
  const modules = modulesOf('SELFPROF_TEST_ECHARTS');
  const html = `<!doctype html><title>Chart</title><div id="chart"></div><script src="/npm/${ECHARTS}"></script><script src="/app.js"></script>`;
  const server = await serve(t, {
    '/': { body: html, headers: { 'document-policy': 'js-profiling-mode=lazy' } },
    '/app.js': APP,
    '*': packageRoute(modules),
  });
  const page = await open(t, server.url('/'));
  const urls = { app: server.url('/app.js'), echarts: server.url(`/npm/${ECHARTS}`) };
  return { page, urls, sources: { [urls.app]: APP, [urls.echarts]: packageText(modules, ECHARTS) } };
}

test('a chart is profiled while it is drawn', async (t) => {
  const { page, urls, sources } = await site(t);
  const trace = await page.evaluate(async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 200 });
    let isFull = false;
    profiler.addEventListener('samplebufferfull', () => (isFull = true));
    while (!isFull) {
      draw(2_000, (value) => value.toFixed()).dispose();
      await new Promise((resolve) => setTimeout(resolve));
    }
    return await profiler.stop();
  });
  assertTraceOf(trace, sources);
  assert.equal(trace.samples.length, 200);
  const counts = samplesByResource(trace);
  assert.ok(counts.get(urls.echarts) > 50, `${[...counts]}`);
  assert.ok(counts.get(urls.app) > 50, `${[...counts]}`);
  // The marker `script` is for isolated pages.
  assert.deepEqual(
    trace.samples.filter(({ marker }) => marker === 'script'),
    [],
  );
});

test("callbacks appear below the library's frames, and the chart is in the document", async (t) => {
  const { page, urls, sources } = await site(t);
  const [trace, paths, labels] = await page.evaluate(async () => {
    let profiler;
    draw(500, function label(value) {
      profiler ??= new Profiler({ sampleInterval: 2147483, maxBufferSize: 10 });
      return `x ${value}`;
    });
    const texts = [...document.querySelectorAll('text')].map(({ textContent }) => textContent);
    return [await profiler.stop(), document.querySelectorAll('svg path').length, texts];
  });
  assertTraceOf(trace, sources);
  const names = namesOf(trace, trace.samples[0]);
  assert.deepEqual(names.slice(-1), ['label']);
  assert.ok(names.includes('draw'), names.join(' > '));
  assert.ok(
    trace.frames.filter(({ resourceId }) => trace.resources[resourceId] === urls.echarts).length > 5,
    names.join(' > '),
  );
  assert.ok(paths > 500, `${paths} paths`);
  assert.ok(labels.includes('x 100'), labels.join());
  assert.deepEqual(page.errors, []);
});
