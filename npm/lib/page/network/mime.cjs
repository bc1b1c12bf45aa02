'use strict';

// Media types, as far as loading depends on them. https://mimesniff.spec.whatwg.org/

const path = require('node:path');

const JAVASCRIPT = new Set(
  ('application/ecmascript application/javascript application/x-ecmascript application/x-javascript text/ecmascript ' +
    'text/javascript text/javascript1.0 text/javascript1.1 text/javascript1.2 text/javascript1.3 text/javascript1.4 ' +
    'text/javascript1.5 text/jscript text/livescript text/x-ecmascript text/x-javascript').split(' '),
);

const BY_EXTENSION = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'application/xhtml+xml',
  '.xht': 'application/xhtml+xml',
  '.xml': 'text/xml',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.cjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.wasm': 'application/wasm',
};

/** `type/subtype` in lower case, or '' when there is none. */
function essence(type) {
  return (type ?? '').split(';')[0].trim().toLowerCase();
}

/** A parameter of a media type, unquoted, in lower case, or `undefined`. */
function charset(type) {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(type ?? '') ?? [];
  return (quoted ?? plain)?.toLowerCase();
}

function isJavaScript(type) {
  return JAVASCRIPT.has(essence(type));
}

function isJson(type) {
  return /^(application|text)\/json$|\+json$/.test(essence(type));
}

function isImageAudioVideoOrCsv(type) {
  return /^(image|audio|video)\/|^text\/csv$/.test(essence(type));
}

function isHtml(type) {
  return essence(type) === 'text/html';
}

function isXml(type) {
  return /^(text|application)\/xml$|\+xml$/.test(essence(type));
}

/** What a file on disk is served as. */
function typeOfFile(file) {
  return BY_EXTENSION[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
}

module.exports = { charset, essence, isHtml, isImageAudioVideoOrCsv, isJavaScript, isJson, isXml, typeOfFile };
