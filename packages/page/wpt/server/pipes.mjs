// Changes to a response that a test requests with `?pipe=`.
// https://web-platform-tests.org/writing-tests/server-pipes.html

import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { substitute } from './substitution.mjs';

/** An unknown pipe, or a syntax error. */
export class PipeError extends Error {}

/**
 * `name(argument,argument)|name`. A backslash escapes the next character.
 *
 * @returns {{ name: string, parameters: string[] }[]}
 */
export function parsePipes(text) {
  const pipes = [];
  let at = 0;
  while (at < text.length) {
    const name = /\w*/y;
    name.lastIndex = at;
    const [word] = name.exec(text);
    if (word === '') throw new PipeError(`a pipe's name is expected at ${JSON.stringify(text.slice(at))}`);
    at += word.length;
    const pipe = { name: word, parameters: [] };
    pipes.push(pipe);
    if (text[at] === '(') at = readParameters(text, at + 1, pipe.parameters);
    if (at < text.length && text[at] !== '|') throw new PipeError(`| is expected at ${JSON.stringify(text.slice(at))}`);
    at += 1;
  }
  return pipes;
}

function readParameters(text, start, parameters) {
  let parameter = '';
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === ')') {
      if (parameter !== '' || parameters.length > 0) parameters.push(parameter);
      return at + 1;
    }
    if (character === ',') {
      parameters.push(parameter);
      parameter = '';
    } else {
      parameter += character === '\\' ? (text[++at] ?? '') : character;
    }
  }
  throw new PipeError('a ) is missing');
}

/** `null` is the same as an omitted argument. */
function numberOrNone(text) {
  if (text === undefined || text === '' || text === 'null') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value)) throw new PipeError(`${text} is no whole number`);
  return value;
}

const TRICKLES = {
  delay: /^d(\d*\.?\d+)$/,
  bytes: /^(\d+)$/,
  repeat: /^r(\d+)$/,
};

function readTrickle(item) {
  for (const [kind, pattern] of Object.entries(TRICKLES)) {
    const match = pattern.exec(item);
    if (match !== null) return { kind, value: Number(match[1]) };
  }
  throw new PipeError(`trickle(${item}): a number of bytes, d with seconds, or r with a number is expected`);
}

/**
 * Alternately a number of bytes to send and a time to wait. The last item may say how to repeat them until all is sent.
 */
function trickle(text) {
  const items = text.split(':').map(readTrickle);
  const last = items.at(-1).kind === 'repeat' ? items.pop() : undefined;
  const repeated = last === undefined ? [] : items.slice(-last.value);
  if (last !== undefined && !repeated.some(({ kind, value }) => kind === 'bytes' && value > 0)) {
    throw new PipeError(`trickle(${text}): nothing that is repeated sends a byte`);
  }
  return async function* pieces(body) {
    let at = 0;
    for (let step = 0; step < items.length || (repeated.length > 0 && at < body.length); step++) {
      const { kind, value } = step < items.length ? items[step] : repeated[(step - items.length) % repeated.length];
      if (kind === 'delay') {
        await delay(value * 1_000, undefined, { ref: false });
      } else {
        yield body.subarray(at, at + value);
        at += value;
      }
    }
    if (at < body.length) yield body.subarray(at);
  };
}

const PIPES = {
  header(response, [name, value = '', append = 'False']) {
    const isAppended = /^(true|1)$/i.test(append);
    response.headers = response.headers.filter(([known]) => isAppended || known.toLowerCase() !== name.toLowerCase());
    response.headers.push([name, value]);
  },
  status(response, [code]) {
    response.status = numberOrNone(code) ?? response.status;
  },
  sub(response, [escaping = 'html'], request) {
    if (escaping !== 'html' && escaping !== 'none') throw new PipeError(`sub(${escaping}): html or none is expected`);
    response.body = substitute(response.body, request, escaping);
  },
  slice(response, [start, end]) {
    response.body = response.body.subarray(numberOrNone(start), numberOrNone(end));
  },
  gzip(response) {
    response.headers.push(['Content-Encoding', 'gzip']);
    response.body = gzipSync(response.body);
  },
  trickle(response, [text = '']) {
    response.send = trickle(text);
  },
};

/**
 * @param {{ status: number, headers: [string, string][], body: Buffer, send?: (body: Buffer) => AsyncIterable<Buffer>
 *   }} response
 * @param {string} text the pipes
 * @param {object} request as `substitute` takes it
 * @throws {PipeError}
 */
export function applyPipes(response, text, request) {
  for (const { name, parameters } of parsePipes(text)) {
    if (!Object.hasOwn(PIPES, name))
      throw new PipeError(`the pipe ${name} is not supported; there are ${Object.keys(PIPES).join(', ')}`);
    PIPES[name](response, parameters, request);
  }
}
