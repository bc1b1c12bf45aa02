// Options that do not exist are errors: a misspelt one would otherwise do nothing.

/** What `mode` and `when` may be. */
const CHOICES = { mode: ['sample', 'trace'], when: ['no-api', 'always'] };

/** @type {Record<keyof Required<import('../index.d.ts').Options>, true>} */
const OPTIONS = {
  outDir: true,
  sampleRate: true,
  when: true,
  app: true,
  html: true,
  include: true,
  exclude: true,
  mode: true,
  functions: true,
  minStatements: true,
  sourceMap: true,
};

/** Names that other tools have for these options. */
const ELSEWHERE = new Map([
  ['output', 'outDir'],
  ['rate', 'sampleRate'],
  ['only', 'include'],
  ['ignore', 'exclude'],
]);

/**
 * How many letters are to be inserted, removed, replaced or swapped with their neighbour to make one word of another.
 *
 * @param {string} from
 * @param {string} to
 */
function distance(from, to) {
  /** @type {number[][]} */
  const rows = [];
  for (let i = 0; i <= from.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= to.length; j++) {
      if (i === 0) {
        rows[i][j] = j;
        continue;
      }
      const replaced = rows[i - 1][j - 1] + Number(from[i - 1] !== to[j - 1]);
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwapped) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[from.length][to.length];
}

/**
 * The option that a name most likely stands for. `source-map` and `sourcemap` are `sourceMap`, and `excludes` is
 * `exclude`.
 *
 * @param {string} name
 */
function nearest(name) {
  const plain = name.replaceAll(/[-_]/g, '').toLowerCase().slice(0, 40);
  const known = ELSEWHERE.get(plain);
  if (known !== undefined) return known;
  const near = Object.keys(OPTIONS)
    .map((option) => ({ option, distance: distance(plain, option.toLowerCase()) }))
    .filter(({ option, distance }) => distance <= option.length / 3)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.option;
}

/**
 * @param {import('../index.d.ts').Options} options
 * @throws {TypeError} if there is an option that does not exist, or a value that would have no effect
 */
export function checkOptions(options) {
  const failed = (/** @type {string} */ message) => new TypeError(`@selfprof/instrument: ${message}`);
  if (typeof options !== 'object' || options === null) throw failed('the options must be an object');
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTIONS, name)) continue;
    const option = nearest(name);
    const hint = option === undefined ? `there are ${Object.keys(OPTIONS).join(', ')}` : `did you mean \`${option}\`?`;
    throw failed(`there is no option \`${name}\`; ${hint}`);
  }
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = options[/** @type {'mode' | 'when'} */ (name)];
    if (value === undefined || choices.includes(value)) continue;
    throw failed(
      `\`${name}\` must be ${choices.map((choice) => `'${choice}'`).join(' or ')}, not ${JSON.stringify(value)}`,
    );
  }
  const { sampleRate = 0 } = options;
  if (!(typeof sampleRate === 'number' && sampleRate >= 0 && sampleRate <= 1)) {
    throw failed(`\`sampleRate\` must be a number from 0 to 1, not ${JSON.stringify(sampleRate)}`);
  }
  for (const name of /** @type {const} */ (['include', 'exclude', 'functions'])) {
    if (options[name] !== undefined && !Array.isArray(options[name]))
      throw failed(`\`${name}\` must be an array of patterns`);
  }
}
