'use strict';

/**
 * The resolution of a window's clock, in microseconds. https://w3c.github.io/hr-time/#dfn-coarsen-time
 *
 * @param {boolean} isIsolated whether the window is cross-origin isolated
 */
function clockResolution(isIsolated) {
  return isIsolated ? 5 : 100;
}

module.exports = { clockResolution };
