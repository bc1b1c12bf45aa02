// The memory that ICU and V8 take for the texts of a page, which V8 does not count.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { host, openHtml, watchMemory } from './server.mjs';
import { crashOf } from './page-limits.mjs';

suite('memory', () => {
  for (const [what, make] of Object.entries({
    formats: "new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'full', timeZone: 'UTC' })",
    'formats of ranges': `(() => {
      const format = new Intl.DateTimeFormat('en-u-ca-chinese', { dateStyle: 'full' });
      format.formatRange(0, 1e12);
      return format;
    })()`,
    'formats with Hebrew numbers': `(() => {
      const format = new Intl.DateTimeFormat('he-u-ca-hebrew-nu-hebr', { dateStyle: 'full', timeStyle: 'full' });
      format.format(0);
      return format;
    })()`,
    'names of fields': "new Intl.DisplayNames('de', { type: 'dateTimeField' })",
    iterators: 'segments[Symbol.iterator]()',
  }))
    test(`of Intl is limited as that of buffers: ${what}`, async (t) => {
      const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
      const grown = watchMemory(t);
      const error = await crashOf(
        page,
        `const segments = new Intl.Segmenter('en', { granularity: 'word' }).segment('x');
         const keep = []; const end = Date.now() + 10_000; while (Date.now() < end) keep.push(${make});`,
      );
      assert.match(error.message, /buffers exceed its memory limit of 64 MB/);
      assert.ok(grown() < 300 << 20, `${grown() >> 20} MB`);
    });

  test('of formats that legacy constructors of Intl make is counted as long as the format lives', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
    const seen = await page.evaluate(() => {
      const { DateTimeFormat, NumberFormat } = Intl;
      const errorOf = (run) => {
        try {
          return typeof run();
        } catch ({ name }) {
          return name;
        }
      };
      const object = Object.create(DateTimeFormat.prototype);
      const returned = DateTimeFormat.call(object, 'en', { timeZone: 'UTC' });
      const [symbol] = Object.getOwnPropertySymbols(object);
      const { value, ...property } = Object.getOwnPropertyDescriptor(object, symbol);
      return [
        returned === object && object.format(0) === value.format(0) && value instanceof DateTimeFormat,
        symbol.description,
        property,
        NumberFormat.call(Object.create(NumberFormat.prototype), 'en').format(1234),
        errorOf(() => DateTimeFormat.call(object)),
        errorOf(() => DateTimeFormat.call(Object.freeze(Object.create(DateTimeFormat.prototype)))),
        errorOf(() => DateTimeFormat.call({}, 'en').format(0)),
        errorOf(() => DateTimeFormat('x-')),
      ];
    });
    const attributes = { writable: false, enumerable: false, configurable: false };
    assert.deepEqual(seen, [
      true,
      'IntlLegacyConstructedSymbol',
      attributes,
      '1,234',
      'TypeError',
      'TypeError',
      'string',
      'RangeError',
    ]);
    const error = await crashOf(
      page,
      `const keep = [];
       for (const end = Date.now() + 20_000; Date.now() < end;) {
         const object = Intl.DateTimeFormat.call(Object.create(Intl.DateTimeFormat.prototype), 'en');
         keep.push(object[Object.getOwnPropertySymbols(object)[0]]);
       }`,
    );
    assert.match(error.message, /buffers exceed its memory limit of 64 MB/);
  });

  test('of the formats that methods of Date and Temporal make is limited', { timeout: 150_000 }, async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 128, timeout: 120_000 }) });
    const grown = watchMemory(t);
    const texts = await page.evaluate(() => {
      const date = globalThis.Temporal?.PlainDate.from('2020-01-01') ?? new Date(0);
      for (let at = 0; at < 20_000; at++) {
        const { length } = (at % 2 ? date : new Date(0)).toLocaleString(`en-u-ca-chinese-x-a${at}`, {
          dateStyle: 'full',
        });
        if (length === 0) break;
      }
      const methods = [date.toLocaleString, new Date(0).toLocaleDateString];
      return methods.map((method) => [String(method), method.length, Reflect.ownKeys(method).sort().join()]);
    });
    assert.ok(grown() < 400 << 20, `${grown() >> 20} MB`);
    assert.deepEqual(texts, [
      ['function toLocaleString() { [native code] }', 0, 'length,name'],
      ['function toLocaleDateString() { [native code] }', 0, 'length,name'],
    ]);
  });

  test('of lists that are formatted is limited', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 64 }) });
    const grown = watchMemory(t);
    const outcomes = await page.evaluate(() =>
      ['format', 'formatToParts'].map((name) => {
        try {
          return new Intl.ListFormat('en')[name](Array(200).fill('x'.repeat(2 ** 19))).length;
        } catch (error) {
          return error.name;
        }
      }),
    );
    assert.deepEqual(outcomes, ['RangeError', 'RangeError']);
    assert.ok(grown() < 300 << 20, `${grown() >> 20} MB`);
  });

  test('of texts that are encoded or normalized is limited, and ends no process', async (t) => {
    const page = await openHtml(t, '', { host: host(t, { memoryLimit: 2_048 }) });
    const grown = watchMemory(t);
    const outcomes = await page.evaluate(() =>
      [
        () => encodeURIComponent('\u20ac'.repeat(2.6e8)),
        () => encodeURI('\u20ac'.repeat(2.6e8)),
        () => '\ufdfa'.repeat(5.9e7).normalize('NFKD'),
        // The result would just be too long.
        () => btoa('x'.repeat(4.1e8)),
        // Not on Node 22.
        () => (RegExp.escape ?? encodeURI)('\u2028'.repeat(2.6e8)),
      ].map((run) => {
        try {
          return run().length;
        } catch (error) {
          return error.name;
        }
      }),
    );
    assert.deepEqual(outcomes, ['RangeError', 'RangeError', 'RangeError', 'InvalidCharacterError', 'RangeError']);
    // The text itself has 520 MB, and its result up to 536 MB; some are garbage until V8 collects them.
    assert.ok(grown() < 3_000 * 2 ** 20, `${grown() >> 20} MB`);
  });

  test('of texts that are encoded or normalized is limited without a change that a page sees', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(() => {
      const outcomeOf = (run) => {
        try {
          return run();
        } catch (error) {
          return `${error.constructor === globalThis[error.name]} ${error}`;
        }
      };
      const { normalize } = String.prototype;
      // A character of two halves, at every place around the end of a part.
      const long = [0, 1, 2].map((shift) => {
        const text = 'a'.repeat(2 ** 20 - shift) + '\u{1f600}b'.repeat(2 ** 19);
        return decodeURIComponent(encodeURIComponent(text)) === text && encodeURI(text).length;
      });
      return [
        ...long,
        encodeURI('a b&\u20ac'),
        encodeURIComponent({ toString: () => 'a b&\u20ac' }),
        encodeURIComponent(),
        outcomeOf(() => encodeURIComponent('\ud800')),
        outcomeOf(() => encodeURI(`${'a'.repeat(2 ** 20 - 1)}\ud800b`)),
        outcomeOf(() => encodeURI(Symbol('a'))),
        outcomeOf(() => new encodeURI('a')),
        'e\u0301'.normalize().length,
        '\ufdfa'.normalize('NFKD').length,
        normalize.call(12),
        outcomeOf(() => normalize.call(null)),
        outcomeOf(() => 'a'.normalize('x')),
        RegExp.escape?.('a.b') ?? '\\x61\\.b',
        String(RegExp.escape ?? 'function escape() { [native code] }'),
        ...[encodeURI, encodeURIComponent, normalize].map((each) => `${each} ${each.name} ${each.length}`),
        [encodeURI, encodeURIComponent, normalize].some((each) => 'prototype' in each),
        JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'encodeURI')),
      ];
    });
    assert.deepEqual(seen, [
      ...[0, 1, 2].map((shift) => 2 ** 20 - shift + 13 * 2 ** 19),
      'a%20b&%E2%82%AC',
      'a%20b%26%E2%82%AC',
      'undefined',
      'true URIError: URI malformed',
      'true URIError: URI malformed',
      'true TypeError: Cannot convert a Symbol value to a string',
      'true TypeError: encodeURI is not a constructor',
      1,
      18,
      '12',
      'true TypeError: String.prototype.normalize called on null or undefined',
      'true RangeError: The normalization form should be one of NFC, NFD, NFKC, NFKD.',
      '\\x61\\.b',
      'function escape() { [native code] }',
      'function encodeURI() { [native code] } encodeURI 1',
      'function encodeURIComponent() { [native code] } encodeURIComponent 1',
      'function normalize() { [native code] } normalize 0',
      false,
      '{"writable":true,"enumerable":false,"configurable":true}',
    ]);
  });

  test('of Intl is counted without a change that a page sees', async (t) => {
    const page = await openHtml(t, '');
    const seen = await page.evaluate(() => {
      class Own extends Intl.DateTimeFormat {}
      const own = new Own('en', { timeZone: 'UTC' });
      const { length, name, prototype } = Intl.DateTimeFormat;
      return [
        own instanceof Own && own.format(0),
        Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(0),
        prototype.constructor === Intl.DateTimeFormat,
        `${Intl.DateTimeFormat} ${prototype.formatRange.length} ${length} ${name}`,
        Intl.NumberFormat.supportedLocalesOf('en').join(),
        Array.from(new Intl.Segmenter('en').segment('abc'), ({ segment }) => segment).join(),
      ];
    });
    const lists = await page.evaluate(() => {
      const read = [];
      const list = {
        *[Symbol.iterator]() {
          try {
            for (const text of ['a', 'b', 7, 'c']) {
              read.push(text);
              yield text;
            }
          } finally {
            read.push('closed');
          }
        },
      };
      const { format, formatToParts } = Intl.ListFormat.prototype;
      const own = new Intl.ListFormat('en');
      const errorOf = (run) => {
        try {
          return run();
        } catch (error) {
          return `${error.name}: ${error.message}`;
        }
      };
      Array.prototype[Symbol.iterator] = ((original) =>
        function* () {
          read.push('array');
          yield* { [Symbol.iterator]: () => original.call(this) };
        })(Array.prototype[Symbol.iterator]);
      const texts = [own.format(['a', 'b', 'c']), own.format(new Set(['a'])), own.format(), own.format('xy')];
      const errors = [
        errorOf(() => own.format(list)),
        errorOf(() => format.call({}, list)),
        errorOf(() => own.format(5)),
      ];
      return JSON.stringify([
        texts,
        errors,
        read,
        own.formatToParts(['a']),
        String(format),
        format.length,
        formatToParts.name,
      ]);
    });
    assert.deepEqual(JSON.parse(lists), [
      ['a, b, and c', 'a', '', 'x and y'],
      [
        'TypeError: Iterable yielded 7 which is not a string',
        'TypeError: Method Intl.ListFormat.prototype.format called on incompatible receiver #<Object>',
        'TypeError: list is not iterable',
      ],
      // Of the first list, of what the set is made of, and within the generator.
      ['array', 'array', 'array', 'a', 'b', 7, 'closed', 'array'],
      [{ type: 'element', value: 'a' }],
      'function format() { [native code] }',
      1,
      'formatToParts',
    ]);
    const text = 'function DateTimeFormat() { [native code] } 2 0 DateTimeFormat';
    assert.deepEqual(seen, ['1/1/1970', '1/1/1970', true, text, 'en', 'a,b,c']);
  });
});
