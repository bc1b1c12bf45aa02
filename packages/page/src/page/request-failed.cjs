'use strict';

/** A request that failed. The page's user got the reason. */
class RequestFailed extends TypeError {}

module.exports = { RequestFailed };
