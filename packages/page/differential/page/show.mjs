// Values as texts that are equal when a page cannot tell the values apart.

/** The second origin of the server. */
export const OTHER_ORIGIN = new URLSearchParams(location.search).get('other') ?? '';

/** What differs from run to run is replaced. */
function stable(text) {
  const own = text.replaceAll(location.origin, 'http://a.test');
  return OTHER_ORIGIN === '' ? own : own.replaceAll(OTHER_ORIGIN, 'http://b.test');
}

/** An exception: its name, its code where it is a DOMException, and whether its class is this window's. */
export function showThrown(thrown) {
  const isObject = typeof thrown === 'object' && thrown !== null;
  if (!isObject || typeof thrown.name !== 'string') return `throws ${show(thrown)}`;
  const isDom = Object.prototype.toString.call(thrown) === '[object DOMException]';
  const Class = isDom ? DOMException : globalThis[thrown.name];
  const isOwn = typeof Class === 'function' && thrown instanceof Class;
  return `throws ${thrown.name}${isDom ? ` (${thrown.code})` : ''}${isOwn ? '' : ' of another realm'}`;
}

/** @param {unknown} value */
export function show(value, depth = 0) {
  if (typeof value === 'string') return depth === 0 ? stable(value) : JSON.stringify(stable(value));
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'function') return `function ${value.name}/${value.length}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth > 6) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => show(item, depth + 1)).join(', ')}]`;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const isPlain = tag === 'Object' && [null, Object.prototype].includes(Object.getPrototypeOf(value));
  if (!isPlain) return tag === 'DOMException' || tag === 'Error' ? showThrown(value).slice(7) : `a ${tag}`;
  return `{${Reflect.ownKeys(value)
    .map((key) => `${String(key)}: ${show(value[key], depth + 1)}`)
    .join(', ')}}`;
}

/** What a function gives or throws, for probes that ask several things. */
export function outcome(work) {
  try {
    return show(work());
  } catch (thrown) {
    return showThrown(thrown);
  }
}

/** As `outcome`, for promises. */
export async function settled(work) {
  try {
    return show(await work());
  } catch (thrown) {
    return showThrown(thrown);
  }
}
