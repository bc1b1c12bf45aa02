'use strict';

// `node:worker_threads` for jsdom's synchronous XMLHttpRequest, which blocks this thread on another one. Pages of this host
// have no synchronous requests: `send()` throws a NetworkError.

exports.Worker = class Worker {
  constructor() {
    throw new Error('synchronous requests are not supported');
  }
};
exports.MessageChannel = class MessageChannel {};
exports.receiveMessageOnPort = () => undefined;
