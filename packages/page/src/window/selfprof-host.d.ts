// What our modules in a window's realm find beside the page's own global object.

declare module 'selfprof:host' {
  const host: import('./contracts.js').WindowHost;
  export = host;
}

declare module 'selfprof:native' {
  const native: import('./contracts.js').WindowAddon;
  export = native;
}
