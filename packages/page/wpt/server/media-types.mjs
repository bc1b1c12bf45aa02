// Media types by file name extension.

const TYPES = {
  'application/json': ['json'],
  'application/wasm': ['wasm'],
  'application/xhtml+xml': ['xht', 'xhtml'],
  'application/xml': ['xml'],
  'audio/mpeg': ['mp3'],
  'audio/ogg': ['oga'],
  'audio/x-wav': ['wav'],
  'image/bmp': ['bmp'],
  'image/gif': ['gif'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/png': ['png'],
  'image/svg+xml': ['svg'],
  'text/css': ['css'],
  'text/event-stream': ['event_stream'],
  'text/html': ['htm', 'html'],
  'text/javascript': ['js', 'mjs'],
  'text/plain': ['txt', 'md'],
  'text/vtt': ['vtt'],
  'video/mp4': ['mp4', 'm4v'],
  'video/webm': ['webm'],
};

const BY_END = new Map(Object.entries(TYPES).flatMap(([type, ends]) => ends.map((end) => [end, type])));

export function mediaType(file) {
  return BY_END.get(/\.([^./]+)$/.exec(file)?.[1]) ?? 'application/octet-stream';
}
