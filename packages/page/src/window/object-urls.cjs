'use strict';

// URL.createObjectURL() and revokeObjectURL(). https://w3c.github.io/FileAPI/#creating-revoking

const host = require('selfprof:host');

function installObjectUrls() {
  const operations = {
    /** @param {any} object of the page */
    createObjectURL(object) {
      const context = "Failed to execute 'createObjectURL' on 'URL'";
      if (arguments.length < 1) throw new TypeError(`${context}: 1 argument required, but only 0 present.`);
      const blob = host.platform.blobOf(object);
      if (blob === undefined) throw new TypeError(`${context}: parameter 1 is not of type 'Blob'.`);
      return host.createObjectUrl(blob.bytes, blob.type);
    },
    /** @param {any} url of the page */
    revokeObjectURL(url) {
      if (arguments.length < 1) {
        throw new TypeError("Failed to execute 'revokeObjectURL' on 'URL': 1 argument required, but only 0 present.");
      }
      host.revokeObjectUrl(`${url}`);
    },
  };
  for (const [name, value] of Object.entries(operations)) {
    Object.defineProperty(globalThis.URL, name, { value, writable: true, enumerable: true, configurable: true });
  }
}

module.exports = { installObjectUrls };
