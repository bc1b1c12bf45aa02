// Runs each case plain and instrumented, and prints what differs. Standard input: JSON lines of
// { name, kind: 'script' | 'module', plain, instrumented, withFallback }.
'use strict';

const fs = require('node:fs');
const vm = require('node:vm');

const runtime = (active) =>
  active === 'none'
    ? 'let ticks = 0;'
    : `let ticks = 0; let $e = ${active} ? () => { ticks++ } : undefined, $t = $e, $x = value => { ticks++; return value }, $h = $x, $s = $x, $r = $x;`;

async function run({ kind, name }, text, active) {
  const output = [];
  const print = (...values) => {
    output.push(values.map(String).join(' '));
  };
  const context = vm.createContext({ print, setTimeout, queueMicrotask });
  vm.runInContext(runtime(active), context);
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
    for (const [active, text] of [
      [false, one.instrumented],
      [true, one.instrumented],
      [true, one.withFallback],
      ['none', one.withFallback],
    ]) {
      const instrumented = await run(one, text, active);
      ticks += instrumented.ticks;
      if (!one.plain.includes('expects no output') && !plain.output.includes('\n')) {
        console.log(`${one.name} prints nothing:\n${plain.output}`);
        different++;
      }
      // The fallback is a statement with a completion value, which a script of declarations alone has not.
      const isSame =
        text === one.withFallback
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
