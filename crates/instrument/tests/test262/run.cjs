// Runs tests of test262 plain and instrumented. Standard input: JSON lines. Arguments: the checkout, and `sample` or
// `trace`.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const [checkout, mode] = process.argv.slice(2);
const harness = new Map();
const harnessFile = (name) => {
  if (!harness.has(name)) harness.set(name, fs.readFileSync(path.join(checkout, 'harness', name), 'utf8'));
  return harness.get(name);
};

// The ticks touch nothing that a test can see.
const sampling = 'const $e = () => {}, $t = $e, $x = value => ($t?.(), value), $h = $x, $s = $x, $r = $x;';

// The first exit of a function that was not entered last is kept. At the end of the stack, exits may be missing.
const tracing = `let $on = true; const $h = value => value,
  $e = id => ($calls.open[$calls.open.length] = id, $calls.open.length),
  $t = (id, number, isSuspended) => {
    const { open } = $calls;
    if (open.length > number) open.length = number;
    if (!open.length || open[open.length - 1] !== id) $calls.broken ??= id;
    else open.length--;
    return isSuspended ? -1 : undefined;
  };`;

const runtime = mode === 'trace' ? tracing : sampling;

const includesOf = (header) => {
  const list = /includes:\s*\[([^\]]*)\]/.exec(header)?.[1].split(',') ?? [];
  const lines = /includes:\s*\n((?:\s*-\s*\S+\n)+)/.exec(header)?.[1].split('-').slice(1) ?? [];
  return [...list, ...lines].map((name) => name.trim()).filter(Boolean);
};

function realm(print) {
  const context = vm.createContext({ print, setTimeout });
  context.$262 = {
    global: vm.runInContext('globalThis', context),
    createRealm: () => realm(print).$262,
    evalScript: (text) => vm.runInContext(text, context),
    gc: () => globalThis.gc(),
    detachArrayBuffer: (buffer) => structuredClone(buffer, { transfer: [buffer] }),
    agent: {},
    AbstractModuleSource: undefined,
  };
  return context;
}

// What a test waits for may never come.
function orTimeout(promise) {
  let timer;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, 500, 'timeout');
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

async function run(test, text) {
  const printed = [];
  let done;
  const finished = new Promise((resolve) => {
    done = resolve;
  });
  const context = realm((message) => {
    printed.push(String(message));
    if (String(message).startsWith('Test262:AsyncTest')) done();
  });
  const calls = { open: Object.setPrototypeOf([], null), broken: undefined };
  if (mode === 'trace') {
    vm.runInContext(`((calls) => { globalThis.take = calls })`, context)(calls);
    vm.runInContext('const $calls = take; delete globalThis.take;', context);
  }
  vm.runInContext(runtime, context);
  try {
    if (!test.raw) {
      for (const name of [
        'assert.js',
        'sta.js',
        ...(test.async ? ['doneprintHandle.js'] : []),
        ...includesOf(test.header),
      ]) {
        vm.runInContext(harnessFile(name), context);
      }
    }
    if (test.module) {
      const modules = new Map();
      const load = (file, source) => {
        if (!modules.has(file)) {
          const options = { context, identifier: file, importModuleDynamically: link };
          modules.set(file, new vm.SourceTextModule(source ?? fs.readFileSync(file, 'utf8'), options));
        }
        return modules.get(file);
      };
      const link = async (specifier, referrer) => load(path.resolve(path.dirname(referrer.identifier), specifier));
      const main = load(test.name, text);
      await main.link(link);
      await orTimeout(main.evaluate());
    } else {
      vm.runInContext(text, context, { filename: test.name });
    }
    if (test.async) await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, 500))]);
  } catch (error) {
    printed.push(`threw ${error?.name ?? error?.constructor?.name} ${error?.message}`);
  }
  if (calls.broken !== undefined) printed.push(`the exit of function ${calls.broken} has no entry`);
  return printed.join('\n');
}

async function main() {
  let same = 0;
  let passed = 0;
  const different = [];
  // More than fits in a string.
  const input = fs.readFileSync(0);
  for (let start = 0; start < input.length; ) {
    const end = input.indexOf('\n', start);
    const test = JSON.parse(input.toString('utf8', start, end));
    start = end + 1;
    const plain = await run(test, test.plain);
    const instrumented = await run(test, test.instrumented);
    if (plain === instrumented) {
      same++;
      if (!plain.includes('threw') && !plain.includes('Failure')) passed++;
    } else {
      different.push(test.name);
      console.log(`DIFFERS ${path.relative(checkout, test.name)}\n  plain: ${plain}\n  instrumented: ${instrumented}`);
    }
  }
  console.log(`${same + different.length} tests: ${same} the same (${passed} pass), ${different.length} differ`);
  process.exitCode = different.length > 0 || passed === 0 ? 1 : 0;
}

// Tests reject promises that nobody handles.
process.on('unhandledRejection', () => {});
process.on('exit', (code) => {
  if (code === 13) console.log('Node ended early');
});
main();
