// The hosts of the tests: a main one, an alternative one of another site, and the subdomains of both.
// https://web-platform-tests.org/writing-tests/server-features.html#tests-involving-multiple-origins

import { domainToASCII } from 'node:url';

/** Real browsers find names below `localhost` on this machine without being configured. */
const TOP = process.env.SELFPROF_WPT_TOP ?? 'test';

export const HOST = `web-platform.${TOP}`;
const ALTERNATIVE = `not-web-platform.${TOP}`;
const SUBDOMAINS = ['www', 'www1', 'www2', '天気の良い日', 'élève'];

function domainsOf(host) {
  const domains = { '': host };
  for (const name of SUBDOMAINS) domains[name] = domainToASCII(`${name}.${host}`);
  return domains;
}

/** By the names that tests use: of the host, then of the subdomain. */
export const HOSTS = { '': domainsOf(HOST), alt: domainsOf(ALTERNATIVE) };

export const ALL_NAMES = Object.values(HOSTS).flatMap((domains) => Object.values(domains));
