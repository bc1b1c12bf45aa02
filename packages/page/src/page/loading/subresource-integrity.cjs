'use strict';

// The `integrity` attribute, and the member of a request.
// https://w3c.github.io/webappsec-subresource-integrity/#does-response-match-metadatalist

const { createHash } = require('node:crypto');

/** From the weakest to the strongest. */
const ALGORITHMS = ['sha256', 'sha384', 'sha512'];

/**
 * @param {{ type: string, url: string, body: Uint8Array }} response
 * @param {string} metadata the value of the attribute or the member
 * @throws {Error} when the response does not match it
 */
function checkIntegrity({ type, url, body }, metadata) {
  const digests = metadata
    .split(/\s+/)
    .map((item) => /^(sha256|sha384|sha512)-([A-Za-z0-9+/_-]+={0,2})(\?.*)?$/.exec(item))
    .filter((match) => match !== null)
    .map(([, algorithm, value]) => ({ algorithm, value: value.replaceAll('-', '+').replaceAll('_', '/') }));
  const strongest = ALGORITHMS.findLast((algorithm) => digests.some((digest) => digest.algorithm === algorithm));
  if (strongest === undefined) return;
  if (type === 'opaque') throw new Error(`${url} is fetched without CORS, so its integrity cannot be checked`);
  const actual = createHash(strongest).update(body).digest('base64');
  if (!digests.some(({ algorithm, value }) => algorithm === strongest && value === actual))
    throw new Error(`${url} does not match its integrity`);
}

module.exports = { checkIntegrity };
