// A site whose pages have the agent, a browser that visits it, and what receives its profiles. SELFPROF_TEST_CHROMIUM
// and SELFPROF_TEST_COLLECTOR are the paths of the two programs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import puppeteer from 'puppeteer-core';

const { SELFPROF_TEST_CHROMIUM: chromium, SELFPROF_TEST_COLLECTOR: program } = process.env;

/** In milliseconds. Chromium is slow to start on a busy machine. */
export const TIMEOUT = 60_000;

const DIST = path.join(import.meta.dirname, '..', 'dist');

export const SCRIPT = fs.readFileSync(path.join(DIST, 'selfprof.js'), 'utf8');

/** Code of the pages: functions with names that a profile shows. */
const APPLICATION = `
  function busyWork(ms) { for (const end = performance.now() + ms; performance.now() < end; ); }
  function onClick() { busyWork(300); }
  function atStart() { busyWork(100); }
  atStart();
  addEventListener('DOMContentLoaded', () => document.querySelector('button')?.addEventListener('click', onClick));
`;

/** A browser that keeps pages for Back, and is closed when the test ends. */
export async function launch(t, { args = [] } = {}) {
  const browser = await puppeteer.launch({
    executablePath: chromium,
    headless: true,
    // Chromium's sandbox does not work in most containers. Only our own pages are opened.
    args: ['--no-sandbox', '--enable-features=BackForwardCache', ...args],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    env: { ...process.env, LC_ALL: 'en_US.UTF-8' },
    timeout: TIMEOUT,
  });
  t.after(() => browser.close());
  return browser;
}

async function listen(t, server, port = 0) {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

/**
 * A site. `options` are those of the agent, as the text of an object. `headers(path)` are those of its pages,
 * `body(path)` their content, and `files` what else it has.
 */
export async function startSite(
  t,
  { options, headers = () => ALLOWED, body = () => '<button>Click</button>', files = {} },
) {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const file = pathname === '/selfprof.js' ? SCRIPT : pathname === '/app.js' ? APPLICATION : files[pathname];
    if (file !== undefined) {
      response.setHeader('content-type', 'text/javascript');
      response.end(file);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html', ...headers(pathname) });
    response.end(`<!doctype html><html lang="en"><head><title>${pathname}</title>
      <script src="/selfprof.js"></script>
      <script>globalThis.agent = selfprof.init(${options})</script>
      <script src="/app.js"></script></head><body>${body(pathname)}</body></html>`);
  });
  return await listen(t, server);
}

export const ALLOWED = { 'document-policy': 'js-profiling' };

/** Receives profiles, and remembers them. `answer` is the status of its answers. */
export async function startReceiver(t) {
  const receiver = { uploads: [], requests: [], preflights: 0, answer: 202 };
  const server = http.createServer(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    if (request.method !== 'POST') {
      receiver.preflights++;
      response.end();
      return;
    }
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const sent = Buffer.concat(chunks);
    const isGzip = sent[0] === 0x1f && sent[1] === 0x8b;
    const text = (isGzip ? gunzipSync(sent) : sent).toString();
    receiver.requests.push({ bytes: sent.length, isGzip, headers: request.headers, text });
    if (receiver.answer === 202) receiver.uploads.push(...text.split('\n').map((line) => JSON.parse(line)));
    response.writeHead(receiver.answer).end('{}');
  });
  receiver.url = await listen(t, server);
  receiver.profiles = () => {
    const byId = new Map(receiver.uploads.filter(({ trace }) => trace).map((upload) => [upload.id, upload]));
    return [...byId.values()];
  };
  receiver.coverage = () => receiver.uploads.filter(({ coverage }) => coverage);
  return receiver;
}

/** A collector. `stop`, `kill` and `start` end and begin it on the same port, with the same data. */
export async function startCollector(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'selfprof-browser-'));
  let child;
  let listening = '127.0.0.1:0';
  const collector = {
    async start() {
      child = spawn(program, ['serve', '--listen', listening, '--data', folder], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = await once(readline.createInterface(child.stdout), 'line');
      [, listening] = /http:\/\/(\S+)/.exec(line);
      collector.url = `http://${listening}/`;
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, 'exit');
    },
    async ask(question, parameters) {
      const response = await fetch(`${collector.url}api/v1/${question}?${new URLSearchParams(parameters)}`);
      return await response.json();
    },
  };
  await collector.start();
  t.after(async () => {
    await collector.end('SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return collector;
}

/** Waits until something is so. */
export async function until(isSo, what = isSo.toString()) {
  for (const end = Date.now() + TIMEOUT; ; await sleep(50)) {
    const value = await isSo();
    if (value) return value;
    if (Date.now() > end) throw new Error(`this did not happen: ${what}`);
  }
}

/** The functions that run in the samples of profiles. */
export function functionsOf(profiles) {
  const names = new Set();
  for (const { trace } of profiles)
    for (const { stackId } of trace.samples)
      for (let id = stackId; id !== undefined; id = trace.stacks[id].parentId)
        names.add(trace.frames[trace.stacks[id].frameId].name);
  return names;
}
