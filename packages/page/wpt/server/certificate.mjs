// A new certificate for the hosts of the tests in each run, so no key is stored.

import { createRequire } from 'node:module';

/**
 * @param {string} selfsigned where that package is
 * @param {string[]} names
 * @returns {Promise<{ key: string, cert: string }>} as PEM; the certificate is its own authority
 */
export async function makeCertificate(selfsigned, names) {
  const { generate } = createRequire(import.meta.url)(selfsigned);
  const pem = await generate([{ name: 'commonName', value: names[0] }], {
    keyType: 'ec',
    algorithm: 'sha256',
    // From yesterday on, because clocks of threads and processes may differ a little.
    notBeforeDate: new Date(Date.now() - 86_400_000),
    notAfterDate: new Date(Date.now() + 7 * 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) },
    ],
  });
  return { key: pem.private, cert: pem.cert };
}
