import { defineConfig } from 'vite';

// `vite build` makes the module, `vite build --mode script` the script for a <script> element, and
// `vite build --mode polyfill` and `vite build --mode tracing` the templates of the runtimes that instrumented pages
// load first.

const BUILDS: Record<string, { entry: string; fileName: string; before?: string; after?: string }> = {
  // In one function, so that `selfprof instrument` finds all of it in a bundle and leaves it out.
  production: { entry: 'src/index.ts', fileName: 'index.js', after: 'export const{init}=selfprof;' },
  script: { entry: 'src/index.ts', fileName: 'selfprof.js' },
  polyfill: {
    entry: 'src/polyfill/index.ts',
    fileName: 'polyfill.js',
    // Outside of the function around everything else, so that all scripts of the page see them.
    before:
      'let SELFPROF_LEAVE=v=>(SELFPROF_CHECK?.(),v),SELFPROF_NATIVE=v=>(SELFPROF_CHECK?.native(),v),' +
      'SELFPROF_SCAN=v=>(SELFPROF_CHECK?.scan(),v),SELFPROF_RESUME=v=>(SELFPROF_ENTER?.resume(),v);',
  },
  tracing: {
    entry: 'src/tracing/index.ts',
    fileName: 'tracing.js',
    before: 'let SELFPROF_ACTIVE=false,SELFPROF_ENTRY,SELFPROF_EXIT,SELFPROF_FIRST;',
  },
};

export default defineConfig(({ mode }) => {
  const { entry, fileName, before = '', after = '' } = BUILDS[mode];
  return {
    build: {
      outDir: 'dist',
      emptyOutDir: false,
      // Browsers with a Profiler are newer. Where the script does nothing, it should not fail either.
      target: 'es2022',
      rolldownOptions: { output: { postBanner: before, postFooter: after, generatedCode: { symbols: false } } },
      lib: {
        entry,
        name: 'selfprof',
        formats: ['iife'],
        fileName: () => fileName,
      },
    },
  };
});
