'use strict';

// `require('@selfprof/page')`

const { PageError, TimeoutError } = require('./src/host/errors.cjs');
const { PageHost } = require('./src/host/page-host.cjs');

exports.PageHost = PageHost;
exports.PageError = PageError;
exports.TimeoutError = TimeoutError;
