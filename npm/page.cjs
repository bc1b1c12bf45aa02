'use strict';

// `require('selfprof/page')`: pages without a browser, on jsdom.

const { PageHost } = require('./lib/page/host.cjs');
const { PageError, TimeoutError } = require('./lib/page/page.cjs');

exports.PageHost = PageHost;
exports.PageError = PageError;
exports.TimeoutError = TimeoutError;
