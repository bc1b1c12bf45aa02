import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

// Each build makes one page: `vite build` the one at `/`, and `vite build --mode profile` that of a single profile.

const OUTPUT = 'dist';

/** Allows the inline scripts of the page by their hashes, so that no other script runs. */
function allowOwnScripts(page: string): Plugin {
  return {
    name: 'allow-own-scripts',
    writeBundle() {
      const file = join(import.meta.dirname, OUTPUT, page);
      const html = readFileSync(file, 'utf8');
      const hashes = [...html.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(
        ([, script]) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
      );
      const allowed = html.replace("script-src 'unsafe-inline'", `script-src ${hashes.join(' ')}`);
      if (hashes.length === 0 || allowed === html) throw new Error('the page has no script, or no policy');
      writeFileSync(file, allowed);
    },
  };
}

export default defineConfig(({ mode }) => {
  const page = mode === 'profile' ? 'profile.html' : 'index.html';
  return {
    plugins: [viteSingleFile({ removeViteModuleLoader: true }), allowOwnScripts(page)],
    build: {
      outDir: OUTPUT,
      // The other page stays.
      emptyOutDir: false,
      // The licences of the libraries in the page, for the notices of the program.
      license: { fileName: page.replace('.html', '.licenses.md') },
      rollupOptions: { input: join(import.meta.dirname, page) },
      target: 'es2023',
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      modulePreload: false,
    },
  };
});
