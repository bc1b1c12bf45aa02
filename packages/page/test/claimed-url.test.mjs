import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { suite, test } from 'node:test';

const require = createRequire(import.meta.url);
const { credibleUrl } = require('../src/any-realm/claimed-url.cjs');

const PAGE = 'http://page.test:8080/folder/page.html';
const FILE = 'file:///folder/site/page.html';

suite('the URL that a document claims', () => {
  for (const [loaded, claimed, believed] of [
    [PAGE, `${PAGE}#fragment`, `${PAGE}#fragment`],
    [PAGE, 'http://page.test:8080/other', 'http://page.test:8080/other'],
    [PAGE, 'http://page.test:8080/a b', 'http://page.test:8080/a%20b'],
    [PAGE, 'http://page.test:8080/a/../b', 'http://page.test:8080/b'],
    [PAGE, 'http://page.test/', PAGE],
    [PAGE, 'http://page.test:8080@other.test/', PAGE],
    [PAGE, 'http://page.test:8080/\uffff'.padEnd((2 << 20) + 1, 'x'), PAGE],
    [FILE, 'file:///folder/site/inner/other.html', 'file:///folder/site/inner/other.html'],
    [FILE, 'file:///folder/site/../other.html', FILE],
    [FILE, 'file:///folder/site/%2e%2e/other.html', FILE],
    [FILE, 'file:///folder/site/.\t./other.html', FILE],
    [FILE, 'file:///folder/site/..\\other.html', FILE],
    ['data:text/html,x', 'data:text/html,y', 'data:text/html,x'],
  ])
    test(`${claimed.slice(0, 60)}, of a page from ${loaded}`, () => {
      assert.equal(credibleUrl(claimed, loaded, false), believed);
    });

  test('may be that of an empty document in frames only', () => {
    for (const claimed of ['about:blank', 'about:srcdoc', 'about:blank?x']) {
      assert.equal(credibleUrl(claimed, PAGE, true), claimed);
      assert.equal(credibleUrl(claimed, PAGE, false), PAGE);
    }
    assert.equal(credibleUrl('about:secret', PAGE, true), PAGE);
  });
});
