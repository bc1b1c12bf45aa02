import { defineConfig } from 'vite';

// `vite build` makes the module, and `vite build --mode script` the script for a <script> element.

export default defineConfig(({ mode }) => {
  const isScript = mode === 'script';
  return {
    build: {
      outDir: 'dist',
      emptyOutDir: false,
      // Browsers with a Profiler are newer. Where the script does nothing, it should not fail either.
      target: 'es2022',
      // Vite leaves the white space in modules.
      rolldownOptions: { output: { minify: true } },
      lib: {
        entry: 'src/index.ts',
        name: 'selfprof',
        formats: [isScript ? 'iife' : 'es'],
        fileName: () => (isScript ? 'selfprof.js' : 'index.js'),
      },
    },
  };
});
