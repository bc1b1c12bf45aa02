// Runs `selfprof instrument` over what a build has written.

import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

import { checkOptions } from './check-options.js';
import { choosingPage } from './choosing-page.js';

const require = createRequire(import.meta.url);

/** The longest answer of the program, in characters: lists of files are bounded there, what pages load is not. */
const MAX_ANSWER = 256 << 20;

/** The command-line program; `undefined` if there is none for this platform. */
function findProgram() {
  try {
    return /** @type {string} */ (require('selfprof/internal/native-package.cjs').program());
  } catch (error) {
    console.warn(`@selfprof/instrument: nothing is instrumented: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/**
 * @param {string} folder
 * @param {string} output
 * @param {import('../index.d.ts').Options} options
 */
function wordsOf(folder, output, { include = [], exclude = [], mode, functions = [], minStatements, sourceMap }) {
  return [
    'instrument',
    // Patterns and paths may begin with a dash.
    ...include.map((pattern) => `--include=${pattern}`),
    ...exclude.map((pattern) => `--exclude=${pattern}`),
    ...(mode === undefined ? [] : [`--mode=${mode}`]),
    ...functions.map((pattern) => `--functions=${pattern}`),
    ...(minStatements === undefined ? [] : [`--min-statements=${minStatements}`]),
    ...(sourceMap ? ['--source-map'] : []),
    '--json',
    `--output=${output}`,
    '--',
    folder,
  ];
}

/**
 * Runs the program. Gives its answer.
 *
 * @param {string} program
 * @param {string[]} words
 */
async function run(program, words) {
  const home = path.dirname(require.resolve('selfprof/package.json'));
  const env = { SELFPROF_NPM: home, ...process.env };
  try {
    const { stdout } = await promisify(execFile)(program, words, { env, maxBuffer: MAX_ANSWER });
    return /** @type {import('./summary.d.ts').Summary} */ (JSON.parse(stdout));
  } catch (error) {
    const { stderr } = /** @type {{ stderr?: string }} */ (error);
    throw new Error(`@selfprof/instrument: ${stderr?.trim() || error}`);
  }
}

/**
 * Compressed copies of a page, which servers may send in its place.
 *
 * @param {string} file
 */
async function compressedCopies(file) {
  const copies = ['.gz', '.br', '.zst'].map((end) => file + end);
  const exist = await Promise.all(
    copies.map((copy) =>
      fs.access(copy).then(
        () => true,
        () => false,
      ),
    ),
  );
  return copies.filter((_, index) => exist[index]);
}

/**
 * Has profiles name the plain scripts, whose lines and columns the table has: those of browsers with the API name them,
 * too.
 *
 * @param {string} folder
 * @param {string} output the instrumented folder in it
 */
async function namePlainScripts(folder, output) {
  const file = path.join(output, 'selfprof-functions.json');
  /** @type {{ files: Record<string, { plain?: string }> }} */
  const table = JSON.parse(await fs.readFile(file, 'utf8'));
  // Paths in the table are parts of URLs.
  const up = path.relative(output, folder).replaceAll(path.sep, '/');
  for (const [name, entry] of Object.entries(table.files)) {
    // The plain page has plain inline scripts, and is profiled under its own URL.
    if (/\.[cm]?js$/.test(name)) entry.plain = `${up}/${name}`;
  }
  await fs.writeFile(file, JSON.stringify(table));
}

/** In `@selfprof/browser`, however it is bundled. */
const AGENT = 'selfprof: leave alone';

/**
 * Whether a script of a folder contains the agent.
 *
 * @param {string} folder
 * @param {string} output the instrumented folder in it
 */
async function hasAgent(folder, output) {
  for (const entry of await fs.readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/\.[cm]?js$/.test(entry.name) || file.startsWith(output + path.sep)) continue;
    if ((await fs.readFile(file)).includes(AGENT)) return true;
  }
  return false;
}

/** @type {typeof import('../index.d.ts').instrumentFolder} */
export async function instrumentFolder(folder, options = {}) {
  checkOptions(options);
  const program = findProgram();
  if (program === undefined) return undefined;
  const { outDir = 'selfprof', html = true } = options;
  const output = path.resolve(folder, outDir);
  const inside = path.relative(folder, output);
  if (inside === '' || inside === '..' || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside)) {
    throw new Error(`@selfprof/instrument: outDir must be inside of ${folder}, but is ${output}`);
  }
  const { scripts, inlineScripts, bytes, gzipBytes, pages, unmatchedFunctions } = await run(
    program,
    wordsOf(folder, output, options),
  );
  for (const pattern of unmatchedFunctions) {
    console.warn(`@selfprof/instrument: no function matches \`${pattern}\` of \`functions\``);
  }
  await namePlainScripts(folder, output);
  const choosingPages = [];
  for (const page of html ? pages : []) {
    const file = path.join(folder, page.path);
    const choosing = choosingPage(await fs.readFile(file), page, options);
    if (choosing === undefined) continue;
    await fs.writeFile(file, choosing);
    for (const copy of await compressedCopies(file)) {
      console.warn(`@selfprof/instrument: ${copy} has the page before it chose; compress after this plugin`);
    }
    choosingPages.push(page.path);
  }
  if (choosingPages.length > 0 && options.app === undefined && (await hasAgent(folder, output))) {
    console.warn(
      '@selfprof/instrument: set `app` to that of @selfprof/browser, so that both choose the same sessions; ' +
        'otherwise each chooses on its own, and the rates multiply',
    );
  }
  const percent = ((100 * bytes.instrumented) / bytes.plain - 100).toFixed(1);
  console.log(
    `@selfprof/instrument: ${scripts} ${scripts === 1 ? 'script' : 'scripts'} in ${inside}${path.sep}, ${percent} % larger`,
  );
  return { folder: output, scripts, inlineScripts, bytes, gzipBytes, choosingPages };
}
