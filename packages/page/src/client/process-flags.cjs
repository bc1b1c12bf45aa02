'use strict';

// Node's options for the process of the pages. Node gives a child process none of the program's, not even its
// permissions.

/** What the process may do: it writes no file, starts no process, and reads what the documents' folders may hold. */
const PERMISSIONS = ['--permission', '--allow-fs-read=*', '--allow-addons', '--allow-worker'];
// Node 22 and 24 have no permission for the network.
if (Number.parseInt(process.versions.node, 10) >= 25) PERMISSIONS.push('--allow-net');

/** What the program may do, if that is restricted. https://nodejs.org/api/permissions.html */
const PERMISSION = /^--(?:experimental-)?permission(?:-audit)?$|^--allow-[a-z-]+(?:=|$)/;

/** Permissions whose value can be the next argument. */
const WITH_VALUE = /^--allow-fs-(?:read|write)$/;

/** Which servers are trusted. */
const TRUST = /^--(?:tls-(?:min|max)-v1\.\d|use-system-ca|use-bundled-ca|use-openssl-ca)$/;

/** The arguments in NODE_OPTIONS, which may be in double quotes. @param {string} text */
function splitOptions(text) {
  const words = text.match(/(?:"(?:\\.|[^"\\])*"|[^ "])+/g) ?? [];
  return words.map((word) => word.replace(/"((?:\\.|[^"\\])*)"/g, (_, quoted) => quoted.replace(/\\(.)/g, '$1')));
}

/** @returns {string[]} */
function processFlags() {
  const given = [...splitOptions(process.env.NODE_OPTIONS ?? ''), ...process.execArgv];
  const trust = given.filter((argument) => TRUST.test(argument));
  const { permission } = /** @type {NodeJS.Process & { permission?: object }} */ (process);
  if (permission === undefined) return [...PERMISSIONS, ...trust];
  // It may do no more than the program.
  const permissions = given.filter(
    (argument, at) => PERMISSION.test(argument) || (at > 0 && WITH_VALUE.test(given[at - 1])),
  );
  // Those given in another way, such as a file, are not known: then it may do less.
  if (!permissions.some((flag) => /permission/.test(flag))) permissions.unshift('--permission');
  return [...permissions, ...trust];
}

module.exports = { processFlags };
