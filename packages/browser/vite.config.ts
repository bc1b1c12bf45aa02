import { defineConfig } from 'vite';

// `vite build` makes the module, `vite build --mode script` the script for a <script> element, and `vite build --mode polyfill` and
// `vite build --mode tracing` the templates of the runtimes that instrumented pages load first.

const SCRIPTS: Record<string, { entry: string; fileName: string; declarations?: string }> = {
  script: { entry: 'src/index.ts', fileName: 'selfprof.js' },
  polyfill: {
    entry: 'src/polyfill/index.ts',
    fileName: 'polyfill.js',
    // Outside of the function around everything else, so that all scripts of the page see them.
    declarations: 'let SELFPROF_ACTIVE=false,SELFPROF_COUNTDOWN=0,SELFPROF_ENTER,SELFPROF_CHECK,SELFPROF_NATIVE;',
  },
  tracing: {
    entry: 'src/tracing/index.ts',
    fileName: 'tracing.js',
    declarations: 'let SELFPROF_ACTIVE=false,SELFPROF_ENTER,SELFPROF_EXIT,SELFPROF_FIRST;',
  },
};

export default defineConfig(({ mode }) => {
  const script = SCRIPTS[mode];
  return {
    build: {
      outDir: 'dist',
      emptyOutDir: false,
      // Browsers with a Profiler are newer. Where the script does nothing, it should not fail either.
      target: 'es2022',
      // Vite leaves the white space in modules.
      rolldownOptions: { output: { minify: true, postBanner: script?.declarations ?? '' } },
      lib: {
        entry: script?.entry ?? 'src/index.ts',
        name: 'selfprof',
        formats: [script ? 'iife' : 'es'],
        fileName: () => script?.fileName ?? 'index.js',
      },
    },
  };
});
