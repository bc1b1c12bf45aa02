// Uses the installed packages of the collector as their users would: in the working directory, with node, npx and
// little else on PATH. Argument: the version.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createInterface } from 'node:readline';

const [version] = process.argv.slice(2);
const LAUNCHER = 'node_modules/.bin/selfprof-collector';
const PLATFORM = 'node_modules/@selfprof/collector-linux-x64';

for (const name of ['@selfprof/collector', '@selfprof/collector-linux-x64']) {
  for (const file of ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md']) {
    assert.ok(fs.existsSync(`node_modules/${name}/${file}`), `${name} has ${file}`);
  }
}

const npx = (...words) => execFileSync('npx', ['--no-install', '@selfprof/collector', ...words], { encoding: 'utf8' });
assert.equal(npx('--version'), `selfprof-collector ${version}\n`);

// The launcher becomes the collector, which gets the signals of a supervisor.
const server = spawn(LAUNCHER, ['serve', '--data', 'data', '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(createInterface(server.stdout), 'line');
assert.match(fs.readlinkSync(`/proc/${server.pid}/exe`), /\/collector-linux-x64\/bin\/selfprof-collector$/);
const [url] = line.match(/http:\/\/\S+/);
const page = await (await fetch(url)).text();
assert.match(page, /^<!doctype html>/i);
assert.doesNotMatch(page, /built without its page/);
const profile = { frames: [], resources: [], samples: [{ timestamp: 1 }], stacks: [] };
const body = JSON.stringify({ app: 'shop', release: '1', page: '/', session: 's', trace: profile });
const answer = await fetch(new URL('/v1/profiles', url), { method: 'POST', body });
assert.equal(answer.status, 202, await answer.text());
server.kill('SIGTERM');
const [code, signal] = await once(server, 'exit');
assert.deepEqual([code, signal], [0, null]);

// What its users read when it cannot start.
const fails = (...options) => {
  const { status, stderr } = spawnSync('node', [...options, LAUNCHER, '--version'], { encoding: 'utf8' });
  assert.equal(status, 1);
  return stderr;
};
assert.match(
  fails('--import', 'data:text/javascript,delete process.execve'),
  /hint: use Node.js 22.15 or newer, or run \/\S+\/bin\/selfprof-collector\n/,
);
fs.renameSync(PLATFORM, 'elsewhere');
assert.match(fails(), /collector-linux-x64, .* is not installed\n\nhint: .*--omit=optional/);
