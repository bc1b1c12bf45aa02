// The server that tests are loaded from, where a page could not see it fail: what never leaves the checkout, and what
// is refused.

import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { readMetadata } from '../server/metadata.mjs';
import { resolveInside } from '../server/paths.mjs';
import { PipeError, applyPipes, parsePipes } from '../server/pipes.mjs';
import { TestServer, readOverlays } from '../server/server.mjs';
import { SubstitutionError, substitute } from '../server/substitution.mjs';
import { wrapperFor } from '../server/wrappers.mjs';

const REQUEST = {
  root: '/nowhere',
  url: new URL('http://web-platform.test:8000/a/b.html?x=%3C%22&x=2'),
  headers: { 'x-a': 'one' },
  ports: { http: [8000, 8001], https: [8443, 8444] },
};

describe('a path', () => {
  for (const [path, expected] of [
    ['/a/b.html', '/base/a/b.html'],
    ['/a%20b', '/base/a b'],
    ['/a/../b', '/base/b'],
    ['/', '/base/'],
    ['/../secret', undefined],
    ['/%2e%2e/secret', undefined],
    ['/a/..%2f..%2fsecret', undefined],
    ['/..%5csecret', undefined],
    ['/a%00b', undefined],
    ['/%zz', undefined],
  ]) {
    it(`${path} is ${expected}`, () => assert.equal(resolveInside('/base', path), expected));
  }

  it('does not lead into a folder whose name begins as the checkout’s does', () => {
    assert.equal(resolveInside('/base', '/../based/secret'), undefined);
  });
});

describe('substitution', () => {
  const check = (text, expected, escaping = 'none') =>
    assert.equal(substitute(Buffer.from(text), REQUEST, escaping).toString(), expected);

  it('knows hosts, ports, the location, the query and headers', () => {
    check(
      '{{host}} {{domains[www2]}} {{hosts[alt][]}}',
      'web-platform.test www2.web-platform.test not-web-platform.test',
    );
    check('{{ports[http][1]}} {{location[port]}} {{location[query]}}', '8001 8000 ?x=%3C%22&x=2');
    check('{{headers[x-a]}}{{headers[x-b]}}{{header_or_default(x-b, two)}}', 'onetwo');
    check('{{GET[x]}}', '<"');
    check('{{GET[x]}} {{location[query]}}', '&lt;&quot; ?x=%3C%22&amp;x=2', 'html');
  });

  it('keeps bytes that are no UTF-8, and takes names that are', () => {
    const bytes = substitute(
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{{domains[élève]}}é')]),
      REQUEST,
      'none',
    );
    assert.deepEqual(
      bytes,
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('xn--lve-6lad.web-platform.test'), Buffer.from('é')]),
    );
  });

  for (const text of [
    '{{}}',
    '{{nothing}}',
    '{{ports}}',
    '{{ports[ftp][0]}}',
    '{{ports[http][2]}}',
    '{{host[constructor]}}',
    '{{location[__proto__]}}',
    '{{uuid}}',
    '{{host()}}',
    '{{[a]}}',
    '{{$a}}',
    '{{constructor}}',
    '{{file_hash(crc, a)}}',
  ]) {
    it(`refuses ${text}`, () => assert.throws(() => substitute(Buffer.from(text), REQUEST, 'none'), SubstitutionError));
  }
});

describe('pipes', () => {
  it('are read with their parameters', () => {
    assert.deepEqual(parsePipes('sub|header(A,b\\, c)|gzip()'), [
      { name: 'sub', parameters: [] },
      { name: 'header', parameters: ['A', 'b, c'] },
      { name: 'gzip', parameters: [] },
    ]);
  });

  for (const text of [
    '(',
    'slice(1',
    'slice)',
    'sub||',
    'nothing',
    'constructor',
    'slice(x)',
    'sub(css)',
    'trickle(x)',
    'trickle(d1:r1)',
    'trickle(0:r1)',
  ]) {
    it(`refuses ${text}`, () => {
      const response = { status: 200, headers: [], body: Buffer.from('text') };
      assert.throws(() => applyPipes(response, text, REQUEST), PipeError);
    });
  }
});

describe('wrappers', () => {
  it('escape what they take from tests', () => {
    const { source, make } = wrapperFor('/a/<b>".any.html');
    assert.equal(source, '/a/<b>".any.js');
    const document = make('// META: title=</title><script>\n// META: script="><script>\n', '');
    assert.ok(!document.includes('<b>') && document.includes('<title>&lt;/title>&lt;script></title>'), document);
    assert.ok(document.includes('<script src="&quot;>&lt;script>"></script>'), document);
  });

  it('end the metadata at the first other line', () => {
    assert.deepEqual(readMetadata('// META: a=1\r\n//META: b = 2\n\n// META: c=3'), [['a', '1']]);
    assert.deepEqual(readMetadata('code'), []);
  });

  it('are for scripts alone', () => assert.equal(wrapperFor('/a.html'), undefined));
});

describe('the server', () => {
  let folder;
  let server;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'selfprof-wpt-'));
    await mkdir(join(folder, 'root/resources'), { recursive: true });
    await writeFile(join(folder, 'secret.txt'), 'secret');
    await writeFile(join(folder, 'root/broken.txt'), 'text');
    await writeFile(join(folder, 'root/broken.txt.headers'), 'X-A: a\nContent-Length: 1\nno header\nX-B:\n');
    await symlink(folder, join(folder, 'root/loop'));
    server = new TestServer(join(folder, 'root'), await readOverlays((test) => (test === 'a/slow.html?b' ? 12 : 2)));
    await server.listen();
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** Paths as they are written: `fetch` would resolve them. */
  function get(path, host = 'web-platform.test', headers = {}) {
    return new Promise((resolve, reject) => {
      const request = http.get(
        { host: '127.0.0.1', port: server.ports.http[0], path, headers: { host, ...headers } },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text) => (body += text));
          response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
        },
      );
      request.on('error', reject);
    });
  }

  for (const path of [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/missing/..%2f..%2fsecret.txt',
    '/%',
    '/root',
  ]) {
    it(`does not answer ${path}`, async () => assert.equal((await get(path)).status, 404));
  }

  it('listens on this machine alone', () =>
    assert.equal(
      server.addresses().every((address) => address === '127.0.0.1'),
      true,
    ));

  it('sends the headers beside a file, but those that are its own', async () => {
    const { status, headers, body } = await get('/broken.txt');
    assert.deepEqual(
      [status, headers['x-a'], headers['x-b'], headers['content-length'], body],
      [200, 'a', '', '4', 'text'],
    );
  });

  it('has its own report script, and refuses hosts that are none', async () => {
    assert.match((await get('/resources/testharnessreport.js')).body, /\}\)\(2\);\n$/);
    const slow = { referer: 'http://web-platform.test/a/slow.html?b' };
    assert.match((await get('/resources/testharnessreport.js', undefined, slow)).body, /\}\)\(12\);\n$/);
    assert.equal((await get('/broken.txt', 'a b')).status, 500);
  });
});
