'use strict';

// The page thread that this module is loaded in. page-thread.cjs sets it before it loads jsdom and the modules that are
// built on it.

/** @type {{ thread: import('../page-thread.cjs').PageThread }} */
module.exports = { thread: /** @type {any} */ (undefined) };
