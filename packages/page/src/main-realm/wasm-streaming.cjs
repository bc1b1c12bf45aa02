'use strict';

// V8 lets its host read the response that WebAssembly is compiled from. Node answers in the main realm: it takes no response but its own, which
// pages do not have, and rejects with an error of the main realm. Pages that look for these functions go on without them.

const vm = require('node:vm');

const script = new vm.Script('delete WebAssembly.compileStreaming && delete WebAssembly.instantiateStreaming', {
  filename: __filename,
});

/** Removes what Node would answer to. @param {object} context in which no page has run */
function removeWasmStreaming(context) {
  if (script.runInContext(context) !== true) throw new Error('WebAssembly keeps its streaming functions');
}

module.exports = { removeWasmStreaming };
