// The example in README.md, as its reader would try it: in a folder of its own, with selfprof and jsdom installed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { jsdom } from './server.mjs';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));
const README = path.join(PACKAGE, '..', 'README.md');

/** The first block of a language below a heading. */
function blockOf(text, heading, language) {
  const section = text.slice(text.indexOf(`\n## ${heading}\n`));
  const block = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm').exec(section);
  assert.ok(block, `README.md has ${language} under ${heading}`);
  return block[1];
}

test('the example of README.md passes', async (t) => {
  const text = await fs.readFile(README, 'utf8');
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'selfprof-'));
  t.after(() => fs.rm(folder, { recursive: true }));
  await fs.mkdir(path.join(folder, 'node_modules'));
  await fs.symlink(PACKAGE, path.join(folder, 'node_modules', 'selfprof'));
  await fs.symlink(jsdom, path.join(folder, 'node_modules', 'jsdom'));
  const heading = 'Test pages that profile themselves';
  await fs.writeFile(path.join(folder, 'list.html'), blockOf(text, heading, 'html'));
  await fs.writeFile(path.join(folder, 'list.test.mjs'), blockOf(text, heading, 'js'));
  // A runner within a runner would report to it.
  const { NODE_TEST_CONTEXT, SELFPROF_TEST_JSDOM, ...environment } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', 'list.test.mjs'], { cwd: folder, env: environment });
  assert.match(stdout, /^# pass 1$/m);
  assert.match(stdout, /^# fail 0$/m);
});
