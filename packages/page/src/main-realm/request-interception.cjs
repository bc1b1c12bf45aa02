'use strict';

// Asks the page's user about each request of this thread, while the user has routes.

const { PAGE_STATE } = require('../any-realm/page-state.cjs');

/**
 * @param {import('./page-thread.cjs').PageThread} thread
 * @param {Int32Array} pageState
 * @returns {import('../fetch/network.cjs').Intercept}
 */
function interceptor(thread, pageState) {
  return async (request) => {
    if (Atomics.load(pageState, PAGE_STATE.isIntercepted) === 0) return undefined;
    const size = request.url.length + (request.body?.byteLength ?? 0);
    return (await thread.ask({ type: 'intercept', request }, size)).interception;
  };
}

module.exports = { interceptor };
