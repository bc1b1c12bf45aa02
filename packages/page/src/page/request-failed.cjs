'use strict';

/** A request that failed. The main realm has told the page's user why. */
class RequestFailed extends TypeError {}

module.exports = { RequestFailed };
