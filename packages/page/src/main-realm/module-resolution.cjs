'use strict';

// Resolves what modules of the DOM realm require, as a bundler for browsers does: with the condition `browser` and the manifest field
// `browser`, because that realm has none of Node's modules.
// https://nodejs.org/api/esm.html#resolution-algorithm-specification

const fs = require('node:fs');
const path = require('node:path');

const CONDITIONS = { cjs: new Set(['browser', 'require', 'default']), esm: new Set(['browser', 'import', 'default']) };

/**
 * The members of a package.json that resolution reads.
 *
 * @typedef {object} Manifest
 * @property {string} [name]
 * @property {string} [type]
 * @property {string} [main]
 * @property {string | Record<string, string | false>} [browser]
 * @property {Target} [exports]
 * @property {Record<string, Target>} [imports]
 */

/** @typedef {{ [condition: string]: Target }} Conditions */
/** @typedef {string | null | Conditions | TargetList} Target */
/** @typedef {Array<string | null | Conditions>} TargetList */

/** Manifests by folder, `null` where there is none. Packages do not change while a page is open. @type {Map<string, Manifest | null>} */
const manifests = new Map();

/** @param {string} folder @returns {Manifest | null} */
function manifestIn(folder) {
  const known = manifests.get(folder);
  if (known !== undefined) return known;
  /** @type {Manifest | null} */
  let manifest = null;
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  } catch {
    // There is none, or it is damaged.
  }
  manifests.set(folder, manifest);
  return manifest;
}

/** The package that a file belongs to: the nearest folder with a manifest that has a name. @param {string} file */
function packageOf(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest !== null && manifest.name !== undefined) return { folder, manifest };
    if (folder === path.dirname(folder)) throw new Error(`${file} belongs to no package`);
  }
}

/** @param {string} file */
function isFile(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/** The file that a path means in CommonJS, which adds extensions. @param {string} wanted */
function complete(wanted) {
  const found = [wanted, `${wanted}.js`, `${wanted}.json`, path.join(wanted, 'index.js')].find(isFile);
  if (found === undefined) throw new Error(`there is no file ${wanted}`);
  return found;
}

/** The first target whose conditions are met. @param {Target | undefined} target @param {Set<string>} conditions @returns {string | undefined} */
function choose(target, conditions) {
  if (typeof target === 'string') return target;
  if (Array.isArray(target)) return choose(target[0], conditions);
  for (const [condition, inner] of Object.entries(target ?? {})) {
    const chosen = conditions.has(condition) ? choose(inner, conditions) : undefined;
    if (chosen !== undefined) return chosen;
  }
  return undefined;
}

/**
 * Looks a subpath up in `exports` or `imports`.
 *
 * @param {Target} table
 * @param {string} subpath
 * @param {Set<string>} conditions
 */
function lookUp(table, subpath, conditions) {
  const hasSubpaths =
    typeof table === 'object' && !Array.isArray(table) && Object.keys(table ?? {}).some((key) => /^[.#]/.test(key));
  const entries = hasSubpaths ? /** @type {Record<string, Target>} */ (table) : { '.': table };
  if (Object.hasOwn(entries, subpath)) return choose(entries[subpath], conditions);
  for (const [pattern, target] of Object.entries(entries)) {
    const [before, after] = pattern.split('*');
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) continue;
    return choose(target, conditions)?.replaceAll('*', subpath.slice(before.length, subpath.length - after.length));
  }
  return undefined;
}

/** The file that the manifest's `browser` field names in place of another one. @param {string} file */
function forBrowsers(file) {
  const { folder, manifest } = packageOf(file);
  if (typeof manifest.browser !== 'object') return file;
  const other = manifest.browser[`./${path.relative(folder, file).replaceAll(path.sep, '/')}`];
  return typeof other === 'string' ? complete(path.join(folder, other)) : file;
}

/**
 * @param {string} name
 * @param {string} from the file that requires it
 */
function folderOfPackage(name, from) {
  for (let folder = path.dirname(from); ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules', name);
    // Where packages are linked, their dependencies are beside their real paths.
    if (manifestIn(candidate) !== null) return fs.realpathSync(candidate);
    if (folder === path.dirname(folder))
      throw new Error(`the package ${name}, which ${from} requires, is not installed`);
  }
}

/**
 * @param {string} specifier what is required or imported
 * @param {string} from the file that does, an absolute path
 * @param {'cjs' | 'esm'} kind of that file
 * @returns {string} an absolute path
 */
function resolve(specifier, from, kind) {
  const conditions = CONDITIONS[kind];
  if (/^\.{0,2}\//.test(specifier)) return forBrowsers(complete(path.resolve(path.dirname(from), specifier)));
  if (specifier.startsWith('#')) {
    const { folder, manifest } = packageOf(from);
    const target = lookUp(manifest.imports ?? {}, specifier, conditions);
    if (target === undefined) throw new Error(`${from} requires ${specifier}, which its package does not define`);
    return path.join(folder, target);
  }
  const match = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier);
  if (match === null) throw new Error(`${from} requires '${specifier}', which names no module`);
  const [, name, subpath] = match;
  const folder = folderOfPackage(name, from);
  const manifest = manifestIn(folder) ?? {};
  // A trailing slash says that the package is meant and not Node's module of the same name.
  const inner = subpath === undefined || subpath === '/' ? '.' : `.${subpath}`;
  if (manifest.exports !== undefined) {
    const target = lookUp(manifest.exports, inner, conditions);
    if (target === undefined) throw new Error(`${name} does not export ${inner}, which ${from} requires`);
    return forBrowsers(path.join(folder, target));
  }
  if (inner !== '.') return forBrowsers(complete(path.join(folder, inner)));
  const main = typeof manifest.browser === 'string' ? manifest.browser : manifest.main;
  return forBrowsers(complete(path.join(folder, main ?? 'index.js')));
}

/** @param {string} file @returns {'cjs' | 'esm' | 'json'} what it is compiled as */
function kindOf(file) {
  if (file.endsWith('.json')) return 'json';
  if (file.endsWith('.cjs')) return 'cjs';
  if (file.endsWith('.mjs')) return 'esm';
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest !== null) return manifest.type === 'module' ? 'esm' : 'cjs';
    if (folder === path.dirname(folder)) return 'cjs';
  }
}

module.exports = { kindOf, resolve };
