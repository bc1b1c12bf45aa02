// An npm package `selfprof` with a runtime that only counts, for tests that run instrumented code in Node. The program
// finds it by SELFPROF_NPM.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const RUNTIME = `let SELFPROF_ENTER,SELFPROF_CHECK,SELFPROF_LEAVE=v=>(SELFPROF_CHECK?.(),v),SELFPROF_NATIVE=v=>(SELFPROF_CHECK?.native(),v),
SELFPROF_SCAN=v=>(SELFPROF_CHECK?.scan(),v),SELFPROF_RESUME=v=>(SELFPROF_ENTER?.resume(),v);
(() => {
  let ticks = 0;
  const count = () => {
    ticks++;
  };
  count.native = count.scan = count.resume = count;
  globalThis.counter = {
    start: () => {
      SELFPROF_ENTER = SELFPROF_CHECK = count;
    },
    stop: () => {
      SELFPROF_ENTER = SELFPROF_CHECK = undefined;
    },
    ticks: () => ticks,
    table: 'SELFPROF_FUNCTIONS',
  };
})();
`;

/** What traced code needs. It records nothing. */
const TRACING =
  'let SELFPROF_ACTIVE=false,SELFPROF_ENTRY,SELFPROF_EXIT,SELFPROF_FIRST=v=>v;globalThis.table="SELFPROF_FUNCTIONS";';

/** A folder that is removed when the test ends. */
export function temporaryFolder(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-instrument-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return fs.realpathSync(folder);
}

/** Writes files, by their paths. */
export function write(folder, files) {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }
}

/** Has the program use the counting runtime until the test ends. */
export function useCountingRuntime(t) {
  const folder = temporaryFolder(t);
  write(folder, {
    'package.json': '{}',
    'run.cjs': '',
    'polyfill/polyfill.js': RUNTIME,
    'polyfill/tracing.js': TRACING,
  });
  const before = process.env.SELFPROF_NPM;
  process.env.SELFPROF_NPM = folder;
  t.after(() => {
    if (before === undefined) delete process.env.SELFPROF_NPM;
    else process.env.SELFPROF_NPM = before;
  });
}

/** All files below a folder, by their paths from it. */
export function filesOf(folder) {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => path.join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(paths.map((file) => [path.relative(folder, file), fs.readFileSync(file, 'utf8')]));
}
