// The program that `cargo xtask differential` starts: runs the probes in Chromium and in the page host, and prints what
// differs and is not in the tables. The exit code is 1 then.

import { parseArgs } from 'node:util';

import { FILES, VARIANTS, serve } from './server.mjs';
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

/** What the probes of a file say on one side, by their names. */
async function ask(side, url) {
  const page = await side.open(url);
  const names = await page.call('names');
  const said = await page.call(
    'runAll',
    names.filter((name) => name.includes(options.only ?? '')),
  );
  await page.close();
  return new Map(said);
}

/**
 * Runs all probes of a variant on both sides. Each file has a page of its own: while a profiler goes on in a page,
 * Chromium may leave the first sample out of others.
 */
async function runVariant(variant, sides, { origin, other }) {
  const results = [];
  for (const file of FILES) {
    const url = `${origin}/probes.html?${new URLSearchParams({ variant, other, file })}`;
    const [chromium, host] = await Promise.all(sides.map((side) => ask(side, url)));
    for (const [probe, text] of chromium) results.push({ probe, variant, chromium: text, host: host.get(probe) });
  }
  return results;
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
const results = [];
for (const variant of Object.keys(VARIANTS)) results.push(...(await runVariant(variant, sides, server)));
await Promise.all(sides.map((side) => side.close()));
server.close();

const tables = readTables();
const [{ version }, { version: host }] = sides;
if (options.update) update(tables, results, version);
const problems = options.update ? [] : compare(tables, results, options.only === undefined);
if (options.json) console.log(JSON.stringify({ chromium: version, host, results, problems }, null, 2));
else for (const problem of problems) print(problem);
const differing = results.filter((result) => result.chromium !== result.host).length;
const probes = new Set(results.map(({ probe }) => probe)).size;
console.error(
  `${probes} probes in ${Object.keys(VARIANTS).length} variants, Chromium ${version} and ${host}: ` +
    `${results.length - differing} are equal, ${differing} differ, ${problems.length} unexpectedly`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
