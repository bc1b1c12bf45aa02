// The examples of the guide and of the package's README, run as a reader would: in a folder of its own, with
// @selfprof/page and jsdom installed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { jsdom } from './server.mjs';

const PACKAGES = fileURLToPath(new URL('../../', import.meta.url));

/** The files, with the headings above the example. */
const EXAMPLES = [
  [path.join(PACKAGES, '..', 'docs', 'pages.md'), 'Test pages that profile themselves'],
  [path.join(PACKAGES, 'page', 'README.md'), 'Example'],
];

/** The first block of a language below a heading. */
function blockOf(text, heading, language) {
  const section = text.slice(text.indexOf(`\n## ${heading}\n`));
  const block = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(section);
  assert.ok(block, `there is ${language} under ${heading}`);
  return block[1];
}

for (const [file, heading] of EXAMPLES) {
  test(`the example of ${path.relative(path.join(PACKAGES, '..'), file)} passes`, async (t) => {
    const text = await fs.readFile(file, 'utf8');
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'selfprof-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    await fs.mkdir(path.join(folder, 'node_modules', '@selfprof'), { recursive: true });
    await fs.symlink(path.join(PACKAGES, 'selfprof'), path.join(folder, 'node_modules', 'selfprof'));
    await fs.symlink(path.join(PACKAGES, 'page'), path.join(folder, 'node_modules', '@selfprof', 'page'));
    await fs.symlink(jsdom, path.join(folder, 'node_modules', 'jsdom'));
    await fs.writeFile(path.join(folder, 'list.html'), blockOf(text, heading, 'html'));
    await fs.writeFile(path.join(folder, 'list.test.mjs'), blockOf(text, heading, 'js'));
    // Without these, the inner test runner would report to the outer one.
    const { NODE_TEST_CONTEXT, SELFPROF_TEST_JSDOM, ...environment } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', 'list.test.mjs'], {
      cwd: folder,
      env: environment,
    });
    assert.match(stdout, /^# pass 1$/m);
    assert.match(stdout, /^# fail 0$/m);
  });
}
