'use strict';

// URL.createObjectURL() and revokeObjectURL(). https://w3c.github.io/FileAPI/#creating-revoking

const host = require('selfprof:host');
const { defineOperations, requireArguments } = require('./webidl-members.cjs');

function installObjectUrls() {
  const operations = {
    /** @param {any} object of the page */
    createObjectURL(object) {
      const context = "Failed to execute 'createObjectURL' on 'URL'";
      requireArguments(arguments.length, context);
      const blob = host.platform.blobOf(object);
      if (blob === undefined) throw new TypeError(`${context}: parameter 1 is not of type 'Blob'.`);
      return host.createObjectUrl(blob.bytes, blob.type);
    },
    /** @param {any} url of the page */
    revokeObjectURL(url) {
      requireArguments(arguments.length, "Failed to execute 'revokeObjectURL' on 'URL'");
      host.revokeObjectUrl(`${url}`);
    },
  };
  defineOperations(operations, globalThis.URL);
}

module.exports = { installObjectUrls };
