'use strict';

// `Temporal.Now`, where V8 has it, reads a clock of nanoseconds. A page may know the time to the millisecond, as by
// `Date.now()`. https://tc39.es/proposal-temporal/#sec-temporal-systemutcepochnanoseconds

function coarsenTemporal() {
  const { Temporal } = /** @type {any} */ (globalThis);
  if (Temporal === undefined) return;
  const { Instant, Now } = Temporal;
  const { now } = Date;
  const instant = () => Instant.fromEpochMilliseconds(now());
  const zoned = (/** @type {unknown} */ timeZone = Now.timeZoneId()) => instant().toZonedDateTimeISO(timeZone);
  /** @type {Record<string, (timeZone?: unknown) => unknown>} */
  const methods = {
    instant() {
      return instant();
    },
    zonedDateTimeISO(timeZone = undefined) {
      return zoned(timeZone);
    },
    plainDateTimeISO(timeZone = undefined) {
      return zoned(timeZone).toPlainDateTime();
    },
    plainTimeISO(timeZone = undefined) {
      return zoned(timeZone).toPlainTime();
    },
  };
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(Now, name, { value, writable: true, enumerable: false, configurable: true });
}

module.exports = { coarsenTemporal };
