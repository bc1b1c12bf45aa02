// What tests of limits share.

import { once } from 'node:events';

/** Resolves with the reason when a page's thread is ended. */
export async function crashOf(page, script) {
  const crashed = once(page, 'crash');
  page.evaluate(script).catch(() => {});
  return (await crashed)[0];
}

/**
 * Defines `calls`: 50 functions, each of which calls 239 others inside each other, and then keeps the thread busy for a few milliseconds.
 * All have names of 2,000 bytes, with what `suffix` gives for the numbers `row` and `i`.
 */
export const functionsWithLongNames = (suffix) => `
  calls = [];
  for (let row = 0; row < 50; row++) {
    let text = '\\n'.repeat(row) + '{ const row = [];';
    for (let i = 0; i < 240; i++) {
      const name = '\u00e9'.repeat(1_000) + ${suffix};
      const rest = i < 239 ? 'row[' + (i + 1) + ']()' : 'for (const end = performance.now() + 3; performance.now() < end; )';
      text += 'row[' + i + '] = function ' + name + '() { ' + rest + '; };';
    }
    const script = document.createElement('script');
    script.text = text + 'calls.push(row[0]); }';
    document.body.append(script);
    script.remove();
  }
`;

/** Makes modules of WebAssembly in a page. */
export const WASM = `
  const lengthOf = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...lengthOf(n >> 7)]);
  const section = (id, content) => [id, ...lengthOf(content.length), ...content];
  const moduleOf = (...sections) => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, ...sections.flat()]);
  const withBody = (types, type, body) =>
    moduleOf(section(1, types), section(3, [1, type]), section(10, [1, ...lengthOf(body.length), ...body]));
  const repeat = (count, ...part) => Array(count).fill(part).flat();
  const one = (body) => [1, ...lengthOf(body.length), ...body];
  /** Functions of nothing, from 1,000 values to as many, to as many, and from as many. */
  const thousand = [...lengthOf(1_000), ...repeat(1_000, 127)];
  const PAIR = [4, 96, 0, 0, 96, ...thousand, ...thousand, 96, 0, ...thousand, 96, ...thousand, 0];`;
