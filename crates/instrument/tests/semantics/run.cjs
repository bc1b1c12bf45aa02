// Runs each case plain and instrumented, and prints what differs. Standard input: JSON lines of
// { name, kind: 'script' | 'module', plain, instrumented, withFallback, traced, tracedWithFallback }.
'use strict';

const fs = require('node:fs');
const vm = require('node:vm');

const runtime = (active) =>
  active === 'none'
    ? 'let ticks = 0;'
    : `let ticks = 0; let $e = ${active} ? () => { ticks++ } : undefined, $t = $e, $x = value => { ticks++; return value }, $h = $x, $s = $x, $r = $x;`;

// Entries and exits must nest. Numbers of functions that are open are in `open`; what breaks the rule is in `broken`.
const tracing = (active) =>
  active === 'none'
    ? 'let ticks = 0, broken = "";'
    : `let ticks = 0, open = [], broken = "";
let $on = ${active}, $n = 0, $h = value => value;
let $e = id => { ticks++; open.push(id); return open.length };
let $t = (id, number, isSuspended) => {
  ticks++;
  // At the end of the stack, exits may be missing.
  while (open.length > number) open.pop();
  if (open.pop() !== id) broken += " " + id;
  return isSuspended ? -1 : undefined;
};`;

async function run({ kind, name }, text, active, prelude = runtime) {
  const output = [];
  const print = (...values) => {
    output.push(values.map(String).join(' '));
  };
  const context = vm.createContext({ print, setTimeout, queueMicrotask });
  vm.runInContext(prelude(active), context);
  let completion;
  try {
    if (kind === 'module') {
      const module = new vm.SourceTextModule(text, {
        context,
        identifier: name,
        initializeImportMeta: (meta) => {
          meta.url = name;
        },
      });
      await module.link(() => {
        throw new Error('no imports');
      });
      await module.evaluate({ timeout: 5000 });
      completion = JSON.stringify(
        Object.entries(module.namespace).map(([key, value]) => [key, value?.name ?? String(value)]),
      );
    } else {
      completion = vm.runInContext(text, context, { filename: name, timeout: 5000 });
    }
  } catch (error) {
    output.push(`threw ${error?.name}: ${error?.message}`);
  }
  // Jobs and timers of the case.
  await new Promise((resolve) => setTimeout(resolve, 5));
  output.push(`completion ${typeof completion} ${typeof completion === 'object' ? '' : String(completion)}`);
  if (prelude === tracing) {
    const broken = vm.runInContext('broken', context);
    if (broken) output.push(`exits of functions that were not entered last: ${broken}`);
    if (active === true && vm.runInContext('open.length', context)) output.push('functions are still open');
  }
  return { output: output.join('\n'), ticks: vm.runInContext('ticks', context) };
}

const withoutCompletion = (output) => output.replace(/completion (undefined|boolean) .*$/, '');

async function main() {
  const cases = fs
    .readFileSync(0, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  let different = 0;
  let ticks = 0;
  for (const one of cases) {
    const plain = await run(one, one.plain, false);
    for (const [active, text, prelude] of [
      [false, one.instrumented],
      [true, one.instrumented],
      [true, one.withFallback],
      ['none', one.withFallback],
      [false, one.traced, tracing],
      [true, one.traced, tracing],
      ['none', one.tracedWithFallback, tracing],
    ]) {
      const instrumented = await run(one, text, active, prelude);
      ticks += instrumented.ticks;
      if (!one.plain.includes('expects no output') && !plain.output.includes('\n')) {
        console.log(`${one.name} prints nothing:\n${plain.output}`);
        different++;
      }
      // The fallback is a statement with a completion value, which a script of declarations alone has not.
      const isSame =
        text === one.withFallback || text === one.tracedWithFallback
          ? withoutCompletion(plain.output) === withoutCompletion(instrumented.output)
          : plain.output === instrumented.output;
      if (!isSame) {
        different++;
        console.log(
          `${one.name} differs (active: ${active})\n--- plain\n${plain.output}\n--- instrumented\n${instrumented.output}\n--- text\n${text}\n`,
        );
      }
    }
  }
  console.log(`${cases.length} cases, ${different} differences, ${ticks} ticks`);
  process.exitCode = different > 0 || ticks === 0 ? 1 : 0;
}

main();
