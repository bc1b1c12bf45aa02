'use strict';

// The URL of a document, as its page says it. Scripts change the URL of their document, but not its origin.
// https://html.spec.whatwg.org/multipage/nav-history-apis.html#can-have-its-url-rewritten

/** How long the URL of a document or a worker may be, in characters: as in Chromium. It is kept as long as they are there. */
const MAX_URL = 2 << 20;

/** What all URLs begin with that a document of the thread can have: its origin, or the folder of its file. */
const BEGINNING = /^(?:https?:\/\/[^/?#]*\/|file:\/\/\/(?:[^?#]*\/)?)/;

/**
 * @param {string} claimed by the page
 * @param {string} loaded which URL the outermost document of its thread was loaded from
 * @param {boolean} isInFrame whether it is a frame in that one
 * @returns {string} what the page says if that can be, or else where its document is from
 */
function credibleUrl(claimed, loaded, isInFrame) {
  // Frames may have documents that were not loaded.
  if (isInFrame && /^about:(?:blank|srcdoc)(?:[?#]|$)/.test(claimed)) return claimed;
  if (withoutFragment(claimed) === withoutFragment(loaded)) return claimed;
  const [beginning] = BEGINNING.exec(loaded) ?? [];
  if (beginning === undefined || !claimed.startsWith(beginning) || claimed.length > MAX_URL) return loaded;
  // It may not be serialized, and lead elsewhere.
  const url = URL.canParse(claimed) ? new URL(claimed).href : loaded;
  return url.startsWith(beginning) ? url : loaded;
}

/** The URL of a resource, whatever part of it is asked for. @param {string} url */
function withoutFragment(url) {
  const end = url.indexOf('#');
  return end === -1 ? url : url.slice(0, end);
}

module.exports = { MAX_URL, credibleUrl, withoutFragment };
