// The plugin for all bundlers: after a bundle is written, it is instrumented into a folder of its own.

import path from 'node:path';

import { createUnplugin } from 'unplugin';

import { checkOptions } from './check-options.js';
import { instrumentFolder } from './instrument-folder.js';

export { instrumentFolder };

/** In messages of bundlers. */
const NAME = '@selfprof/instrument';

/** @typedef {{ environment?: { name: string, config: { root: string, build: { outDir: string } } } }} ViteContext */

/**
 * The folder that a bundler of Rollup's kind writes to.
 *
 * @param {{ dir?: string | undefined, file?: string | undefined }} options
 */
function folderOf({ dir, file }) {
  return path.resolve(dir ?? path.dirname(file ?? 'dist/bundle.js'));
}

/**
 * webpack and Rspack.
 *
 * @param {{ watchMode?: boolean | undefined, options: { output: { path?: string | undefined } }, hooks: { done: {
 *   tapPromise: Function } } }} compiler
 * @param {import('../index.d.ts').Options | undefined} options
 */
function instrumentWhenDone(compiler, options) {
  const { done } = compiler.hooks;
  done.tapPromise({ name: NAME, stage: 1000 }, async (/** @type {{ hasErrors(): boolean }} */ stats) => {
    const folder = compiler.options.output.path;
    if (folder !== undefined && !compiler.watchMode && !stats.hasErrors()) await instrumentFolder(folder, options);
  });
}

export default createUnplugin((/** @type {import('../index.d.ts').Options | undefined} */ options) => {
  // Before the build, and not only after it.
  checkOptions(options ?? {});
  const rollup = {
    writeBundle: {
      order: /** @type {const} */ ('post'),
      sequential: /** @type {const} */ (true),
      /**
       * @this {{ meta?: { watchMode?: boolean } }}
       * @param {{ dir?: string | undefined, file?: string | undefined }} output
       */
      async handler(output) {
        if (!this.meta?.watchMode) await instrumentFolder(folderOf(output), options);
      },
    },
  };
  /** @type {string | undefined} */
  let folder;
  return {
    name: NAME,
    vite: {
      apply: 'build',
      enforce: 'post',
      configResolved({ root, build }) {
        // What runs on a server needs no polyfill.
        folder = build.ssr || build.watch ? undefined : path.resolve(root, build.outDir);
      },
      // Other plugins write until the bundle is closed.
      closeBundle: {
        order: 'post',
        sequential: true,
        /** @param {unknown} [error] what failed, if something has */
        async handler(error) {
          const { environment } = /** @type {ViteContext} */ (/** @type {unknown} */ (this));
          if (folder === undefined || error || (environment && environment.name !== 'client')) return;
          if (environment) folder = path.resolve(environment.config.root, environment.config.build.outDir);
          await instrumentFolder(folder, options);
        },
      },
    },
    rollup,
    rolldown: rollup,
    webpack: (compiler) => instrumentWhenDone(compiler, options),
    rspack: (compiler) => instrumentWhenDone(compiler, options),
    esbuild: {
      setup(build) {
        const { outdir, outfile, write, absWorkingDir = process.cwd() } = build.initialOptions;
        build.onEnd(async ({ errors }) => {
          if (errors.length > 0 || write === false) return;
          await instrumentFolder(path.resolve(absWorkingDir, outdir ?? path.dirname(outfile ?? '.')), options);
        });
      },
    },
  };
});
