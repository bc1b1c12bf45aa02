'use strict';

// Errors as they cross from the process of the pages to the one of the user: a structured clone would lose their names, codes and classes.

const { PageError, TimeoutError } = require('./errors.cjs');

/**
 * @typedef {object} ErrorRecord
 * @property {'PageError' | 'TimeoutError' | 'TypeError' | 'RangeError' | 'Error'} type
 * @property {string} name
 * @property {string} message
 * @property {string} [code]
 * @property {ErrorRecord} [cause]
 * @property {string} [errorName] of a PageError
 * @property {string} [pageStack] of a PageError
 */

/** By the type of their record. */
const CLASSES = { Error, RangeError, TimeoutError, TypeError };

/** @param {unknown} thrown @returns {ErrorRecord} */
function toRecord(thrown) {
  if (!(thrown instanceof Error)) return { type: 'Error', name: 'Error', message: String(thrown) };
  const { name, message, cause } = thrown;
  /** @type {ErrorRecord} */
  const record = { type: 'Error', name, message };
  if ('code' in thrown && typeof thrown.code === 'string') record.code = thrown.code;
  if (cause !== undefined) record.cause = toRecord(cause);
  if (thrown instanceof PageError)
    return { ...record, type: 'PageError', errorName: thrown.errorName, pageStack: thrown.pageStack };
  if (thrown instanceof TimeoutError) return { ...record, type: 'TimeoutError' };
  if (thrown instanceof TypeError) return { ...record, type: 'TypeError' };
  if (thrown instanceof RangeError) return { ...record, type: 'RangeError' };
  return record;
}

/**
 * @param {ErrorRecord} record
 * @returns {Error}
 */
function toError({ type, name, message, code, cause, errorName = 'Error', pageStack = '' }) {
  const options = cause === undefined ? {} : { cause: toError(cause) };
  const error =
    type === 'PageError'
      ? Object.assign(new PageError({ name: 'Error', message, stack: pageStack }), { errorName })
      : new CLASSES[type](message, options);
  if (error.name !== name)
    Object.defineProperty(error, 'name', { value: name, writable: true, configurable: true, enumerable: false });
  return code === undefined ? error : Object.assign(error, { code });
}

module.exports = { toError, toRecord };
