// The hosts of the tests: a main one, an alternative one of another site, and the subdomains of both.
// https://web-platform-tests.org/writing-tests/server-features.html#tests-involving-multiple-origins

import { domainToASCII } from 'node:url';

export const HOST = 'web-platform.test';
const ALTERNATIVE = 'not-web-platform.test';
const SUBDOMAINS = ['www', 'www1', 'www2', '天気の良い日', 'élève'];

function domainsOf(host) {
  const domains = { '': host };
  for (const name of SUBDOMAINS) domains[name] = domainToASCII(`${name}.${host}`);
  return domains;
}

/** By the names that tests use: of the host, then of the subdomain. */
export const HOSTS = { '': domainsOf(HOST), alt: domainsOf(ALTERNATIVE) };

export const ALL_NAMES = Object.values(HOSTS).flatMap((domains) => Object.values(domains));
