'use strict';

// Stands in for `@napi-rs/canvas`, which jsdom loads images with. The main realm has read the size of the image, and nothing is drawn: see
// main-realm/visible-response.cjs.

/** @typedef {{ width: number, height: number }} Size */

class Image {
  /** @type {Size | undefined} */
  #size;

  /** @param {{ size?: Size }} loaded in place of an image's bytes */
  set src({ size }) {
    this.#size = size;
  }

  get naturalWidth() {
    return this.#size?.width ?? 0;
  }

  get naturalHeight() {
    return this.#size?.height ?? 0;
  }

  async decode() {
    if (this.#size === undefined) throw new Error('it is not an image of a known format');
  }
}

module.exports = {
  Image,
  /** As without the package, a canvas has no context. */
  createCanvas: () => null,
};
