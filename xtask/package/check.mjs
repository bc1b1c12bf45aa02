// Uses the installed packages as their users would: in the working directory, with node, npx and little else on PATH.
// Arguments: whether the page package is installed (`pages` or `no-pages`), and where the TypeScript compiler is.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const [pages, compiler] = process.argv.slice(2);

const run = (program, ...words) =>
  execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const npx = (...words) => run('npx', '--no-install', 'selfprof', ...words);
const write = (name, text) => fs.writeFileSync(name, text);

for (const name of ['cargo', 'rustc', 'cc', 'c++', 'gcc', 'g++', 'python3']) {
  assert.throws(() => execFileSync(name, ['--version'], { stdio: 'ignore' }), { code: 'ENOENT' }, `${name} is on PATH`);
}

const BUSY = `
  function busy(until) { let sum = 0; while (performance.now() < until) for (let i = 0; i < 1e4; i++) sum += Math.sqrt(i); return sum; }
`;

// What each package carries beside its code.
for (const name of [
  'selfprof',
  '@selfprof/native-linux-x64',
  '@selfprof/browser',
  '@selfprof/instrument',
  ...(pages === 'pages' ? ['@selfprof/page'] : []),
]) {
  for (const file of ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md']) {
    assert.ok(fs.existsSync(`node_modules/${name}/${file}`), `${name} has ${file}`);
  }
}

// The command.
assert.match(npx('--version'), /^selfprof \d/);
write('busy.cjs', `${BUSY} busy(performance.now() + 500); console.log('done');`);
assert.equal(npx('run', '-i', '1', '-o', 'out.json.gz', 'busy.cjs'), 'done\n');
assert.match(npx('top', 'out.json.gz'), /\bbusy\b/);
npx('report', 'out.json.gz', '-o', 'report.html');
assert.match(fs.readFileSync('report.html', 'utf8'), /^<!doctype html>/i);

// A site for browsers without the API, by the command and by the plugin.
fs.mkdirSync('site');
write('site/app.js', `${BUSY} busy(0);`);
write('site/index.html', '<!doctype html><head></head><script src="app.js"></script>');
npx('instrument', 'site', '-o', 'instrumented');
write(
  'polyfill.cjs',
  `const { runInThisContext } = require('node:vm');
  const { readFileSync } = require('node:fs');
  runInThisContext(readFileSync('instrumented/selfprof-polyfill.js', 'utf8'));
  console.log(Profiler.polyfilled);`,
);
assert.equal(run('node', 'polyfill.cjs'), 'true\n');
assert.match(fs.readFileSync('instrumented/app.js', 'utf8'), /\$t\?\.\(\)/);
write(
  'plugin.mjs',
  `import { instrumentFolder } from '@selfprof/instrument'; await instrumentFolder('site', { sampleRate: 1 });`,
);
assert.match(run('node', 'plugin.mjs'), /1 script in selfprof/);
assert.match(fs.readFileSync('site/index.html', 'utf8'), /data-selfprof-chooser/);

// The API, by each way to load it.
const PROFILE = `
  const profiler = new Profiler({ sampleInterval: 1, maxBufferSize: 10000 });
  busy(performance.now() + 200);
  profiler.stop().then((trace) => {
    if (!trace.frames.some(({ name }) => name === 'busy')) throw new Error(JSON.stringify(trace.frames));
    console.log('profiled');
  });
`;
write('imports.mjs', `import { Profiler } from 'selfprof'; ${BUSY} ${PROFILE}`);
write('requires.cjs', `const { Profiler } = require('selfprof'); ${BUSY} ${PROFILE}`);
write('registered.mjs', `${BUSY} ${PROFILE}`);
assert.equal(run('node', 'imports.mjs'), 'profiled\n');
assert.equal(run('node', 'requires.cjs'), 'profiled\n');
assert.equal(run('node', '--import', 'selfprof/register', 'registered.mjs'), 'profiled\n');
run('node', '--input-type=module', '--eval', `import 'selfprof/timing'; import 'selfprof/lazy';`);

// The types.
write(
  'types.mts',
  `
  import { Profiler, type ProfilerTrace } from 'selfprof';
  const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 100 });
  const trace: ProfilerTrace = await profiler.stop();
  const names: string[] = trace.frames.map((frame) => frame.name);
  // @ts-expect-error: both members are required.
  new Profiler({ sampleInterval: 10 });
  export { names };
  `,
);
const check = (file) =>
  run(
    'node',
    compiler,
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2022,dom',
    file,
  );
check('types.mts');

// The agent for pages: a script that may be copied, and a module that leaves programs without pages alone.
assert.match(fs.readFileSync('node_modules/@selfprof/browser/dist/selfprof.js', 'utf8'), /^var selfprof\b/);
run(
  'node',
  '--input-type=module',
  '--eval',
  `import { init } from '@selfprof/browser'; if (typeof init !== 'function') throw 1;`,
);
write(
  'agent-types.mts',
  `import { type Agent, init } from '@selfprof/browser';
  export const agent: Agent = init({ url: '/v1/profiles', app: 'shop', beforeSend: (upload) => (upload.page === '/' ? null : upload) });
  // @ts-expect-error: the name of the application is needed.
  init({ url: '/v1/profiles' });`,
);
check('agent-types.mts');

// Pages.
if (pages === 'pages') {
  write(
    'page.html',
    `<!doctype html><title>A page</title><script>${BUSY} globalThis.trace = (async () => {
    const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10000 });
    busy(performance.now() + 300);
    return profiler.stop();
  })();</script>`,
  );
  write(
    'page.mjs',
    `
    import { PageHost } from '@selfprof/page';
    const host = new PageHost();
    const page = await host.open('page.html', { headers: { 'Document-Policy': 'js-profiling' } });
    const names = await page.evaluate(async () => (await globalThis.trace).frames.map(({ name }) => name));
    if (!names.includes('busy')) throw new Error(names.join());
    await host.close();
    console.log('profiled');
    `,
  );
  assert.equal(run('node', 'page.mjs'), 'profiled\n');
  write(
    'page-types.mts',
    `import { PageHost } from '@selfprof/page';\nexport const host: PageHost = new PageHost({ timeout: 1000 });\n`,
  );
  check('page-types.mts');
}
