'use strict';

// Shows values of pages as text, for the console. Nothing of a page runs on the way: no getter, no trap, no `toString`.

const gate = require('selfprof:gate');

const DEPTH = 3;
const ENTRIES = 100;
const TEXT = 10_000;

const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const uncurryThis = (method) => (self, ...parameters) => Reflect.apply(method, self, parameters);
const toISOString = uncurryThis(Date.prototype.toISOString);
const regExpToString = uncurryThis(RegExp.prototype.toString);
const mapEntries = uncurryThis(Map.prototype.entries);
const setValues = uncurryThis(Set.prototype.values);

/** An own or inherited data property. */
function peek(object, key) {
  for (let holder = object, steps = 0; holder !== null && steps < 16; steps++) {
    if (gate.kindOf(holder) === 'Proxy') return undefined;
    const property = getOwnPropertyDescriptor(holder, key);
    if (property !== undefined) return property.value;
    holder = getPrototypeOf(holder);
  }
  return undefined;
}

function nameOf(object) {
  const constructor = peek(object, 'constructor');
  const name = typeof constructor === 'function' && gate.kindOf(constructor) !== 'Proxy' ? peek(constructor, 'name') : undefined;
  return typeof name === 'string' && name !== '' ? name : 'Object';
}

function quote(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

function key(name) {
  if (typeof name === 'symbol') return `[${String(name)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

function showError(error) {
  // V8 keeps the stack in an accessor of its own; jsdom and the page may have made it a property.
  let stack;
  try {
    stack = error.stack;
  } catch {
    stack = undefined;
  }
  if (typeof stack === 'string' && stack !== '') return stack;
  return `${peek(error, 'name') ?? 'Error'}: ${peek(error, 'message') ?? ''}`;
}

function list(open, close, items, rest) {
  if (rest > 0) items.push(`... ${rest} more`);
  return items.length === 0 ? open + close : `${open} ${items.join(', ')} ${close}`;
}

function show(value, depth, path) {
  switch (typeof value) {
    case 'string':
      return quote(value.length > TEXT ? `${value.slice(0, TEXT)}...` : value);
    case 'bigint':
      return `${value}n`;
    case 'symbol':
      return String(value);
    case 'function': {
      const name = gate.kindOf(value) === 'Proxy' ? undefined : peek(value, 'name');
      return typeof name === 'string' && name !== '' ? `[Function: ${name}]` : '[Function (anonymous)]';
    }
    case 'object':
      return value === null ? 'null' : showObject(value, depth, path);
    default:
      return Object.is(value, -0) ? '-0' : String(value);
  }
}

function showObject(object, depth, path) {
  const kind = gate.kindOf(object);
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
  const item = (value) => show(value, depth - 1, inner);
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
    const text = 'value' in property ? item(property.value) : property.set === undefined ? '[Getter]' : '[Getter/Setter]';
    shown.push(isList && /^\d+$/.test(String(own)) ? text : `${key(own)}: ${text}`);
  }
  if (Array.isArray(object)) return list('[', ']', shown, rest);
  const prefix = name === 'Object' ? '' : `${name} `;
  return prefix + (isList ? list('[', ']', shown, rest) : list('{', '}', shown, rest));
}

/** A value as a console shows it in an argument list. */
function inspect(value) {
  try {
    return show(value, DEPTH, []);
  } catch {
    return `[${typeof value}]`;
  }
}

/** Arguments as a console prints them. https://console.spec.whatwg.org/#formatter */
function format(values) {
  const rest = [...values];
  const parts = [];
  if (typeof rest[0] === 'string') {
    const template = rest.shift();
    parts.push(
      template.replace(/%[sdifoOcj%]/g, (directive) => {
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
