'use strict';

// The labels of one async context, as the addon reads them whenever V8 samples the thread.

/**
 * The value that an async context has in the storage. The addon reads the first eight fields, small integers, from V8's
 * heap, so all values have these fields in this order. Zeros are no labels.
 */
class LabelValue {
  /**
   * @param {number} set the number of the set of labels
   * @param {number} request the number of the request; 0 if requests have none
   * @param {readonly number[]} traceId four parts
   * @param {readonly number[]} spanId two parts
   * @param {Record<string, string>} labels those of the set
   * @param {LabelValue | undefined} root the value of the request
   */
  constructor(set, request, traceId, spanId, labels, root) {
    this.set = set;
    this.request = request;
    this.trace0 = traceId[0];
    this.trace1 = traceId[1];
    this.trace2 = traceId[2];
    this.trace3 = traceId[3];
    this.span0 = spanId[0];
    this.span1 = spanId[1];
    this.labels = labels;
    this.root = root;
  }
}

/** @type {Record<string, string>} */
const NO_LABELS = Object.freeze({});
const NO_TRACE = [0, 0, 0, 0];
const NO_SPAN = [0, 0];

/** The numbers that the addon must find in the value with which it tries to read. */
const PROBE = [11, -22, 33, -44, 55, -66, 0x7fffffff, -0x80000000];

/** The greatest number of a set or a request; then they begin anew. */
const MAX_NUMBER = 0x7fffffff;

/** The next number of a set or a request. @param {number} last 0 if there is none so far */
function numberAfter(last) {
  return last === MAX_NUMBER ? 1 : last + 1;
}

/** @param {LabelValue} value */
function numbersOf({ set, request, trace0, trace1, trace2, trace3, span0, span1 }) {
  return [set, request, trace0, trace1, trace2, trace3, span0, span1];
}

/**
 * A value with other labels than `value`, in the same request and span.
 *
 * @param {LabelValue | undefined} value
 * @param {number} set
 * @param {Record<string, string>} labels
 */
function relabelled(value, set, labels) {
  if (value === undefined) return new LabelValue(set, 0, NO_TRACE, NO_SPAN, labels, undefined);
  const [, request, ...ids] = numbersOf(value);
  return new LabelValue(set, request, ids.slice(0, 4), ids.slice(4), labels, value.root);
}

/**
 * A value with another span than `value`.
 *
 * @param {LabelValue | undefined} value
 * @param {readonly number[]} traceId
 * @param {readonly number[]} spanId
 */
function inSpan(value, traceId, spanId) {
  if (value === undefined) return new LabelValue(0, 0, traceId, spanId, NO_LABELS, undefined);
  return new LabelValue(value.set, value.request, traceId, spanId, value.labels, value.root);
}

module.exports = { LabelValue, NO_LABELS, NO_SPAN, NO_TRACE, PROBE, inSpan, numberAfter, numbersOf, relabelled };
