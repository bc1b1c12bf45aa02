// The guide in docs/, built as a site by `cargo xtask docs`. A link to a page, a heading or a file that does not exist
// fails the build.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const DOCS = fileURLToPath(new URL('..', import.meta.url));
const ROOT = path.dirname(path.resolve(DOCS));
const REPOSITORY = 'https://github.com/selfprof/selfprof';

/** A heading's id as GitHub makes it, so that links to headings work in both places. */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** Files outside of docs/ are linked to in the repository. */
function linkToRepository(markdown) {
  markdown.core.ruler.push('repository-links', (state) => {
    const links = state.tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open');
    for (const link of links) {
      const href = link.attrGet('href');
      if (/^([a-z]+:|#)/.test(href)) continue;
      const [name, heading] = href.split('#');
      const file = path.resolve(DOCS, path.dirname(state.env.relativePath), name);
      if (file.startsWith(path.resolve(DOCS) + path.sep)) continue;
      if (!fs.existsSync(file)) throw new Error(`${state.env.relativePath} links to ${href}, which does not exist`);
      const url = `${REPOSITORY}/blob/main/${path.relative(ROOT, file)}`;
      link.attrSet('href', heading ? `${url}#${heading}` : url);
    }
  });
}

/** VitePress checks that linked pages exist, but not their headings. */
function checkHeadings({ outDir, pages }) {
  const page = (file) => fs.readFileSync(path.join(outDir, file), 'utf8');
  const problems = [];
  for (const name of pages.map((file) => file.replace(/\.md$/, '.html'))) {
    for (const [, target, heading] of page(name).matchAll(/href="([^":#]*)#([^"]+)"/g)) {
      const file = target ? path.posix.relative('/', path.posix.resolve('/', path.dirname(name), target)) : name;
      if (!page(file).includes(`id="${decodeURIComponent(heading)}"`)) {
        problems.push(`${name} links to ${target}#${heading}, which does not exist`);
      }
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

const page = (text, link) => ({ text, link });

export default defineConfig({
  title: 'selfprof',
  description: 'The W3C JS Self-Profiling API for Node.js, for tests of pages, and for browsers without it',
  outDir: '../target/docs',
  cacheDir: '../target/docs-cache',
  markdown: { anchor: { slugify }, config: linkToRepository },
  buildEnd: checkHeadings,
  themeConfig: {
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    outline: [2, 3],
    sidebar: [
      { text: 'Contents', link: '/' },
      {
        text: 'Profile a program',
        items: [
          page('Record', '/programs'),
          page('Read the result', '/results'),
          page('Profile formats', '/formats'),
          page('The API', '/api'),
          page('Marks and measures', '/user-timing'),
          page('Limits', '/limits'),
        ],
      },
      {
        text: 'Test pages',
        items: [page('Pages without a browser', '/pages'), page('Security', '/security')],
      },
      {
        text: 'Profile your users',
        items: [
          page('Overview', '/users'),
          page('Agents', '/agents'),
          page('Browsers without the API', '/polyfill'),
          page('The collector', '/collector'),
          page('Scale', '/scale'),
        ],
      },
      {
        text: 'Reference',
        items: [page('Conformance', '/spec-conformance'), page('Benchmarks', '/benchmarks')],
      },
      { text: 'Contributing', items: [page('Facts about V8 and Chromium', '/contributing/facts')] },
    ],
  },
});
