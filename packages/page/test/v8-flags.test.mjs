// Flags of V8 that add functions to realms, or syntax to scripts.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';
import v8 from 'node:v8';
import vm from 'node:vm';

import { removeV8Extensions } from '../src/main-realm/v8-extensions.cjs';
import { runProgram } from './programs.mjs';
import { host, jsdom, openHtml } from './server.mjs';

const namesOf = (context) => vm.runInContext('Reflect.ownKeys(globalThis)', context);

suite('flags of V8', () => {
  test('that are not set leave the global names of this V8', () => {
    const context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
    const names = namesOf(context);
    removeV8Extensions(context);
    assert.deepEqual(namesOf(context), names);
  });

  test('give no realm of a page a function that writes files, whenever they are set', async (t) => {
    t.after(() => v8.setFlagsFromString('--no-expose-gc'));
    const kinds = async (page) => [
      await page.evaluate('typeof gc'),
      await page.evaluate(() => {
        const frame = document.body.appendChild(document.createElement('iframe'));
        return typeof frame.contentWindow.gc;
      }),
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            new Worker('data:text/javascript,postMessage(typeof gc)').onmessage = ({ data }) => resolve(data);
          }),
      ),
    ];
    const pages = host(t);
    const before = await openHtml(t, '<body>', { host: pages });
    v8.setFlagsFromString('--expose-gc');
    assert.equal(vm.runInNewContext('typeof gc'), 'function');
    assert.deepEqual(await kinds(before), Array(3).fill('undefined'));
    assert.deepEqual(await kinds(await openHtml(t, '<body>', { host: pages })), Array(3).fill('undefined'));
    const domRealm = "Headers.constructor('return typeof gc')()";
    assert.equal(
      await before.evaluate(`(() => { try { return ${domRealm}; } catch { return 'undefined'; } })()`),
      'undefined',
    );
  });

  test('that call that function something else give no realm one', async () => {
    const { stdout } = await runProgram(
      `const host = new PageHost({ jsdom });
      await host.open('about:blank').catch(({ message }) => console.log(message));
      await host.close();`,
      { flags: ['--expose-gc-as=escape'] },
    );
    assert.match(stdout, /as by --expose-gc-as/);
  });

  test('that leave errors without a stack keep no page from being opened', async () => {
    const { code, stdout, stderr } = await runProgram(
      `const host = new PageHost({ jsdom });
      const page = await host.open('about:blank');
      console.log(await page.evaluate(() => new Error('an error').stack));
      await host.close();`,
      { flags: ['--stack-trace-limit=0'] },
    );
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'Error: an error\n', stderr: '' });
  });

  test('for the size of heaps do not apply to pages, whenever they are set', async () => {
    for (const flag of ['--max-old-space-size=4096', '--max-heap-size=4096', '--max-semi-space-size=1024']) {
      for (const [flags, before] of [
        [[flag], ''],
        [[], `v8.setFlagsFromString('${flag}');`],
      ]) {
        const { stdout } = await runProgram(
          `import v8 from 'node:v8';
          const host = new PageHost({ jsdom, memoryLimit: 128 });
          ${before}
          const page = await host.open('about:blank');
          await page.evaluate('keep = []; for (;;) keep.push({ a: [1] });').catch(({ code }) => console.log(code));
          console.log(process.resourceUsage().maxRSS >> 10);
          await host.close();`,
          { flags },
        );
        const [code, megabytes] = stdout.split('\n');
        assert.equal(code, 'ERR_WORKER_OUT_OF_MEMORY', flag);
        assert.ok(Number(megabytes) < 1_000, `${flag}: ${megabytes} MB`);
      }
    }
  });

  test('for the size of heaps that are set while a page is opened do not apply to it, or it is not opened', async () => {
    for (const opening of ['host.open()', 'host.open("data:text/html,<iframe sandbox=allow-scripts></iframe>")']) {
      const { stdout } = await runProgram(
        `import v8 from 'node:v8';
        const host = new PageHost({ jsdom, memoryLimit: 128 });
        const opening = ${opening};
        v8.setFlagsFromString('--max-old-space-size=4096');
        try {
          const page = await opening;
          const filled = page.evaluate('keep = []; for (;;) keep.push({ a: [1] });');
          await filled.catch(({ code }) => console.log(code));
        } catch ({ message }) {
          console.log(message);
        }
        console.log(process.resourceUsage().maxRSS >> 10);
        await host.close();`,
      );
      const [outcome, megabytes] = stdout.split('\n');
      assert.match(outcome, /^(ERR_WORKER_OUT_OF_MEMORY|the heap of the page may have \d+ MB, because .*)$/);
      assert.ok(Number(megabytes) < 1_000, `${megabytes} MB`);
    }
  });

  test('by which scripts could end the process, or without WebAssembly, are refused', async () => {
    const program = `
      import { PageHost } from ${JSON.stringify(new URL('../index.mjs', import.meta.url))};
      try { new PageHost({ jsdom: ${JSON.stringify(jsdom)} }); } catch ({ message }) { console.log(message); }`;
    for (const [flag, message] of [
      ['--allow-natives-syntax', /V8 is run with --allow-natives-syntax.*\n\nhint: remove that flag\n$/],
      ['--jitless', /there is no WebAssembly, as with --jitless\n\nhint: remove that flag\n$/],
    ]) {
      const { stdout } = await promisify(execFile)(process.execPath, [flag, '--input-type=module', '-e', program]);
      assert.match(stdout, message);
    }
  });
});
