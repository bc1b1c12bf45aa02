// A copy of the tests' folders that `selfprof instrument` has instrumented, beside the rest of the checkout.

import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { wrapperFor } from '../server/wrappers.mjs';

/** What tests load from elsewhere, which is not instrumented. */
const SHARED = ['resources', 'common', 'interfaces'];

/**
 * @param {{ root: string, folder: string, program: string, npm: string, tests: { id: string }[] }} job `folder` is an
 *   empty one
 * @returns {Promise<string>} the folder to serve
 */
export async function instrumentedTree({ root, folder, program, npm, tests }) {
  const [plain, output] = ['plain', 'instrumented'].map((name) => path.join(folder, name));
  const files = tests.map(({ id }) => id.replace(/[?#].*/, ''));
  for (const top of new Set(files.map((file) => file.split('/')[0])))
    await fs.cp(path.join(root, top), path.join(plain, top), { recursive: true });
  // Documents that the server would make cannot be instrumented later.
  for (const file of files) await writeDocument(root, plain, file);
  await promisify(execFile)(program, ['instrument', '--json', `--output=${output}`, '--', plain], {
    env: { ...process.env, SELFPROF_NPM: npm },
    maxBuffer: 1 << 26,
  });
  for (const name of SHARED) {
    const target = path.join(output, name);
    await fs.rm(target, { recursive: true, force: true });
    await fs.symlink(path.join(root, name), target);
  }
  return output;
}

async function writeDocument(root, plain, file) {
  const wrapper = wrapperFor(`/${file}`);
  const target = path.join(plain, file);
  if (wrapper === undefined || (await fs.stat(target).catch(() => undefined))) return;
  const text = await fs.readFile(path.join(root, wrapper.source), 'utf8');
  await fs.writeFile(target, wrapper.make(text, ''));
  const headers = await fs.readFile(path.join(root, `${wrapper.source}.headers`)).catch(() => undefined);
  if (headers) await fs.writeFile(`${target}.headers`, headers);
}
