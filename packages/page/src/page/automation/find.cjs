'use strict';

// Finds elements. https://www.w3.org/TR/webdriver2/#element-retrieval

const idlUtils = require('jsdom/lib/generated/idl/utils.js');
const Element = require('jsdom/lib/generated/idl/Element.js');
const selectors = require('jsdom/lib/jsdom/living/css/helpers/selectors.js');

const { Refusal } = require('./references.cjs');
const { visibleText } = require('./text.cjs');

const ORDERED_NODE_SNAPSHOT_TYPE = 7;

/**
 * By strategy: finds elements below a node, in tree order.
 *
 * @type {Record<string, (root: Jsdom.NodeImpl, value: string) => Jsdom.ElementImpl[]>}
 */
const STRATEGIES = {
  'css selector': (root, selector) => [...selectors.query(root, selector, false)],
  'tag name': (root, name) => [...root.getElementsByTagName(name)],
  'link text': (root, text) => links(root).filter((link) => visibleText(link) === text),
  'partial link text': (root, text) => links(root).filter((link) => visibleText(link).includes(text)),
  xpath(root, expression) {
    const document = root._ownerDocument ?? root;
    const wrapper = idlUtils.wrapperForImpl(document);
    const result = wrapper.evaluate(expression, idlUtils.wrapperForImpl(root), null, ORDERED_NODE_SNAPSHOT_TYPE, null);
    const found = [];
    for (let at = 0; at < result.snapshotLength; at++) {
      const impl = idlUtils.implForWrapper(result.snapshotItem(at));
      if (!Element.isImpl(impl))
        throw new Refusal('invalid selector', `${expression} finds nodes that are not elements`);
      found.push(impl);
    }
    return found;
  },
};

/** @param {Jsdom.NodeImpl} root */
function links(root) {
  return [...selectors.query(root, 'a', false)];
}

/**
 * @param {Jsdom.NodeImpl} root a document, an element or a shadow root
 * @param {string} using
 * @param {string} value
 * @returns {Jsdom.ElementImpl[]}
 */
function findElements(root, using, value) {
  if (!Object.hasOwn(STRATEGIES, using))
    throw new Refusal('invalid selector', `there is no location strategy ${using}`);
  try {
    return STRATEGIES[using](root, value);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = /** @type {{ message?: unknown } | undefined} */ (error)?.message ?? 'it is not a selector';
    throw new Refusal('invalid selector', `${using} ${value}: ${reason}`);
  }
}

module.exports = { findElements };
