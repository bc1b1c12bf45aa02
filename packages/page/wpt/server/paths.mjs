// Maps the path of a URL to a file in the checkout, and never to a file outside.

import { join, sep } from 'node:path';

/** @returns {string | undefined} undefined for a path that is invalid or leads outside */
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
