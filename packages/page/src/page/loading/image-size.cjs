'use strict';

// The size of an image, read from its bytes: a page may learn the size of an image of another origin, and nothing else
// of it.

/**
 * Markers from 0xC0 to 0xCF that begin no frame, so no size follows: https://www.w3.org/Graphics/JPEG/itu-t81.pdf,
 * table B.1
 */
const NO_JPEG_FRAME = new Set([0xc4, 0xc8, 0xcc]);

/** The sizes of a bitmap's header that have 32-bit dimensions. Text that begins with `BM` has none of them. */
const BMP_HEADERS = new Set([40, 52, 56, 64, 108, 124]);

/** What the blocks of a GIF image begin with: https://www.w3.org/Graphics/GIF/spec-gif89a.txt */
const GIF_BLOCKS = new Set([0x21, 0x2c, 0x3b]);

/** Types that are no image's, and yet do not say that the bytes are something else. */
const UNKNOWN_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

const LENGTH = /^\s*\+?(\d+(?:\.\d*)?|\.\d+)(px|in|cm|mm|pt|pc)?\s*$/;
/** How many a unit has. @type {Record<string, number>} */
const PIXELS = { in: 96, cm: 96 / 2.54, mm: 96 / 25.4, pt: 96 / 72, pc: 16 };

const ascii = (/** @type {Uint8Array} */ bytes, /** @type {number} */ start, /** @type {number} */ end) =>
  String.fromCharCode(...bytes.subarray(start, end));

/** @typedef {{ width: number, height: number }} Size */

/**
 * Readers of image formats: each returns the size, or undefined for bytes of another format.
 *
 * @type {((bytes: Uint8Array, view: DataView, type: string) => Size | undefined)[]}
 */
const FORMATS = [
  function png(bytes, view) {
    if (view.byteLength < 24 || ascii(bytes, 0, 8) !== '\x89PNG\r\n\x1a\n' || ascii(bytes, 12, 16) !== 'IHDR')
      return undefined;
    return { width: view.getUint32(16), height: view.getUint32(20) };
  },
  function gif(bytes, view) {
    if (view.byteLength < 14 || !/^GIF8[79]a$/.test(ascii(bytes, 0, 6))) return undefined;
    const flags = bytes[10];
    const colors = flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
    // An extension, an image or the end follows.
    if (!GIF_BLOCKS.has(bytes[13 + colors])) return undefined;
    return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  },
  function bmp(bytes, view) {
    if (view.byteLength < 26 || ascii(bytes, 0, 2) !== 'BM' || !BMP_HEADERS.has(view.getUint32(14, true)))
      return undefined;
    return { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) };
  },
  function jpeg(bytes, view) {
    if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
    for (let at = 2; at + 9 <= view.byteLength && bytes[at] === 0xff; at += 2 + view.getUint16(at + 2)) {
      const tag = bytes[at + 1];
      if (tag >= 0xc0 && tag <= 0xcf && !NO_JPEG_FRAME.has(tag)) {
        return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
      }
    }
    return undefined;
  },
  function webp(bytes, view) {
    if (view.byteLength < 30 || ascii(bytes, 0, 4) !== 'RIFF' || ascii(bytes, 8, 12) !== 'WEBP') return undefined;
    // Four characters are more than there are bytes.
    if (view.getUint32(4, true) > view.byteLength || view.getUint32(16, true) > view.byteLength) return undefined;
    switch (ascii(bytes, 12, 16)) {
      case 'VP8 ':
        if (ascii(bytes, 23, 26) !== '\x9d\x01\x2a') return undefined;
        return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
      case 'VP8L': {
        if (bytes[20] !== 0x2f) return undefined;
        const bits = view.getUint32(21, true);
        return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
      }
      case 'VP8X':
        return { width: (view.getUint32(24, true) & 0xffffff) + 1, height: (view.getUint32(26, true) >>> 8) + 1 };
      default:
        return undefined;
    }
  },
  function svg(bytes, _view, type) {
    // Other text may contain such a tag, and numbers in it that are nobody else's business.
    if (type !== 'image/svg+xml') return undefined;
    // jsdom has loaded it, where there are images.
    const { SaxesParser } = require('saxes');
    /** @type {{ name: string, attributes: Record<string, string> } | undefined} */
    let root;
    const parser = new SaxesParser();
    parser.on('opentag', (/** @type {NonNullable<typeof root>} */ tag) => {
      root ??= tag;
    });
    parser.on('error', () => {
      root ??= { name: '', attributes: {} };
    });
    parser.write(new TextDecoder().decode(bytes.subarray(0, 4_096)));
    if (root?.name !== 'svg') return undefined;
    const { attributes } = root;
    const length = (/** @type {string} */ name, /** @type {number} */ fallback) => {
      const [, number, unit] = LENGTH.exec(attributes[name] ?? '') ?? [];
      return number === undefined ? fallback : Number(number) * (PIXELS[unit] ?? 1);
    };
    // The size of an image without one of its own: https://www.w3.org/TR/CSS21/visudet.html#inline-replaced-width
    return { width: Math.trunc(length('width', 300)), height: Math.trunc(length('height', 150)) };
  },
];

/**
 * @param {Uint8Array} bytes
 * @param {string} type the MIME type that they are served as
 * @returns {Size | undefined} `undefined` for bytes that are not an image of a known format, or are served as something
 *   else
 */
function imageSize(bytes, type) {
  if (!type.startsWith('image/') && !UNKNOWN_TYPES.has(type)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const read of FORMATS) {
    const size = read(bytes, view, type);
    if (size !== undefined) return size;
  }
  return undefined;
}

module.exports = { imageSize };
