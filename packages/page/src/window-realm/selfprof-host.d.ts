// What our modules in a window's realm find beside the page's own global object.

declare module 'selfprof:host' {
  const host: import('../any-realm/realm-contracts.js').WindowHost;
  export = host;
}
