'use strict';

// The time that jsdom gives to the callbacks of `requestAnimationFrame` is not that of the window's clock.
// https://html.spec.whatwg.org/multipage/imagebitmap-and-animations.html#animation-frames

const { thread } = require('../thread/thread.cjs');

const { apply } = Reflect;

/** @param {import('../windows/page-window.cjs').PageWindow} pageWindow */
function installAnimationFrames(pageWindow) {
  const { window, code } = pageWindow;
  const original = window.requestAnimationFrame;
  /** The last frame, by jsdom's time and the window's: all callbacks of a frame get the same. */
  let frame = { of: -1, time: 0 };
  const timeOf = (/** @type {number} */ of) => {
    if (of !== frame.of) frame = { of, time: pageWindow.now() };
    return frame.time;
  };
  window.requestAnimationFrame = code.wrap(
    'requestAnimationFrame',
    (callback) =>
      // jsdom refuses what is not a function.
      typeof callback === 'function'
        ? original((/** @type {number} */ of) => {
            try {
              apply(/** @type {any} */ (callback), undefined, [timeOf(of)]);
            } finally {
              thread.runPromiseJobs();
            }
          })
        : original(callback),
    1,
  );
}

module.exports = { installAnimationFrames };
