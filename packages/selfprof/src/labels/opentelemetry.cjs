'use strict';

// The spans of OpenTelemetry: samples of code in an active span have its trace id and its span id.

const { inSpan, NO_SPAN, NO_TRACE } = require('./label-value.cjs');
const { currentValue, runWith } = require('./storage.cjs');

/** Where every copy of `@opentelemetry/api` 1.x finds what was registered. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');
/** The key of the span in a context. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

/** The context managers that tell their spans. */
const followed = new WeakSet();

/**
 * A hexadecimal number in parts of 32 bits.
 *
 * @param {string} text
 * @param {number} count
 * @param {readonly number[]} none what to return for anything else
 */
function parts(text, count, none) {
  if (typeof text !== 'string' || text.length !== 8 * count) return none;
  const numbers = [];
  // `NaN | 0` is 0.
  for (let at = 0; at < text.length; at += 8) numbers.push(Number.parseInt(text.slice(at, at + 8), 16) | 0);
  return numbers;
}

/** Follows the context manager of OpenTelemetry, if one is registered and not followed yet. */
function followOpenTelemetry() {
  const manager = /** @type {any} */ (globalThis)[REGISTRY]?.context;
  if (typeof manager?.with !== 'function' || followed.has(manager)) return;
  followed.add(manager);
  const original = manager.with;
  manager.with = /** @this {any} */ function (
    /** @type {any} */ context,
    /** @type {Function} */ fn,
    /** @type {unknown} */ thisArgument,
    /** @type {unknown[]} */ ...args
  ) {
    const span = context?.getValue?.(SPAN)?.spanContext?.();
    if (span === undefined) return original.call(this, context, fn, thisArgument, ...args);
    const value = inSpan(currentValue(), parts(span.traceId, 4, NO_TRACE), parts(span.spanId, 2, NO_SPAN));
    return runWith(value, () => original.call(this, context, fn, thisArgument, ...args));
  };
}

module.exports = { followOpenTelemetry };
