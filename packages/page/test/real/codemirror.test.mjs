// A site with an editor: CodeMirror 6, as ES modules from npm with an import map, highlights thousands of lines.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { open, serve } from '../server.mjs';
import { modulesOf, packageRoute, packageText } from './packages.mjs';
import { assertTraceOf, samplesByResource } from './traces.mjs';

const APP = `
import { autocompletion } from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { defaultHighlightStyle, foldGutter, syntaxHighlighting } from '@codemirror/language';
import { EditorView, drawSelection, highlightActiveLine, lineNumbers } from '@codemirror/view';

const extensions = [
  lineNumbers(), foldGutter(), drawSelection(), highlightActiveLine(), autocompletion(), syntaxHighlighting(defaultHighlightStyle), javascript(),
];

window.edit = function edit(lines) {
  const doc = Array.from({ length: lines }, (_, i) => 'function f' + i + '(a, b) { return a + b * ' + i + '; }').join('\\n');
  window.view = new EditorView({ doc, extensions, parent: document.body });
};

window.type = function type(text) {
  for (const insert of text) view.dispatch({ changes: { from: 0, insert }, selection: { anchor: 1 }, scrollIntoView: true });
};
`;

/** The file of each package that browsers load, by its package.json. */
function importMap(modules) {
  const imports = {};
  const visit = (folder, prefix = '') => {
    for (const name of fs.readdirSync(folder)) {
      if (name.startsWith('.')) continue;
      if (name.startsWith('@') && prefix === '') visit(path.join(folder, name), `${name}/`);
      else {
        const { exports, module } = JSON.parse(fs.readFileSync(path.join(folder, name, 'package.json'), 'utf8'));
        const file = exports?.import ?? exports?.['.']?.import ?? module;
        if (file !== undefined)
          imports[prefix + name] = `/npm/${prefix}${name}/${(file.default ?? file).replace('./', '')}`;
      }
    }
  };
  visit(modules);
  return { imports };
}

test('an editor is profiled while it highlights', async (t) => {
  const modules = modulesOf('SELFPROF_TEST_CODEMIRROR');
  const html = `<!doctype html><title>Editor</title><script type="importmap">${JSON.stringify(importMap(modules))}</script><script type="module" src="/app.js"></script>`;
  const server = await serve(t, {
    '/': { body: html, headers: { 'document-policy': 'js-profiling' } },
    '/app.js': APP,
    '*': packageRoute(modules),
  });
  const page = await open(t, server.url('/'));
  const [trace, first, lines, highlighted] = await page.evaluate(async () => {
    const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 1_000 });
    let isFull = false;
    profiler.addEventListener('samplebufferfull', () => (isFull = true));
    edit(2_000);
    // The editor parses in slices of some milliseconds, so on a busy machine the line may be highlighted after the
    // trace is full.
    while (!isFull || document.querySelector('.cm-line span') === null) {
      type('/* typed */');
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    const line = document.querySelector('.cm-line');
    return [
      await profiler.stop(),
      view.state.doc.lineAt(1).text.slice(0, 11),
      document.querySelectorAll('.cm-line').length,
      line.querySelectorAll('span').length,
    ];
  });
  const sources = { [server.url('/app.js')]: APP };
  for (const url of trace.resources) {
    if (url.startsWith(server.url('/npm/'))) sources[url] = packageText(modules, url.slice(server.url('/npm/').length));
  }
  assertTraceOf(trace, sources);
  assert.equal(trace.samples.length, 1_000);
  const counts = samplesByResource(trace);
  for (const name of ['@codemirror/view', '@lezer/lr']) {
    assert.ok(
      [...counts].some(([url, count]) => url?.includes(`/npm/${name}/`) && count > 5),
      `${name} in ${[...counts]}`,
    );
  }
  assert.equal(first.length, 11);
  assert.ok(lines > 20 && highlighted > 0, `${lines} lines, ${highlighted} spans`);
  assert.deepEqual([page.errors, page.problems, page.log], [[], [], []]);
});
