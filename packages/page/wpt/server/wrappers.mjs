// The documents and worker scripts that are generated for tests that consist of one script.
// https://web-platform-tests.org/writing-tests/testharness.html#auto-generated-test-boilerplate

import { readMetadata } from './metadata.mjs';

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function globalOf(kind) {
  const tells = ['Window', 'Worker', 'ShadowRealm'].map((name) => `is${name}: () => ${name === kind}`);
  return `self.GLOBAL = { ${tells.join(', ')} };`;
}

/** @param {{ metadata: [string, string][], head?: string, body: string }} parts */
function documentOf({ metadata, head = '', body }) {
  const lines = ['<!doctype html>', '<meta charset=utf-8>'];
  for (const [key, value] of metadata) {
    if (key === 'title') lines.push(`<title>${escapeText(value)}</title>`);
    if (key === 'timeout' && value === 'long') lines.push('<meta name=timeout content=long>');
  }
  if (head !== '') lines.push(`<script>${head}</script>`);
  for (const name of ['testharness', 'testharnessreport']) lines.push(`<script src="/resources/${name}.js"></script>`);
  return `${[...lines, body].join('\n')}\n`;
}

function scriptTags(metadata, path) {
  const sources = metadata.filter(([key]) => key === 'script').map(([, value]) => value);
  const tags = sources.map((source) => `<script src="${escapeText(source)}"></script>`);
  return [...tags, '<div id=log></div>', `<script src="${escapeText(path)}"></script>`].join('\n');
}

function workerTag(script, options = '') {
  return `<div id=log></div>\n<script>fetch_tests_from_worker(new Worker(${JSON.stringify(script)}${options}));</script>`;
}

function workerScript(metadata, path) {
  const sources = metadata.filter(([key]) => key === 'script').map(([, value]) => value);
  const imported = ['/resources/testharness.js', ...sources, path].map(
    (source) => `importScripts(${JSON.stringify(source)});`,
  );
  return [globalOf('Worker'), ...imported, 'done();', ''].join('\n');
}

function workerModule(metadata, path) {
  const sources = metadata.filter(([key]) => key === 'script').map(([, value]) => value);
  const imported = ['/resources/testharness.js', ...sources, path].map((source) => `import ${JSON.stringify(source)};`);
  // Imported modules are evaluated first, and do not read `GLOBAL` before their tests run.
  return [...imported, globalOf('Worker'), 'done();', ''].join('\n');
}

/**
 * Longer extensions come first. `source` is the extension of the file on disk. `make` gets the metadata, and the path
 * and query of the request with the extension of the file.
 */
const WRAPPERS = [
  {
    end: '.any.worker-module.html',
    source: '.any.js',
    make: (metadata, path, query) =>
      documentOf({
        metadata,
        body: workerTag(path.replace(/\.js$/, '.worker-module.js') + query, ', { type: "module" }'),
      }),
  },
  {
    end: '.any.worker.html',
    source: '.any.js',
    make: (metadata, path, query) =>
      documentOf({ metadata, body: workerTag(path.replace(/\.js$/, '.worker.js') + query) }),
  },
  { end: '.any.worker-module.js', source: '.any.js', isScript: true, make: workerModule },
  { end: '.any.worker.js', source: '.any.js', isScript: true, make: workerScript },
  {
    end: '.any.html',
    source: '.any.js',
    make: (metadata, path) => documentOf({ metadata, head: globalOf('Window'), body: scriptTags(metadata, path) }),
  },
  {
    end: '.window.html',
    source: '.window.js',
    make: (metadata, path) => documentOf({ metadata, body: scriptTags(metadata, path) }),
  },
  {
    end: '.worker.html',
    source: '.worker.js',
    make: (metadata, path, query) => documentOf({ metadata, body: workerTag(path + query) }),
  },
];

/**
 * The generated document or script for a path that is not a file.
 *
 * @param {string} pathname
 * @returns {{ source: string, type: string, make: (text: string, query: string) => string } | undefined} `source` is
 *   the path of the script that it wraps
 */
export function wrapperFor(pathname) {
  const found = WRAPPERS.find(({ end }) => pathname.endsWith(end));
  if (found === undefined) return undefined;
  const source = pathname.slice(0, -found.end.length) + found.source;
  return {
    source,
    type: found.isScript === true ? 'text/javascript' : 'text/html',
    make: (text, query) => found.make(readMetadata(text), source, query),
  };
}
