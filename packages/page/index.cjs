'use strict';

// `require('@selfprof/page')`

const { PageError, TimeoutError } = require('./src/client/errors.cjs');
const { PageHost } = require('./src/client/host-client.cjs');

exports.PageHost = PageHost;
exports.PageError = PageError;
exports.TimeoutError = TimeoutError;
