'use strict';

// Stands in for `@napi-rs/canvas`, which jsdom loads images with. The size of the image is read elsewhere, and nothing
// is drawn: see visible-response.cjs.

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
