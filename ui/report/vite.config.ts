import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    outDir: '../../packages/selfprof/report',
    emptyOutDir: true,
    // The licences of the libraries in the page.
    license: { fileName: 'THIRD-PARTY-NOTICES.md' },
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: false,
  },
});
