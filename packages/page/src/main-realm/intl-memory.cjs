'use strict';

// The objects of `Intl` hold memory of ICU, up to a thousand times as much as in V8's heap, and V8 counts none of it. So each one that a page
// makes gets a buffer of that size, which V8 counts: the limit for buffers holds (host/memory-watch.cjs), and objects that are not used are
// freed sooner.

const vm = require('node:vm');

/** What objects take at most, in bytes, as measured with Node 24. */
const SIZES = {
  dateTimeFormat: 32 << 10,
  /** With a calendar that follows the moon. */
  lunisolar: 192 << 10,
  /** With numbers that rules spell, such as Hebrew ones. */
  spelled: 384 << 10,
  /** What `formatRange` adds. */
  range: 64 << 10,
  DisplayNames: 48 << 10,
  NumberFormat: 40 << 10,
  other: 8 << 10,
};

/** Numbering systems that ICU spells by rules. */
const SPELLED =
  'armn armnlow cyrl ethi geor grek greklow hanidays hans hansfin hant hantfin hebr jpan jpanfin roman romanlow taml';

/** The characters of a list that is formatted: ICU copies them, and keeps a field for each. */
const MAX_LIST = 1 << 24;

const SOURCE = `'use strict'; {
  const sizes = { __proto__: null, ...${JSON.stringify(SIZES)} };
  const { ArrayBuffer, Date, Function, Intl, Proxy, RangeError, Symbol, WeakMap } = globalThis;
  const { defineProperty: defineOrThrow } = Object;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { get, set } = WeakMap.prototype;
  const spelled = { __proto__: null };
  for (const name of '${SPELLED}'.split(' ')) spelled[name] = true;
  const { resolvedOptions } = Intl.DateTimeFormat.prototype;
  const memory = new WeakMap();

  const count = (object, size) => {
    const held = apply(get, memory, [object]);
    if (held === undefined || held.size < size) apply(set, memory, [object, { size, buffer: new ArrayBuffer(size) }]);
    return object;
  };
  const sizeOfFormat = (format) => {
    const { calendar, numberingSystem } = apply(resolvedOptions, format, []);
    if (calendar === 'hebrew' || spelled[numberingSystem]) return sizes.spelled;
    return calendar === 'chinese' || calendar === 'dangi' ? sizes.lunisolar : sizes.dateTimeFormat;
  };

  const localeText = Intl.Locale.prototype.toString;
  const sizeOfLocale = (locale) => sizes.other + 2 * apply(localeText, locale, []).length;
  const sizesOf = { __proto__: null, DateTimeFormat: sizeOfFormat, Locale: sizeOfLocale };

  /** Replaces a method by one that is called first and counts afterwards. */
  const replaceMethod = (holder, name, after) => {
    const property = getOwnPropertyDescriptor(holder, name);
    const { value: original } = property;
    const { [name]: counted } = {
      [name](...parameters) {
        const result = apply(original, this, parameters);
        after(this, result, parameters.length);
        return result;
      },
    };
    defineProperty(counted, 'length', getOwnPropertyDescriptor(original, 'length'));
    defineProperty(holder, name, { ...property, value: counted });
  };

  // An object that a legacy constructor is called on has the format under a symbol. V8 would give the format to the object alone, which a page can
  // be rid of while it keeps the format, so this is done here. https://tc39.es/ecma402/#sec-chaindatetimeformat
  const { [Symbol.hasInstance]: hasInstance } = Function.prototype;
  const fallbackSymbol = (original) => {
    const object = { __proto__: original.prototype };
    const [symbol] = ownKeys(apply(original, object, []));
    return symbol;
  };
  const legacy = { __proto__: null };
  for (const name of ['DateTimeFormat', 'NumberFormat']) legacy[name] = fallbackSymbol(Intl[name]);
  const chain = (original, symbol, object, format) => {
    if (!apply(hasInstance, original, [object])) return format;
    return defineOrThrow(object, symbol, { __proto__: null, value: format, writable: false, enumerable: false, configurable: false });
  };

  for (const name of ownKeys(Intl)) {
    const property = getOwnPropertyDescriptor(Intl, name);
    const { value: original } = property;
    if (typeof original !== 'function' || original.prototype === undefined) continue;
    const sizeOf = sizesOf[name] ?? (() => sizes[name] ?? sizes.other);
    const { [name]: counted } = {
      [name]: function (...parameters) {
        const isCall = new.target === undefined;
        if (isCall && legacy[name] === undefined) {
          const object = apply(original, this, parameters);
          return count(object, sizeOf(object));
        }
        const format = construct(original, parameters, isCall ? original : new.target);
        count(format, sizeOf(format));
        return isCall ? chain(original, legacy[name], this, format) : format;
      },
    };
    for (const key of ownKeys(original)) defineProperty(counted, key, getOwnPropertyDescriptor(original, key));
    const inPrototype = getOwnPropertyDescriptor(original.prototype, 'constructor');
    defineProperty(original.prototype, 'constructor', { ...inPrototype, value: counted });
    defineProperty(Intl, name, { ...property, value: counted });
  }

  const countRange = (format) => count(format, sizeOfFormat(format) + sizes.range);
  replaceMethod(Intl.DateTimeFormat.prototype, 'formatRange', countRange);
  replaceMethod(Intl.DateTimeFormat.prototype, 'formatRangeToParts', countRange);
  const countResult = (_self, result) => count(result, sizeOfLocale(result));
  replaceMethod(Intl.Locale.prototype, 'maximize', countResult);
  replaceMethod(Intl.Locale.prototype, 'minimize', countResult);
  // With parameters, each call makes a format of its own, which is garbage then. So is the buffer.
  const countGarbage = (_self, _result, count) => {
    if (count > 0) new ArrayBuffer(sizes.spelled);
  };
  const countMethods = ({ prototype }) => {
    for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'])
      if (getOwnPropertyDescriptor(prototype, name) !== undefined) replaceMethod(prototype, name, countGarbage);
  };
  countMethods(Date);
  if (globalThis.Temporal !== undefined) {
    for (const name of ownKeys(Temporal)) if (typeof Temporal[name] === 'function') countMethods(Temporal[name]);
  }
  // Such a list must not be read twice, which a page would see.
  const iterableOf = (texts, length) => ({
    __proto__: null,
    [Symbol.iterator]() {
      let at = 0;
      return {
        __proto__: null,
        next: () => ({ __proto__: null, done: at === length, value: at < length ? texts[at++] : undefined }),
      };
    },
  });
  for (const name of ['format', 'formatToParts']) {
    const property = getOwnPropertyDescriptor(Intl.ListFormat.prototype, name);
    const { value: original } = property;
    const { [name]: limited } = {
      [name](list) {
        // First of all, it throws if it is called on something else.
        const empty = apply(original, this, []);
        if (list === undefined) return empty;
        const texts = { __proto__: null };
        let count = 0;
        let length = 0;
        for (const text of list) {
          if (typeof text !== 'string') apply(original, this, [iterableOf({ 0: text }, 1)]);
          length += text.length + 1;
          if (length > ${MAX_LIST}) throw new RangeError('Invalid string length');
          texts[count++] = text;
        }
        return apply(original, this, [iterableOf(texts, count)]);
      },
    };
    defineProperty(Intl.ListFormat.prototype, name, { ...property, value: limited });
  }
  // Segments and their iterators each have a copy of the text, of two bytes a character.
  const sizeOfSegments = (segments) => {
    const first = apply(containing, segments, [0]);
    return sizes.other + 2 * (first === undefined ? 0 : first.input.length);
  };
  let countsIterators = false;
  let containing;
  replaceMethod(Intl.Segmenter.prototype, 'segment', (_self, segments) => {
    containing ??= getPrototypeOf(segments).containing;
    count(segments, sizeOfSegments(segments));
    if (countsIterators) return;
    countsIterators = true;
    // Found now, because making a segmenter takes long.
    const prototype = getPrototypeOf(segments);
    const property = getOwnPropertyDescriptor(prototype, Symbol.iterator);
    const handler = {
      __proto__: null,
      apply: (original, self, parameters) => count(apply(original, self, parameters), sizeOfSegments(self)),
    };
    // A proxy of a built-in function has the text of one.
    defineProperty(prototype, Symbol.iterator, { __proto__: null, ...property, value: new Proxy(property.value, handler) });
  });
}`;

/** @type {vm.Script | undefined} */
let script;

/** Counts the memory of the objects of `Intl` in a realm. @param {object} context in which no page has run */
function countIntlMemory(context) {
  script ??= new vm.Script(SOURCE, { filename: __filename });
  script.runInContext(context);
}

module.exports = { countIntlMemory };
