// Replaces `{{...}}` in files with `.sub.` in their names.
// https://web-platform-tests.org/writing-tests/server-pipes.html#sub

import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { HOST, HOSTS } from './hosts.mjs';
import { resolveInside } from './paths.mjs';

/** An expression that the server does not understand: an error in the test, or a missing feature here. */
export class SubstitutionError extends Error {}

const DIGESTS = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']);
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' };

/** A variable's name, an identifier, an index, or arguments. */
const TOKEN = /\$\w+:|\$?\w+|\[[^\]]*\]|\([^)]*\)/y;

/** Fields by name; `''` for missing ones. */
class Fields {
  #values;

  /** @param {Map<string, string>} values */
  constructor(values) {
    this.#values = values;
  }

  get(name) {
    return this.#values.get(name) ?? '';
  }
}

const FUNCTIONS = {
  uuid: () => randomUUID(),
  header_or_default: ({ headers }, name, fallback) => headers[name.toLowerCase()] ?? fallback,
  file_hash({ root }, algorithm, path) {
    if (!DIGESTS.has(algorithm))
      throw new SubstitutionError(`file_hash(${algorithm}): the digests are ${[...DIGESTS].join(', ')}`);
    return createHash(algorithm)
      .update(readFileSync(resolveInside(root, `/${path}`)))
      .digest('base64');
  },
};

function wordsFor({ url, headers, ports }) {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  const scheme = url.protocol.slice(0, -1);
  const { hostname, pathname } = url;
  const query = new Map();
  for (const [name, value] of url.searchParams) if (!query.has(name)) query.set(name, value);
  return {
    host: HOST,
    hosts: HOSTS,
    domains: HOSTS[''],
    ports,
    headers: new Fields(new Map(Object.entries(headers))),
    GET: new Fields(query),
    url_base: '/',
    location: {
      server: `${scheme}://${hostname}:${port}`,
      scheme,
      host: `${hostname}:${port}`,
      hostname,
      port,
      path: pathname,
      pathname,
      query: `?${url.search.slice(1)}`,
    },
  };
}

function tokensOf(expression) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(expression); match !== null; match = TOKEN.exec(expression)) tokens.push(match[0]);
  return tokens;
}

function pick(value, key) {
  if (value instanceof Fields) return value.get(key);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return value[key];
}

function evaluate(expression, request, words, variables) {
  const fail = (why) => new SubstitutionError(`{{${expression}}}: ${why}`);
  const tokens = tokensOf(expression);
  const variable = /^\$\w+:$/.test(tokens[0] ?? '') ? tokens.shift().slice(0, -1) : undefined;
  const name = tokens.shift();
  if (name === undefined || !/^\$?\w+$/.test(name)) throw fail('a name is expected');
  let value;
  if (variables.has(name)) value = variables.get(name);
  else if (Object.hasOwn(FUNCTIONS, name)) value = FUNCTIONS[name];
  else if (Object.hasOwn(words, name)) value = words[name];
  else throw fail(`the server knows no ${name}`);
  for (const token of tokens) {
    const inner = token.slice(1, -1);
    if (token.startsWith('[')) value = pick(value, inner);
    else if (token.startsWith('(') && typeof value === 'function')
      value = value(request, ...(inner === '' ? [] : inner.split(/,\s*/)));
    else throw fail(`${token} is out of place`);
    if (value === undefined) throw fail(`there is no ${token}`);
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw fail('it stands for no text');
  if (variable !== undefined) variables.set(variable, value);
  return String(value);
}

/**
 * @param {Buffer} content
 * @param {{ url: URL, headers: Record<string, string>, ports: Record<string, number[]>, root: string }} request
 * @param {'html' | 'none'} escaping
 * @returns {Buffer}
 * @throws {SubstitutionError}
 */
export function substitute(content, request, escaping) {
  const words = wordsFor(request);
  const variables = new Map();
  // Latin-1 preserves bytes that are not UTF-8.
  const text = content.toString('latin1').replace(/\{\{([^}]*)\}\}/g, (_, expression) => {
    const value = evaluate(Buffer.from(expression, 'latin1').toString(), request, words, variables);
    const escaped = escaping === 'html' ? value.replace(/[&<>"']/g, (character) => ESCAPES[character]) : value;
    return Buffer.from(escaped).toString('latin1');
  });
  return Buffer.from(text, 'latin1');
}
