// What users do with pages and their elements: names and options are Playwright's.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

import { host, open, openHtml, serve } from './server.mjs';

/** A script that notes the events of an element in `events`. */
const NOTE = `<script>
  const events = [];
  const note = (target, ...types) => types.forEach((type) => target.addEventListener(type, (event) => events.push(
    [event.type, event.button, event.detail, event.key].filter((part) => part !== undefined).join(' '))));
</script>`;

suite('an element', () => {
  test('is clicked as by a mouse', async (t) => {
    const page = await openHtml(
      t,
      `${NOTE}<button>go</button><script>
      const button = document.querySelector('button');
      let last;
      note(button, 'mouseover', 'mousedown', 'focus', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu');
      button.addEventListener('click', (event) => { last = event; });
      const taken = () => events.splice(0).join();</script>`,
    );
    await page.click('button');
    assert.equal(await page.evaluate('taken()'), 'mouseover 0 1,mousedown 0 1,focus 0,mouseup 0 1,click 0 1');
    await page.dblclick('button');
    assert.equal(
      await page.evaluate('taken()'),
      'mouseover 0 1,mousedown 0 1,mouseup 0 1,click 0 1,mousedown 0 2,mouseup 0 2,click 0 2,dblclick 0 2',
    );
    await page.click('button', { button: 'right' });
    assert.equal(
      await page.evaluate('taken()'),
      'mouseover 0 1,mousedown 2 1,contextmenu 2 1,mouseup 2 1,auxclick 2 1',
    );
    await page.click('button', { modifiers: ['Shift', 'Control'], position: { x: 3, y: 4 } });
    assert.deepEqual(
      await page.evaluate('[last.shiftKey, last.ctrlKey, last.altKey, last.clientX, last.clientY, last.isTrusted]'),
      [true, true, false, 3, 4, true],
    );
    await assert.rejects(page.click('button', { button: 'fourth' }), { message: 'there is no mouse button fourth' });
  });

  test('is awaited: until it is there, visible and enabled', async (t) => {
    const page = await openHtml(t, '<body>');
    await page.evaluate(() => {
      const button = Object.assign(document.createElement('button'), { disabled: true, hidden: true });
      button.onclick = () => button.remove();
      setTimeout(() => document.body.append(button), 50);
      setTimeout(() => (button.hidden = false), 100);
      setTimeout(() => (button.disabled = false), 150);
    });
    await page.click('button');
    assert.equal(await page.locator('button').count(), 0);
    await page.setContent('<button disabled>off</button><p hidden>gone</p><input readonly>');
    for (const [action, what] of [
      [() => page.click('#none', { timeout: 100 }), /^click of #none took longer than 100 ms: no element is found$/],
      [() => page.click('button', { timeout: 100 }), /the element is disabled$/],
      [() => page.hover('p', { timeout: 100 }), /the element is not visible$/],
      [() => page.fill('input', 'x', { timeout: 100 }), /the element is not editable$/],
      [() => page.textContent('#none', { timeout: 50 }), /no element is found$/],
    ])
      await assert.rejects(action(), (error) => error.name === 'TimeoutError' && what.test(error.message));
    await page.click('p', { force: true });
    assert.equal(await page.textContent('p'), 'gone');
  });

  test('is awaited without a limit if the timeout is 0', async (t) => {
    const page = await openHtml(t, '<body>', { host: host(t, { timeout: 0 }), timeout: 0 });
    const clicked = page.click('button', { timeout: 0 });
    await page.waitForFunction('true', undefined, { timeout: 0 });
    const event = page.waitForEvent('console', { timeout: 0 });
    const moved = page.waitForURL('**#moved', { timeout: 0 });
    await page.evaluateIn({ timeout: 0 }, () => {
      document.body.innerHTML = '<button onclick="console.log(1); location.hash = \'moved\'">';
    });
    await Promise.all([clicked, event, moved]);
  });

  test('takes text', async (t) => {
    const page = await openHtml(
      t,
      `${NOTE}<label>Name <input id="name" value="old"></label><textarea></textarea><p contenteditable>old</p>
      <input type="date"><input type="checkbox">
      <script>note(document.querySelector('#name'), 'focus', 'keydown', 'input', 'change');</script>`,
    );
    await page.fill('#name', 'Ada');
    assert.deepEqual(await page.evaluate('events.splice(0)'), ['focus 0', 'input 0', 'change']);
    await page.type('#name', '!?');
    assert.equal(await page.inputValue('#name'), 'Ada!?');
    assert.deepEqual(await page.evaluate('events.splice(0)'), ['keydown 0 !', 'input 0', 'keydown 0 ?', 'input 0']);
    await page.press('#name', 'Backspace');
    await page.press('#name', 'Shift+X');
    await page.press('#name', 'Control+a');
    await page.press('#name', '+');
    assert.equal(await page.inputValue('label'), 'Ada!X+');
    assert.deepEqual(
      (await page.evaluate('events.splice(0)')).filter((event) => event.startsWith('key')),
      ['Backspace', 'Shift', 'X', 'Control', 'a', '+'].map((key) => `keydown 0 ${key}`),
    );
    await assert.rejects(page.press('#name', 'NoKey'), { message: 'there is no key NoKey' });
    await page.type('#name', 'ab', { delay: 20 });
    assert.equal(await page.inputValue('#name'), 'Ada!X+ab');
    await page.fill('text=Name', 'by label');
    await page.fill('textarea', 'a\nb');
    await page.fill('p', 'new');
    await page.fill('input[type=date]', '2020-02-03');
    assert.deepEqual(
      [await page.inputValue('#name'), await page.inputValue('textarea'), await page.textContent('p')],
      ['by label', 'a\nb', 'new'],
    );
    await assert.rejects(page.fill('input[type=date]', 'today'), { message: /today is no value/ });
    await assert.rejects(page.fill('input[type=checkbox]', 'x'), { message: /checkbox cannot be filled/ });
    await assert.rejects(page.fill('#name', 5), { name: 'TypeError' });
  });

  test('is checked, and has options', async (t) => {
    const page = await openHtml(
      t,
      `${NOTE}<label><input type="checkbox">box</label><input type="radio" name="r"><input type="checkbox" id="stubborn">
      <select id="one"><option value="a">First<option value="b">Second</select>
      <select id="many" multiple><option>1<option>2<option>3<option disabled>4</select>
      <script>
        document.querySelector('#stubborn').onclick = (event) => event.preventDefault();
        note(document.querySelector('#one'), 'input', 'change');
        setTimeout(() => document.querySelector('#one').append(new Option('Later', 'c')), 100);
      </script>`,
    );
    await page.check('text=box');
    await page.check('label input');
    assert.equal(await page.isChecked('label'), true);
    await page.uncheck('label input');
    assert.equal(await page.isChecked('label input'), false);
    await page.setChecked('input[type=radio]', true);
    assert.equal(await page.isChecked('input[type=radio]'), true);
    await assert.rejects(page.check('#stubborn'), { message: 'a click has not checked the element' });
    await assert.rejects(page.check('select'), { message: /neither a checkbox nor a radio button/ });

    assert.deepEqual(await page.selectOption('#one', 'Later'), ['c']);
    assert.deepEqual(await page.selectOption('#one', { index: 1 }), ['b']);
    assert.deepEqual(await page.selectOption('#one', { label: 'First' }), ['a']);
    assert.deepEqual(await page.selectOption('#one', 'a'), ['a']);
    assert.deepEqual(await page.evaluate('events'), ['input', 'change', 'input', 'change', 'input', 'change']);
    assert.deepEqual(await page.selectOption('#many', ['3', '1']), ['1', '3']);
    assert.deepEqual(await page.selectOption('#many', null), []);
    await assert.rejects(page.selectOption('#many', '4', { timeout: 50 }), { message: /the option is disabled$/ });
  });

  test('is read', async (t) => {
    const page = await openHtml(
      t,
      `<div id="a" title="t" data-x="y"> one <b>two</b><i hidden>three</i></div><button disabled>off</button><input>
      <p style="display: none">p</p>`,
    );
    assert.equal(await page.textContent('#a'), ' one twothree');
    assert.equal(await page.innerText('#a'), 'one two');
    assert.equal(await page.innerHTML('#a'), ' one <b>two</b><i hidden="">three</i>');
    assert.deepEqual([await page.getAttribute('#a', 'data-x'), await page.getAttribute('#a', 'none')], ['y', null]);
    assert.deepEqual(
      [await page.isVisible('#a'), await page.isVisible('p'), await page.isHidden('p'), await page.isVisible('#none')],
      [true, false, true, false],
    );
    assert.deepEqual(
      [await page.isDisabled('button'), await page.isEnabled('input'), await page.isEditable('input')],
      [true, true, true],
    );
    await assert.rejects(page.inputValue('#a'), { message: 'the div has no value' });
  });

  test('has the focus, is under the mouse, and gets events', async (t) => {
    const page = await openHtml(
      t,
      `${NOTE}<input><script>note(document.querySelector('input'), 'focus', 'blur', 'mouseover', 'mouseenter', 'custom');</script>`,
    );
    await page.focus('input');
    await page.blur('input');
    await page.hover('input');
    await page.dispatchEvent('input', 'custom');
    assert.deepEqual(await page.evaluate('events'), ['focus 0', 'blur 0', 'mouseover 0 1', 'mouseenter 0 1', 'custom']);
  });

  test('is found by CSS, XPath and text, in others', async (t) => {
    const page = await openHtml(
      t,
      `<ul><li>Apple pie<li>apple<li><b>Cherry</b> <i>x</i></ul><ol><li>apple</ol><p title=">>">q</p><script>'apple'</script>`,
    );
    const count = (selector) => page.locator(selector).count();
    assert.deepEqual(
      [await count('li'), await count('xpath=//ul/li'), await count('//ul/li'), await count('text=APPLE')],
      [4, 3, 3, 3],
    );
    assert.deepEqual([await count('text="apple"'), await count("'apple'"), await count('ul >> text=apple')], [2, 2, 2]);
    assert.deepEqual(
      [await count('ol >> //li'), await count('[title=">>"]'), await count('li >> nth=2 >> b')],
      [1, 1, 1],
    );
    const list = page.locator('ul').locator('li');
    assert.deepEqual(
      [await list.first().textContent(), await list.last().innerText(), await list.nth(1).textContent()],
      ['Apple pie', 'Cherry x', 'apple'],
    );
    assert.deepEqual(await list.allTextContents(), ['Apple pie', 'apple', 'Cherry x']);
    assert.equal((await list.all()).length, 3);
    await assert.rejects(list.click(), {
      message: 'strict mode violation: the selector finds 3 elements; choose one with first(), last() or nth()',
    });
    await assert.rejects(page.click('li', { strict: true }), { message: /strict mode violation/ });
    assert.equal(await page.textContent('li'), 'Apple pie');
    for (const bad of ['li:nope', '//[', 'xpath=//li/text()'])
      await assert.rejects(page.click(bad), { code: 'invalid selector' });
    await assert.rejects(page.click(5), { name: 'TypeError' });
  });

  test('can be in a frame, also of another origin', async (t) => {
    const foreign = await serve(t, { '/': '<button onclick="this.textContent += 1">f</button>' });
    const page = await openHtml(
      t,
      `<iframe src="${foreign.url('/')}"></iframe><iframe srcdoc="<button>s</button>"></iframe>`,
    );
    for (const { frame, url, parent } of await page.frames()) {
      if (parent === undefined) continue;
      await page.click('button', { frame });
      assert.equal(await page.textContent('button', { frame }), url.startsWith('http') ? 'f1' : 's');
    }
  });
});

suite('a page', () => {
  const routes = {
    '/': '<title>one</title><a href="/two">next</a>',
    '/two': '<title>two</title><script>history.replaceState(null, "", "/two?")</script>',
    '/three': '<title>three</title>',
  };

  test('goes to documents, back and forward', async (t) => {
    const server = await serve(t, routes);
    const page = await open(t, 'about:blank');
    assert.equal(await page.goBack(), null);
    const { status, url, headers } = await page.goto(server.url('/'));
    assert.deepEqual([status, url], [200, server.url('/')]);
    assert.ok(headers.some(([name, value]) => name === 'content-type' && value.startsWith('text/html')));
    // A click waits for the document that it leads to.
    await page.click('text=next');
    assert.deepEqual([page.url, await page.title()], [server.url('/two'), 'two']);
    await page.navigate(server.url('/three'));
    assert.equal((await page.goBack()).status, 200);
    assert.equal(await page.title(), 'two');
    await page.goBack();
    assert.equal(await page.title(), 'one');
    assert.equal((await page.goForward()).url, server.url('/two'));
    await page.goForward();
    assert.equal(await page.goForward(), null);
    await page.evaluate('window.kept = 1');
    assert.equal((await page.reload({ waitUntil: 'domcontentloaded' })).url, server.url('/three'));
    assert.equal(await page.evaluate('typeof kept'), 'undefined');
    await assert.rejects(page.goto('http://127.0.0.1:1/'), { name: 'NetworkError' });
    await assert.rejects(page.goto(server.url('/'), { waitUntil: 'never' }), { name: 'TypeError' });
  });

  test('has the URL that a document gives itself', async (t) => {
    const page = await openHtml(t, '');
    await page.evaluate(() => history.pushState({}, '', '/pushed'));
    assert.equal(page.url, page.server.url('/pushed'));
    await page.evaluate(() => (location.hash = 'part'));
    assert.equal(page.url, page.server.url('/pushed#part'));
    assert.equal((await page.frames())[0].url, page.url);
    await page.waitForURL('**/pushed#part');
  });

  test('shows HTML that it is given', async (t) => {
    const page = await openHtml(t, '<p>first', { routes: { '/x.js': 'window.x = location.pathname' } });
    await page.setContent('<!DOCTYPE html><title>é</title><script src="x.js"></script><p>second');
    assert.equal(page.url, page.server.url('/'));
    assert.equal(await page.evaluate('x'), '/');
    assert.equal(
      await page.content(),
      '<!DOCTYPE html><html><head><title>é</title><script src="x.js"></script></head><body><p>second</p></body></html>',
    );
    await page.setContent('<frameset>');
    assert.equal(await page.content(), '<html><head></head><frameset></frameset></html>');
  });

  test('runs scripts before those of its documents and frames', async (t) => {
    const foreign = await serve(t, { '/': '<script>parent.postMessage(window.added, "*")</script>' });
    const server = await serve(t, {
      '/': `<script>
          var seen = [window.added, localStorage.length];
          onmessage = ({ data }) => seen.push(data);
        </script>
        <iframe src="/frame"></iframe><iframe src="${foreign.url('/')}"></iframe>`,
      '/frame': '<script>parent.seen.push(window.added)</script>',
      '/next': '<script>var seen = [window.added]</script>',
    });
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.writeFileSync(path.join(folder, 'init.js'), 'window.added.push("file")');
    const page = await open(t, 'about:blank');
    await page.addInitScript(
      (first) => {
        window.added = [first.name];
      },
      { name: 'function' },
    );
    await page.addInitScript('window.added.push("text")');
    await page.addInitScript({ path: path.join(folder, 'init.js') });
    await page.addInitScript('throw new Error("of the script")');
    assert.equal(await page.evaluate('typeof added'), 'undefined');
    await page.goto(server.url('/'));
    await page.waitForFunction('seen.length === 4');
    const added = ['function', 'text', 'file'];
    const [own, items, ...others] = await page.evaluate('seen');
    assert.deepEqual([own, items, ...others], [added, 0, added, added]);
    assert.ok(page.errors.some(({ message }) => message === 'Uncaught Error: of the script'));
    await page.goto(server.url('/next'));
    assert.deepEqual(await page.evaluate('seen'), [added]);
    await assert.rejects(page.addInitScript(5), { name: 'TypeError' });
  });

  test('is awaited', async (t) => {
    let answer;
    const server = await serve(t, {
      ...routes,
      '/slow': '<img src="/image">',
      '/image': () => new Promise((resolve) => (answer = () => resolve(''))),
    });
    const page = await open(t, server.url('/'));
    assert.equal(await page.waitForFunction((n) => n * 2, 4), 8);
    await page.evaluate('setTimeout(() => { window.ready = { a: new Date(3) } }, 100)');
    assert.deepEqual(await page.waitForFunction('window.ready'), { a: new Date(3) });
    await assert.rejects(page.waitForFunction('false', undefined, { timeout: 60, polling: 10 }), {
      name: 'TimeoutError',
    });
    await assert.rejects(page.waitForFunction('null.x'), { name: 'PageError' });

    await page.evaluate(() => setTimeout(() => document.body.append(document.createElement('hr')), 60));
    const rule = await page.waitForSelector('hr');
    await page.evaluate(() => setTimeout(() => (document.querySelector('hr').style.display = 'none'), 60));
    assert.equal(await page.waitForSelector('hr', { state: 'hidden' }), null);
    await page.waitForSelector('hr', { state: 'attached' });
    await page.evaluate(() => setTimeout(() => document.querySelector('hr').remove(), 60));
    await rule.waitFor({ state: 'detached' });
    await assert.rejects(rule.waitFor({ timeout: 50 }), { message: /waiting for hr to be visible.*it is not there$/ });
    await assert.rejects(page.waitForSelector('p', { state: 'gone' }), { name: 'TypeError' });

    const [event] = await Promise.all([
      page.waitForEvent('console', ({ text }) => text === 'two'),
      page.evaluate('console.log("one"); console.log("two"); console.log("three")'),
    ]);
    assert.equal(event.text, 'two');
    await assert.rejects(page.waitForEvent('load', { timeout: 20 }), { name: 'TimeoutError' });
    assert.equal(page.listenerCount('load'), 0);

    const there = page.waitForURL('**/three');
    await page.evaluate('setTimeout(() => { location.href = "/three" }, 60)');
    await there;
    assert.equal(await page.title(), 'three');
    await page.evaluate('setTimeout(() => history.pushState(null, "", "/pushed?a=1"), 60)');
    await page.waitForURL(/a=1$/);
    await page.waitForURL(({ pathname }) => pathname === '/pushed');
    await page.waitForURL('/{pushed,other}**');
    await assert.rejects(page.waitForURL('**/never', { timeout: 60 }), { message: /^waiting for the URL \*\*\/never/ });

    await page.goto(server.url('/slow'), { waitUntil: 'commit' });
    await page.waitForLoadState('domcontentloaded');
    await assert.rejects(page.waitForLoadState('load', { timeout: 60 }), { name: 'TimeoutError' });
    const loaded = page.waitForLoadState();
    await page.waitForFunction('document.images.length === 1');
    answer();
    await loaded;
    await page.waitForLoadState('networkidle');
  });

  test('is acted on though it navigates meanwhile', async (t) => {
    let answer;
    const server = await serve(t, {
      '/': '<script>setTimeout(() => { location.href = "/next" }, 100)</script>',
      '/next': () => new Promise((resolve) => (answer = () => resolve('<button onclick="this.textContent = 1">'))),
    });
    const page = await open(t, server.url('/'));
    const click = page.click('button');
    while (answer === undefined) await page.evaluate('1');
    answer();
    await click;
    assert.equal(await page.textContent('button'), '1');
  });

  test('that ends fails what waits for it', async (t) => {
    const page = await host(t).open();
    const waiting = [page.click('#none'), page.waitForEvent('load'), page.waitForFunction('false')];
    const results = Promise.allSettled(waiting);
    await page.close();
    assert.deepEqual(
      (await results).map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
  });

  test('has cookies', async (t) => {
    const server = await serve(t, {
      '/': ({ headers: { cookie = '' } }) => ({
        body: cookie,
        headers: { 'set-cookie': 'own=1; HttpOnly; Max-Age=100' },
      }),
    });
    const page = await open(t, server.url('/'));
    const [own, ...others] = await page.cookies();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [own.name, own.value, own.domain, own.path, own.httpOnly, own.secure, own.sameSite],
      ['own', '1', '127.0.0.1', '/', true, false, 'Lax'],
    );
    assert.ok(own.expires > Date.now() / 1_000);
    await page.addCookies([
      { name: 'a', value: '1' },
      { name: 'b', value: '2', url: server.url('/'), sameSite: 'Strict' },
    ]);
    await page.setCookies({ name: 'c', value: '3', domain: '127.0.0.1', path: '/' });
    assert.equal(await page.evaluate('document.cookie'), 'a=1; b=2; c=3');
    await page.reload();
    assert.equal(await page.textContent('body'), 'own=1; a=1; b=2; c=3');
    assert.deepEqual(await page.cookies(['http://other.test/', 'about:blank']), []);
    await assert.rejects(page.addCookies([{ name: 'a', value: 'b;c' }]), { name: 'TypeError' });
    await assert.rejects(page.addCookies([{ name: 'a', value: 'b', domain: 'x.test' }]), { name: 'TypeError' });
    await assert.rejects(page.addCookies([{ name: '__Secure-a', value: 'b' }]), { name: 'TypeError' });
  });
});
