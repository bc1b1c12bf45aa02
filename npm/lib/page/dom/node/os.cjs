'use strict';

// `node:os` for jsdom's `navigator.hardwareConcurrency`. A page need not know the machine.

exports.cpus = () => [{}, {}];
