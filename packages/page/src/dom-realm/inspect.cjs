'use strict';

// Shows values of pages as text, for the console. No code of the page runs: no getter, no trap, no `toString`.

const bridge = require('selfprof:main-realm');

const DEPTH = 3;
const ENTRIES = 100;
const TEXT = 10_000;

const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const uncurryThis = (/** @type {Function} */ method) => (/** @type {unknown} */ self) =>
  Reflect.apply(method, self, []);
const toISOString = uncurryThis(Date.prototype.toISOString);
const regExpToString = uncurryThis(RegExp.prototype.toString);
const mapEntries = uncurryThis(Map.prototype.entries);
const setValues = uncurryThis(Set.prototype.values);

/**
 * The value of an own or inherited data property.
 *
 * @param {object} object
 * @param {PropertyKey} key
 * @returns {unknown}
 */
function peek(object, key) {
  /** @type {object | null} */
  let holder = object;
  for (let steps = 0; holder !== null && steps < 16; steps++) {
    if (bridge.kindOf(holder) === 'Proxy') return undefined;
    const property = getOwnPropertyDescriptor(holder, key);
    if (property !== undefined) return property.value;
    holder = getPrototypeOf(holder);
  }
  return undefined;
}

/** @param {object} object */
function nameOf(object) {
  const constructor = peek(object, 'constructor');
  const name =
    typeof constructor === 'function' && bridge.kindOf(constructor) !== 'Proxy' ? peek(constructor, 'name') : undefined;
  return typeof name === 'string' && name !== '' ? name : 'Object';
}

/** @param {string} text */
function quote(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

/** @param {string | symbol} name */
function key(name) {
  if (typeof name === 'symbol') return `[${String(name)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

/** @param {any} error of the page */
function showError(error) {
  // V8's own accessor, or a property that jsdom or the page has made of it.
  let stack;
  try {
    stack = error.stack;
  } catch {
    stack = undefined;
  }
  if (typeof stack === 'string' && stack !== '') return stack;
  return `${peek(error, 'name') ?? 'Error'}: ${peek(error, 'message') ?? ''}`;
}

/**
 * @param {string} open
 * @param {string} close
 * @param {string[]} items
 * @param {number} rest how many more there are
 */
function list(open, close, items, rest) {
  if (rest > 0) items.push(`... ${rest} more`);
  return items.length === 0 ? open + close : `${open} ${items.join(', ')} ${close}`;
}

/**
 * @param {unknown} value
 * @param {number} depth how many more levels are shown
 * @param {object[]} path the objects around it
 * @returns {string}
 */
function show(value, depth, path) {
  switch (typeof value) {
    case 'string':
      return quote(value.length > TEXT ? `${value.slice(0, TEXT)}...` : value);
    case 'bigint':
      return `${value}n`;
    case 'symbol':
      return String(value);
    case 'function': {
      const name = bridge.kindOf(value) === 'Proxy' ? undefined : peek(value, 'name');
      return typeof name === 'string' && name !== '' ? `[Function: ${name}]` : '[Function (anonymous)]';
    }
    case 'object':
      return value === null ? 'null' : showObject(value, depth, path);
    default:
      return Object.is(value, -0) ? '-0' : String(value);
  }
}

/**
 * @param {object} object
 * @param {number} depth
 * @param {object[]} path
 */
function showObject(object, depth, path) {
  const kind = bridge.kindOf(object);
  if (kind === 'Proxy') return '[Proxy]';
  if (path.includes(object)) return '[Circular]';
  if (kind === 'Error') return showError(object);
  if (kind === 'Date') {
    try {
      return toISOString(object);
    } catch {
      return 'Invalid Date';
    }
  }
  if (kind === 'RegExp') return regExpToString(object);
  const name = nameOf(object);
  if (kind === 'Promise' || kind === 'WeakMap' || kind === 'WeakSet' || kind === 'ArrayBuffer') return `${name} {}`;
  if (depth < 0) return Array.isArray(object) ? '[Array]' : `[${name}]`;
  const inner = [...path, object];
  const item = (/** @type {unknown} */ value) => show(value, depth - 1, inner);
  if (kind === 'Map' || kind === 'Set') {
    const items = [];
    let rest = 0;
    for (const entry of kind === 'Map' ? mapEntries(object) : setValues(object)) {
      if (items.length === ENTRIES) rest++;
      else items.push(kind === 'Map' ? `${item(entry[0])} => ${item(entry[1])}` : item(entry));
    }
    return `${name} ${list('{', '}', items, rest)}`;
  }
  const isList = Array.isArray(object) || kind === 'ArrayBufferView';
  const shown = [];
  let rest = 0;
  for (const own of ownKeys(object)) {
    const property = getOwnPropertyDescriptor(object, own);
    if (property === undefined || !property.enumerable) continue;
    if (shown.length === ENTRIES) {
      rest++;
      continue;
    }
    const text =
      'value' in property ? item(property.value) : property.set === undefined ? '[Getter]' : '[Getter/Setter]';
    shown.push(isList && /^\d+$/.test(String(own)) ? text : `${key(own)}: ${text}`);
  }
  if (Array.isArray(object)) return list('[', ']', shown, rest);
  const prefix = name === 'Object' ? '' : `${name} `;
  return prefix + (isList ? list('[', ']', shown, rest) : list('{', '}', shown, rest));
}

/** A value as a console shows it in an argument list. @param {unknown} value */
function inspect(value) {
  try {
    return show(value, DEPTH, []);
  } catch {
    return `[${typeof value}]`;
  }
}

/** Arguments as a console prints them. https://console.spec.whatwg.org/#formatter @param {unknown[]} values */
function format(values) {
  const rest = [...values];
  const parts = [];
  if (typeof rest[0] === 'string') {
    const template = rest.shift();
    parts.push(
      `${template}`.replace(/%[sdifoOcj%]/g, (directive) => {
        if (directive === '%%') return '%';
        if (rest.length === 0) return directive;
        const value = rest.shift();
        switch (directive) {
          case '%c':
            return '';
          case '%s':
            return typeof value === 'string' ? value : inspect(value);
          case '%d':
          case '%i':
            return typeof value === 'object' || typeof value === 'symbol' ? 'NaN' : String(parseInt(String(value), 10));
          case '%f':
            return typeof value === 'object' || typeof value === 'symbol' ? 'NaN' : String(parseFloat(String(value)));
          default:
            return inspect(value);
        }
      }),
    );
  }
  for (const value of rest) parts.push(typeof value === 'string' ? value : inspect(value));
  return parts.join(' ');
}

module.exports = { format, inspect };
