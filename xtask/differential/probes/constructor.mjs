// The constructor of `Profiler`, and how it converts its options.

import { probes } from '../page/probe.mjs';
import { outcome, show } from '../page/show.mjs';
import { later } from '../page/surroundings.mjs';
import { start } from '../page/traces.mjs';

const file = 'constructor';

/** Constructs a profiler, stops it, and shows which interval it got. */
function intervalOf(options) {
  const profiler = new Profiler(options);
  const { sampleInterval } = profiler;
  profiler.stop();
  return sampleInterval;
}

const SIZE = { maxBufferSize: 100 };
const INTERVAL = { sampleInterval: 10 };

/** Values of an option, as JavaScript text. */
const VALUES = [
  'undefined', 'null', 'true', 'false', '0', '-0', '1', '-1', '0.5', '10', '100', '-0.5', 'NaN', 'Infinity', '-Infinity',
  '2 ** 31', '2 ** 32', '2 ** 53', '1e300', '10n', "''", "'10'", "'ten'", "' 10 '", "'0x10'", "'1e1'", "'10n'",
  'Symbol()', 'Symbol.iterator', '[]', '[10]', '[1, 2]', '({})', '({ valueOf: () => 10 })', "({ toString: () => '10' })",
  '({ valueOf: () => 10n })', "({ valueOf: () => { throw new EvalError('own'); } })", 'new Date(10)', 'new Number(10)',
  "new String('10')", '() => 10', 'document.all', '({ [Symbol.toPrimitive]: () => 10 })',
  '({ [Symbol.toPrimitive]: 1 })', '({ valueOf: () => ({}), toString: () => ({}) })',
];
const valueOf = (text) => Function(`return (${text});`)();

for (const text of VALUES) {
  probes('the constructor', {
    [`sampleInterval: ${text}`]: () => show(typeof intervalOf({ ...SIZE, sampleInterval: valueOf(text) })),
    [`maxBufferSize: ${text}`]: () => intervalOf({ ...INTERVAL, maxBufferSize: valueOf(text) }) > 0,
    [`called with ${text}`]: () => intervalOf(valueOf(text)) > 0,
  }, { file });
}
