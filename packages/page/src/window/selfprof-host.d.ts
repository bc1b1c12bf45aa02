// What our modules in a window's realm find beside the page's own global object.

declare module 'selfprof:host' {
  /** That of a window lacks what only workers need. */
  const host: import('./contracts.js').WorkerHost;
  export = host;
}

declare module 'selfprof:native' {
  const native: import('./contracts.js').WindowAddon;
  export = native;
}

declare module 'selfprof:named-operations' {
  /** Functions that call those of `originals` with their names; `noting` converts the handlers of timers. */
  export function namedOperations(
    originals: Record<string, (...parameters: any[]) => unknown>,
    noting: (handler: unknown) => unknown,
  ): Record<string, (...parameters: any[]) => unknown>;
}
