// Files of the checkout as responses: with the headers that lie beside them, and what their names and queries ask for.

import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { mediaType } from './media-types.mjs';
import { resolveInside } from './paths.mjs';
import { applyPipes } from './pipes.mjs';
import { substitute } from './substitution.mjs';
import { wrapperFor } from './wrappers.mjs';

const IS_MARKUP = /\.(html?|xht(ml)?|xml|svg)$/;

async function readIfThere(file) {
  try {
    return await readFile(file);
  } catch (error) {
    if (['ENOENT', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG'].includes(error.code)) return undefined;
    throw error;
  }
}

/** `NAME.headers`, or `NAME.sub.headers`, in which substitutions are made. */
async function headersIn(name, request) {
  const substituted = await readIfThere(`${name}.sub.headers`);
  const content =
    substituted === undefined ? await readIfThere(`${name}.headers`) : substitute(substituted, request, 'none');
  if (content === undefined) return [];
  const lines = content.toString('latin1').split(/\r?\n/);
  return lines
    .filter((line) => line.includes(':'))
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    });
}

/** The headers of the folder, then those of the file. If two have the same name, the later one counts. */
async function headersOf(file, request) {
  const all = [...(await headersIn(join(dirname(file), '__dir__'), request)), ...(await headersIn(file, request))];
  return [...new Map(all.map(([name, value]) => [name.toLowerCase(), [name, value]])).values()];
}

async function contentOf(pathname, request) {
  const file = resolveInside(request.root, pathname);
  if (file === undefined) return undefined;
  const content = (await stat(file).catch(() => undefined))?.isFile() === true ? await readIfThere(file) : undefined;
  if (content !== undefined) return { file, content, type: mediaType(file), name: pathname };
  const wrapper = wrapperFor(pathname);
  if (wrapper === undefined) return undefined;
  const source = resolveInside(request.root, wrapper.source);
  const text = source === undefined ? undefined : await readIfThere(source);
  if (text === undefined) return undefined;
  // A wrapper has the headers of what it wraps, and is no file in which anything is substituted.
  return {
    file: source,
    content: Buffer.from(wrapper.make(text.toString(), request.url.search)),
    type: wrapper.type,
    name: '',
  };
}

/**
 * @param {{ root: string, url: URL, headers: Record<string, string>, ports: Record<string, number[]> }} request
 * @returns {Promise<object | undefined>} a response as `applyPipes` takes it; nothing when there is no such file
 */
export async function fileResponse(request) {
  const { pathname, searchParams } = request.url;
  const found = await contentOf(pathname, request);
  if (found === undefined) return undefined;
  const headers = await headersOf(found.file, request);
  if (!headers.some(([name]) => name.toLowerCase() === 'content-type')) headers.unshift(['Content-Type', found.type]);
  const response = { status: 200, headers, body: found.content };
  if (/\.sub\./.test(found.name))
    response.body = substitute(response.body, request, IS_MARKUP.test(found.name) ? 'html' : 'none');
  const pipes = searchParams.getAll('pipe').at(-1);
  if (pipes !== undefined && pipes !== '') applyPipes(response, pipes, request);
  return response;
}
