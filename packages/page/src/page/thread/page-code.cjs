'use strict';

// Which code of pages is on the stack.

const { getCallSites } = require('node:util');

const native = require('selfprof/internal/native.cjs');

/** How many of the innermost frames are looked at: as many as Node allows. */
const MAX_FRAMES = 200;

/**
 * The realm of the innermost script of a page: nearly what HTML calls the incumbent settings object. Code made by
 * `eval` belongs to the script that runs it.
 * https://html.spec.whatwg.org/multipage/webappapis.html#incumbent-settings-object
 *
 * @returns {number} the addon's number for it; 0 for none
 */
function callingRealm() {
  for (const { scriptId } of getCallSites(MAX_FRAMES)) {
    const realm = native.realmOfScript(Number(scriptId));
    if (realm !== 0) return realm;
  }
  return 0;
}

/**
 * Whether only the host's code is on the stack. Code made by `eval` has no name, and a page may give its scripts any
 * name, so the ids of scripts count, too.
 *
 * @param {string[]} hostScripts prefixes of the paths of host code
 */
function isHostAlone(hostScripts) {
  const sites = getCallSites(MAX_FRAMES);
  return (
    sites.length < MAX_FRAMES &&
    sites.every(
      ({ scriptId, scriptName }) =>
        native.realmOfScript(Number(scriptId)) === 0 && hostScripts.some((prefix) => scriptName.startsWith(prefix)),
    )
  );
}

module.exports = { callingRealm, isHostAlone };
