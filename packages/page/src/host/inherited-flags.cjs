'use strict';

// Node gives a thread with options of its own none of the program's, not even its permissions. These are for threads that do what pages ask for.

/** @typedef {NodeJS.Process & { permission?: object }} Process `permission` is missing if there is no restriction */

/** What the program may do. https://nodejs.org/api/permissions.html */
const PERMISSION = /^--(?:experimental-)?permission(?:-audit)?$|^--allow-[a-z-]+(?:=|$)/;

/** Those whose value can be the next argument. */
const WITH_VALUE = /^--allow-fs-(?:read|write)$/;

/** Node 22 has `--use-system-ca` for all threads of a process, and not for one. */
const hasOwnTrust = Number.parseInt(process.versions.node, 10) >= 24;

/** Which servers it trusts. */
const TRUST = hasOwnTrust ? /^--(?:tls-(?:min|max)-v1\.\d|use-system-ca)$/ : /^--tls-(?:min|max)-v1\.\d$/;

/** The arguments in NODE_OPTIONS, which may be in double quotes. @param {string} text */
function splitOptions(text) {
  const words = text.match(/(?:"(?:\\.|[^"\\])*"|[^ "])+/g) ?? [];
  return words.map((word) => word.replace(/"((?:\\.|[^"\\])*)"/g, (_, quoted) => quoted.replace(/\\(.)/g, '$1')));
}

/** Options of a thread that may do what the program may, and that trusts whom it trusts. @returns {string[]} */
function inheritedFlags() {
  const given = [...splitOptions(process.env.NODE_OPTIONS ?? ''), ...process.execArgv];
  const trust = given.filter((argument) => TRUST.test(argument));
  if (/** @type {Process} */ (process).permission === undefined) return trust;
  const permissions = given.filter(
    (argument, at) => PERMISSION.test(argument) || (at > 0 && WITH_VALUE.test(given[at - 1])),
  );
  // Those given in another way, such as a file, are not known: then it may do less.
  if (!permissions.some((flag) => /permission/.test(flag))) permissions.unshift('--permission');
  return [...permissions, ...trust];
}

module.exports = { inheritedFlags };
