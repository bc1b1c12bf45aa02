// Runs a program in a new Node process: for tests of preloads, exits and crashes.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The package `selfprof`. */
export const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
/** The package with the addons and the command-line program for this platform. */
export const NATIVE = fileURLToPath(new URL(`../../native-${process.platform}-${process.arch}/`, import.meta.url));
/** What programs require to see which threads V8 samples. */
export const SAMPLER_THREADS = fileURLToPath(new URL('./sampler-threads.cjs', import.meta.url));
export const REGISTER = fileURLToPath(new URL('../register.cjs', import.meta.url));

/**
 * Runs a program to its end.
 *
 * @param {string} source CommonJS
 * @param {{ execArgv?: string[], env?: Record<string, string>, cwd?: string, patience?: number, onStart?: (child) =>
 *   void }} [options] `patience` is in milliseconds; a program that takes longer is killed, which then shows in its
 *   result
 * @returns {Promise<{ code: number | null, signal: string | null, stdout: string, stderr: string }>}
 */
export function runProgram(source, { execArgv = ['--require', REGISTER], env = {}, ...options } = {}) {
  return runNode([...execArgv, '--eval', source], { env, ...options });
}

/** As `runProgram`, with all arguments of `node`. */
export function runNode(args, { env = {}, cwd, patience = 60_000, onStart } = {}) {
  const inherited = { ...process.env };
  for (const name of Object.keys(inherited)) {
    if (name.startsWith('SELFPROF_') || name === 'NODE_OPTIONS' || name === 'NODE_TEST_CONTEXT') delete inherited[name];
  }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => (output[name] += text));
    }
    const hung = setTimeout(() => child.kill('SIGKILL'), patience);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(hung);
      resolve({ code, signal, ...output });
    });
    onStart?.(child);
  });
}
