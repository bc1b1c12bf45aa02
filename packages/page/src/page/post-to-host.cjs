'use strict';

// Messages of jsdom's documents to the page host.

const { thread } = require('./thread.cjs');
const { transfersOf } = require('./message-channels.cjs');

/** @typedef {import('../window/contracts.js').CloneRecord} CloneRecord */

/** @param {{ type: string, record?: CloneRecord | undefined, [member: string]: unknown }} message */
function postToHost(message) {
  thread.tell(message, message.record && transfersOf(message.record));
}

/**
 * Answers a request of the host.
 *
 * @param {number} id
 * @param {import('../window/contracts.js').EvaluationOutcome | import('../window/contracts.js').CommandOutcome} outcome
 */
function answer(id, outcome) {
  const { value: record, ...members } = /** @type {any} */ (outcome);
  postToHost({ type: 'done', id, record, ...members });
}

module.exports = { answer, postToHost };
