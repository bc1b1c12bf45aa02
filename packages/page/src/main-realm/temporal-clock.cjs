'use strict';

// `Temporal.Now`, where V8 has it, reads a clock of nanoseconds. A page may know the time to the millisecond, as by `Date.now()`.
// https://tc39.es/proposal-temporal/#sec-temporal-systemutcepochnanoseconds

const vm = require('node:vm');

const HAS_TEMPORAL = 'Temporal' in globalThis;

const SOURCE = `'use strict'; {
  const { Date, Temporal } = globalThis;
  const { now } = Date;
  const { Now, Instant } = Temporal;
  const { fromEpochMilliseconds } = Instant;
  const { apply, defineProperty } = Reflect;
  const { timeZoneId } = Now;
  const { toZonedDateTimeISO } = Instant.prototype;
  const { toPlainDate, toPlainDateTime, toPlainTime } = Temporal.ZonedDateTime.prototype;
  const instant = () => apply(fromEpochMilliseconds, Instant, [now()]);
  const zoned = (timeZone) => apply(toZonedDateTimeISO, instant(), [timeZone === undefined ? timeZoneId() : timeZone]);
  const methods = {
    instant() { return instant(); },
    zonedDateTimeISO(timeZone = undefined) { return zoned(timeZone); },
    plainDateTimeISO(timeZone = undefined) { return apply(toPlainDateTime, zoned(timeZone), []); },
    plainDateISO(timeZone = undefined) { return apply(toPlainDate, zoned(timeZone), []); },
    plainTimeISO(timeZone = undefined) { return apply(toPlainTime, zoned(timeZone), []); },
  };
  for (const name of Reflect.ownKeys(methods)) {
    if (!(name in Now)) throw new Error('Temporal.Now has no ' + name);
    defineProperty(Now, name, { value: methods[name], writable: true, enumerable: false, configurable: true });
  }
  // A clock that is not known here would be as fine.
  for (const name of Reflect.ownKeys(Now)) {
    if (typeof Now[name] === 'function' && name !== 'timeZoneId' && !(name in methods)) delete Now[name];
  }
}`;

/** @type {vm.Script | undefined} */
let script;

/** Coarsens `Temporal.Now` of a realm. @param {object} context in which no page has run */
function coarsenTemporal(context) {
  if (!HAS_TEMPORAL) return;
  script ??= new vm.Script(SOURCE, { filename: __filename });
  script.runInContext(context);
}

module.exports = { coarsenTemporal };
