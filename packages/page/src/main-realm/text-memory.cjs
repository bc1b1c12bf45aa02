'use strict';

// Some functions of texts hold their result outside of V8's heap first, where V8 counts nothing. For long texts that is many gigabytes, and V8
// ends the process if the result of `encodeURIComponent` has more than 2^31 characters.

const vm = require('node:vm');

/** How many characters are encoded at once. Up to nine bytes become of each. */
const PART = 1 << 20;

/** The characters of a text that is normalized, or escaped for a regular expression. ICU takes up to 65 bytes for each. */
const MAX_LENGTH = 1 << 24;

const SOURCE = `'use strict'; (() => {
  const { RangeError, RegExp, String } = globalThis;
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { charCodeAt, normalize, slice } = String.prototype;
  const replace = (holder, name, value) => {
    defineProperty(holder, name, { ...getOwnPropertyDescriptor(holder, name), value });
  };

  for (const name of ['encodeURI', 'encodeURIComponent']) {
    const { [name]: encode } = globalThis;
    const { [name]: encodeInParts } = {
      [name](value) {
        const text = typeof value === 'string' ? value : \`\${value}\`;
        if (text.length <= ${PART}) return encode(text);
        let encoded = '';
        for (let start = 0; start < text.length; ) {
          let end = start + ${PART};
          // The two halves of a character stay together.
          const last = apply(charCodeAt, text, [end - 1]);
          if (last >= 0xd800 && last < 0xdc00) end -= 1;
          // V8 throws a RangeError when this is longer than texts may be.
          encoded += encode(apply(slice, text, [start, end]));
          start = end;
        }
        return encoded;
      },
    };
    replace(globalThis, name, encodeInParts);
  }

  const { normalize: normalizeLimited } = {
    normalize(form = undefined) {
      const text = this === null || this === undefined || typeof this === 'string' ? this : \`\${this}\`;
      if (typeof text === 'string' && text.length > ${MAX_LENGTH}) throw new RangeError('Invalid string length');
      return apply(normalize, text, [form]);
    },
  };
  replace(String.prototype, 'normalize', normalizeLimited);

  const { escape } = RegExp;
  if (escape === undefined) return;
  const { escape: escapeLimited } = {
    escape(text) {
      if (typeof text === 'string' && text.length > ${MAX_LENGTH}) throw new RangeError('Invalid string length');
      return apply(escape, RegExp, [text]);
    },
  };
  replace(RegExp, 'escape', escapeLimited);
})()`;

/** @type {vm.Script | undefined} */
let script;

/** Limits the memory that functions of texts take in a realm. @param {object} context in which no page has run */
function limitTextMemory(context) {
  script ??= new vm.Script(SOURCE, { filename: __filename });
  script.runInContext(context);
}

module.exports = { limitTextMemory };
