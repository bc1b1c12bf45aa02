// From a URL's path to a file of the checkout, and never out of it.

import { join, sep } from 'node:path';

/** @returns {string | undefined} nothing for a path that leads elsewhere, or that is none */
export function resolveInside(root, pathname) {
  let path;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  if (path.includes('\0') || path.includes('\\')) return undefined;
  const base = root.endsWith(sep) ? root : root + sep;
  const file = join(base, path);
  return `${file}${sep}`.startsWith(base) ? file : undefined;
}
