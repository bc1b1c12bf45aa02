// The program that `cargo xtask differential` starts: runs the probes in Chromium and in the page host, and prints what
// differs and is not in the tables. The exit code is 1 then.

import { parseArgs } from 'node:util';

import { VARIANTS, serve } from './server.mjs';
import { openChromium, openHost } from './sides.mjs';
import { compare, readTables, update } from './table.mjs';

const { values: options } = parseArgs({
  options: {
    browser: { type: 'string' },
    npm: { type: 'string' },
    jsdom: { type: 'string' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
  },
});

/** What the probes of a variant say on one side, by their names. */
async function ask(side, url) {
  const page = await side.open(url);
  const said = new Map();
  for (const file of await page.call('fileNames')) {
    for (const name of await page.call('namesIn', file)) {
      if (options.only !== undefined && !name.includes(options.only)) continue;
      said.set(name, await page.call('run', name));
    }
  }
  await page.close();
  return said;
}

/** Runs all probes of a variant on both sides. */
async function runVariant(variant, sides, { origin, other }) {
  const url = `${origin}/probes.html?${new URLSearchParams({ variant, other })}`;
  const [chromium, host] = await Promise.all(sides.map((side) => ask(side, url)));
  return [...chromium].map(([probe, text]) => ({ probe, variant, chromium: text, host: host.get(probe) }));
}

function print({ kind, probe, variant, chromium, host, expected }) {
  const titles = { new: 'differs', changed: 'differs in another way than the table says', gone: 'no longer differs' };
  console.log(`${probe} (${variant}): ${titles[kind]}`);
  console.log(`  Chromium: ${chromium}`);
  console.log(`  page:     ${host}`);
  if (kind === 'changed') console.log(`  expected: ${expected.chromium}\n       and: ${expected.host}`);
}

const server = await serve();
const sides = [await openChromium(options.browser), openHost(options.npm, options.jsdom)];
const variants = await Promise.all(Object.keys(VARIANTS).map((variant) => runVariant(variant, sides, server)));
await Promise.all(sides.map((side) => side.close()));
server.close();

const results = variants.flat();
const tables = readTables();
const [{ version }, { version: host }] = sides;
if (options.update) update(tables, results, version);
const problems = options.update ? [] : compare(tables, results, options.only === undefined);
if (options.json) console.log(JSON.stringify({ chromium: version, host, results, problems }, null, 2));
else for (const problem of problems) print(problem);
const differing = results.filter((result) => result.chromium !== result.host).length;
const probes = new Set(results.map(({ probe }) => probe)).size;
console.error(
  `${probes} probes in ${variants.length} variants, Chromium ${version} and ${host}: ` +
    `${results.length - differing} are equal, ${differing} differ, ${problems.length} unexpectedly`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
