'use strict';

// The settings of the agent: environment variables, then what the program says, then a configuration file, then
// defaults. Whoever deploys a program may know more than its author.

const fs = require('node:fs');
const path = require('node:path');

/** @typedef {import('../../agent.js').AgentOptions} AgentOptions */

/**
 * @typedef {object} AgentSettings
 * @property {string} out a URL, or the absolute path of a folder
 * @property {AgentOptions['format']} format
 * @property {string} app
 * @property {string | undefined} release
 * @property {string | undefined} environment
 * @property {string | undefined} key
 * @property {Record<string, string> | undefined} headers
 * @property {Record<string, string>} resource more attributes of the resource in OTLP
 * @property {number} period in seconds
 * @property {number} interval in milliseconds
 * @property {string | undefined} spool the absolute path of a folder
 * @property {boolean | undefined} labels
 * @property {boolean} children
 */

/** Where profiles go if nothing says where. */
const DEFAULT_FOLDER = 'selfprof-profiles';
const FORMATS = ['collector', 'folder', 'pyroscope', 'otlp'];

/** @typedef {{ [name in keyof AgentOptions]: { variable: string, check: (value: unknown, name: string) => any } }} Checks */

/** @type {Required<Checks>} */
const OPTIONS = {
  out: { variable: 'SELFPROF_AGENT_OUT', check: text },
  format: { variable: 'SELFPROF_AGENT_FORMAT', check: oneOf(FORMATS) },
  app: { variable: 'SELFPROF_AGENT_APP', check: text },
  release: { variable: 'SELFPROF_AGENT_RELEASE', check: text },
  environment: { variable: 'SELFPROF_AGENT_ENVIRONMENT', check: text },
  key: { variable: 'SELFPROF_AGENT_KEY', check: text },
  headers: { variable: 'SELFPROF_AGENT_HEADERS', check: headers },
  period: { variable: 'SELFPROF_AGENT_PERIOD', check: between(1, 86_400) },
  interval: { variable: 'SELFPROF_AGENT_INTERVAL', check: between(1, 1000) },
  spool: { variable: 'SELFPROF_AGENT_SPOOL', check: text },
  labels: { variable: 'SELFPROF_AGENT_LABELS', check: flag },
  children: { variable: 'SELFPROF_AGENT_CHILDREN', check: flag },
};

/** @param {string} message @param {string} hint */
function wrong(message, hint) {
  return new TypeError(`selfprof agent: ${message}\n\nhint: ${hint}`);
}

/** @param {unknown} value @param {string} name */
function text(value, name) {
  if (typeof value === 'string') return value;
  throw wrong(`${name} is not a string`, `set it to a text, such as ${name}=shop`);
}

/** @param {readonly string[]} values */
function oneOf(values) {
  return (/** @type {unknown} */ value, /** @type {string} */ name) => {
    if (typeof value === 'string' && values.includes(value)) return value;
    throw wrong(`${name} is ${JSON.stringify(value)}`, `use one of ${values.join(', ')}`);
  };
}

/** @param {number} least @param {number} most */
function between(least, most) {
  return (/** @type {unknown} */ value, /** @type {string} */ name) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && number >= least && number <= most) return number;
    throw wrong(`${name} is ${JSON.stringify(value)}`, `use a number from ${least} to ${most}`);
  };
}

/** @param {unknown} value @param {string} name */
function flag(value, name) {
  if (typeof value === 'boolean') return value;
  if (value === '1' || value === 'true') return true;
  if (value === '0' || value === 'false') return false;
  throw wrong(`${name} is ${JSON.stringify(value)}`, 'use true or false');
}

/**
 * Text as in the variables of OpenTelemetry: `name=value,name=value`, with values as in URLs. What is not of this form
 * is left out.
 *
 * @param {string} text
 * @returns {Record<string, string>}
 */
function pairs(text) {
  const list = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) return [];
    try {
      return [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(list);
}

/** An object, or text of pairs. @param {unknown} value @param {string} name */
function headers(value, name) {
  const example = `for example ${name}=authorization=Bearer%20abc`;
  if (typeof value === 'string') {
    const found = pairs(value);
    if (Object.keys(found).length > 0) return found;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject && Object.values(value).every((header) => typeof header === 'string')) return { ...value };
  throw wrong(`${name} is not an object of strings`, example);
}

/**
 * Checks options. Returns those that have a value.
 *
 * @param {unknown} options
 * @param {string} where what to call it in errors
 * @returns {Partial<AgentOptions>}
 */
function checked(options, where) {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw wrong(`${where} is not an object`, 'it has members such as `out` and `app`');
  }
  const known = Object.keys(OPTIONS);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw wrong(`${where} has the unknown member ${JSON.stringify(unknown)}`, `it may have ${known.join(', ')}`);
  }
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, OPTIONS[/** @type {keyof AgentOptions} */ (name)].check(value, name)]),
  );
}

/** @param {NodeJS.ProcessEnv} env */
function ofEnvironment(env) {
  /** @type {Record<string, unknown>} */
  const options = {};
  for (const [name, { variable, check }] of Object.entries(OPTIONS)) {
    const value = env[variable];
    if (value !== undefined && value !== '') options[name] = check(value, variable);
  }
  return /** @type {Partial<AgentOptions>} */ (options);
}

/** @param {NodeJS.ProcessEnv} env */
function ofFile(env) {
  const file = env.SELFPROF_AGENT_CONFIG;
  if (file === undefined || file === '') return {};
  let options;
  try {
    options = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw wrong(
      `cannot read SELFPROF_AGENT_CONFIG: ${reason}`,
      'it names a JSON file with members such as `out` and `app`',
    );
  }
  return checked(options, file);
}

/**
 * The nearest package.json above the program. One that comes from a package, such as `next start`, runs the application
 * in the working directory.
 *
 * @param {string | undefined} program
 */
function packageOf(program) {
  const file = program === undefined || /[/\\]node_modules[/\\]/.test(program) ? 'x' : program;
  for (let folder = path.dirname(path.resolve(file)); ; folder = path.dirname(folder)) {
    try {
      return JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    } catch {
      if (folder === path.dirname(folder)) return {};
    }
  }
}

/** A name as the collector takes it. @param {unknown} name */
function appName(name) {
  const plain =
    typeof name === 'string'
      ? name
          .replace(/^@/, '')
          .replace(/[^A-Za-z0-9_-]+/g, '-')
          .slice(0, 64)
      : '';
  return plain === '' ? 'node' : plain;
}

/** @param {string} out */
function isUrl(out) {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(out);
}

/**
 * The settings.
 *
 * @param {unknown} [options] what the program says
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {AgentSettings}
 * @throws {TypeError} if one of them is wrong
 */
function readSettings(options = {}, env = process.env) {
  const given = { ...ofFile(env), ...checked(options, 'the argument of startAgent()'), ...ofEnvironment(env) };
  const { name, version } = packageOf(process.argv[1]);
  const resource = pairs(env.OTEL_RESOURCE_ATTRIBUTES ?? '');
  const { 'service.name': service, 'service.version': serviceVersion } = resource;
  const deployed = resource['deployment.environment.name'] ?? resource['deployment.environment'];
  const out = given.out ?? DEFAULT_FOLDER;
  if (isUrl(out) && !/^https?:\/\//i.test(out)) {
    throw wrong(`profiles cannot be sent to ${out}`, 'use a URL with http: or https:, or the path of a folder');
  }
  if (isUrl(out) && !URL.canParse(out)) {
    throw wrong(`${out} is not a URL`, 'use for example http://127.0.0.1:4319');
  }
  return {
    out: isUrl(out) ? out : path.resolve(out),
    format: given.format,
    app: given.app ?? appName(env.OTEL_SERVICE_NAME ?? service ?? name),
    release: given.release ?? serviceVersion ?? (typeof version === 'string' ? version : undefined),
    environment: given.environment ?? deployed ?? env.NODE_ENV,
    key: given.key,
    headers: given.headers,
    resource,
    period: given.period ?? 60,
    interval: given.interval ?? 10,
    spool: given.spool && path.resolve(given.spool),
    labels: given.labels,
    children: given.children ?? true,
  };
}

module.exports = { readSettings };
