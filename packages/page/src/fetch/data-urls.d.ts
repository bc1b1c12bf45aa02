// The package data-urls, which has no types: what data-url.cjs uses of it.

declare module 'data-urls' {
  export function fromURLRecord(url: { scheme: string; [member: string]: unknown }): {
    mimeType: import('whatwg-mimetype').MIMEType;
    body: Uint8Array;
  } | null;
}
