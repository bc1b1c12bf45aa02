'use strict';

// In place of tough-cookie, which takes long to load. Documents of windows have the cookies of the page host
// (documents.cjs). jsdom makes a jar of its own for any other document; such a document has no cookies.
// https://html.spec.whatwg.org/multipage/dom.html#cookie-averse-document-object

class CookieJar {
  getCookieStringSync() {
    return '';
  }

  setCookieSync() {}
}

module.exports = { CookieJar };
