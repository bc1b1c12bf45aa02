'use strict';

// Node gives a thread or a process with options of its own none of the program's, not even its permissions. These are for those that do what pages
// ask for.

/** @typedef {NodeJS.Process & { permission?: object }} Process `permission` is missing if there is no restriction */

const MAJOR = Number.parseInt(process.versions.node, 10);

/** What the program may do. https://nodejs.org/api/permissions.html */
const PERMISSION = /^--(?:experimental-)?permission(?:-audit)?$|^--allow-[a-z-]+(?:=|$)/;

/** Those whose value can be the next argument. */
const WITH_VALUE = /^--allow-fs-(?:read|write)$/;

/** Node 22 has `--use-system-ca` for all threads of a process, and not for one. */
const hasOwnTrust = MAJOR >= 24;

/** Which servers a process trusts. */
const PROCESS_TRUST = /^--(?:tls-(?:min|max)-v1\.\d|use-system-ca|use-bundled-ca|use-openssl-ca)$/;

/** The same of a thread. */
const TRUST = hasOwnTrust ? /^--(?:tls-(?:min|max)-v1\.\d|use-system-ca)$/ : /^--tls-(?:min|max)-v1\.\d$/;

/** The arguments in NODE_OPTIONS, which may be in double quotes. @param {string} text */
function splitOptions(text) {
  const words = text.match(/(?:"(?:\\.|[^"\\])*"|[^ "])+/g) ?? [];
  return words.map((word) => word.replace(/"((?:\\.|[^"\\])*)"/g, (_, quoted) => quoted.replace(/\\(.)/g, '$1')));
}

/** What the process of the pages may do: it writes no file, starts no process, and reads what the documents' folders may hold. */
const OWN_PERMISSIONS = ['--permission', '--allow-fs-read=*', '--allow-addons', '--allow-worker'];
// Node 22 and 24 have no permission for the network.
if (MAJOR >= 25) OWN_PERMISSIONS.push('--allow-net');

function givenFlags() {
  return [...splitOptions(process.env.NODE_OPTIONS ?? ''), ...process.execArgv];
}

/** Options of a thread that may do what the program may, and that trusts whom it trusts. @returns {string[]} */
function inheritedFlags() {
  const given = givenFlags();
  return [...(permissionsIn(given) ?? []), ...given.filter((argument) => TRUST.test(argument))];
}

/** The same of the process of the pages. It may do no more than the program may. @returns {string[]} */
function processFlags() {
  const given = givenFlags();
  return [...(permissionsIn(given) ?? OWN_PERMISSIONS), ...given.filter((argument) => PROCESS_TRUST.test(argument))];
}

/** @param {string[]} given @returns {string[] | undefined} nothing when the program may do everything */
function permissionsIn(given) {
  if (/** @type {Process} */ (process).permission === undefined) return undefined;
  const permissions = given.filter(
    (argument, at) => PERMISSION.test(argument) || (at > 0 && WITH_VALUE.test(given[at - 1])),
  );
  // Those given in another way, such as a file, are not known: then it may do less.
  if (!permissions.some((flag) => /permission/.test(flag))) permissions.unshift('--permission');
  return permissions;
}

module.exports = { inheritedFlags, processFlags };
