'use strict';

const { constants } = require('node:crypto');

const native = require('selfprof/internal/native.cjs');

/**
 * How long the certificates of a server may be together, in bytes. OpenSSL verifies them in one go, also if they lead to no authority that is
 * trusted, and takes 8 s for those of 96 KB that are made for that. Servers of the web have 3 to 10 KB.
 */
const MAX_CERTIFICATES = 16 << 10;

/**
 * The context of connections over TLS, as browsers make them: without groups that a server makes up, which can take a second to compute with, and
 * without handshakes on a connection that is open.
 *
 * @param {string | string[] | undefined} ca certificates of trusted authorities, PEM; Node's if undefined
 */
function newSecureContext(ca) {
  // It takes milliseconds to load, and most threads need none.
  const { DEFAULT_CIPHERS, createSecureContext } = require('node:tls');
  const secureContext = createSecureContext({
    ca,
    ciphers: `${DEFAULT_CIPHERS}:!DHE`,
    ecdhCurve: 'X25519:P-256:P-384',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
  // False for a Node that is linked in a way that hides its OpenSSL.
  native.limitTls(/** @type {any} */ (secureContext.context)._external, MAX_CERTIFICATES);
  return secureContext;
}

module.exports = { newSecureContext };
