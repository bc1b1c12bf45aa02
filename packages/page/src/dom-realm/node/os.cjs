'use strict';

// `node:os` for jsdom's `navigator.hardwareConcurrency`. Pages do not learn about the machine.

exports.cpus = () => [{}, {}];
