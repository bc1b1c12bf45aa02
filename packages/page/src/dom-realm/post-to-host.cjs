'use strict';

// Messages to the user's thread, which the main realm sends: see main-realm/dom-messages.cjs.

const bridge = require('selfprof:main-realm');

/** @typedef {import('../any-realm/realm-contracts.js').CloneRecord} CloneRecord */
/** @typedef {import('../any-realm/realm-contracts.js').CommandOutcome} CommandOutcome */
/** @typedef {import('../any-realm/realm-contracts.js').EvaluationOutcome} EvaluationOutcome */

const { stringify } = globalThis.JSON;

/**
 * Sends plain data, and what its record transfers.
 *
 * @param {{ type: string, record?: CloneRecord | undefined, [member: string]: unknown }} message
 * @returns {boolean} whether there was room for it
 */
function postToHost({ record, ...message }) {
  return bridge.postToHost(stringify(message), record);
}

/**
 * Answers a request of the user's thread.
 *
 * @param {number} id
 * @param {EvaluationOutcome | CommandOutcome} outcome
 */
function answer(id, outcome) {
  if ('value' in outcome) postToHost({ type: 'evaluated', id, record: outcome.value });
  else if ('text' in outcome) postToHost({ type: 'evaluated', id, text: outcome.text });
  else {
    // It is of a window's realm, where a page may have added a `toJSON` to all objects.
    const { name, code, message, stack } = /** @type {Record<string, unknown>} */ ({ ...outcome.error });
    postToHost({ type: 'evaluated', id, error: { name, code, message, stack } });
  }
}

module.exports = { answer, postToHost };
