'use strict';

// Errors as they cross from the process of the pages to the one of the user: a structured clone would lose their names,
// codes and classes.

const { PageError, TimeoutError } = require('./errors.cjs');

/**
 * @typedef {object} ErrorRecord
 * @property {string} name
 * @property {string} message
 * @property {string} [code]
 * @property {ErrorRecord} [cause]
 * @property {string} [errorName] of a PageError
 * @property {string} [pageStack] of a PageError
 */

/** By name. Other errors are of the class Error. @type {Map<string, ErrorConstructor | typeof TimeoutError>} */
const CLASSES = new Map(Object.entries({ RangeError, TimeoutError, TypeError }));

/** @param {unknown} thrown @returns {ErrorRecord} */
function toRecord(thrown) {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  const { name, message, cause } = thrown;
  return {
    name,
    message,
    ...('code' in thrown && typeof thrown.code === 'string' && { code: thrown.code }),
    ...(cause !== undefined && { cause: toRecord(cause) }),
    ...(thrown instanceof PageError && { errorName: thrown.errorName, pageStack: thrown.pageStack }),
  };
}

/** @param {ErrorRecord} record @returns {Error} */
function toError({ name, message, code, cause, errorName, pageStack = '' }) {
  if (errorName !== undefined)
    return Object.assign(new PageError({ name: 'Error', message, stack: pageStack }), { errorName });
  const Class = CLASSES.get(name) ?? Error;
  const error = new Class(message, cause === undefined ? {} : { cause: toError(cause) });
  Object.defineProperty(error, 'name', { value: name, writable: true, configurable: true });
  return code === undefined ? error : Object.assign(error, { code });
}

module.exports = { toError, toRecord };
