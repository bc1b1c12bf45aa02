// The handlers that the tests here use. In the suite they are Python scripts.

import { setTimeout as delay } from 'node:timers/promises';

/** Handlers by path. They get the request's URL and headers, and change the response. */
const SCRIPTS = {
  '/common/redirect.py'({ url, headers }, response) {
    const { searchParams } = url;
    const location = searchParams.get('location');
    if (location === null) throw new Error('the location is missing');
    const status = Number(searchParams.get('status') ?? 302);
    response.status = Number.isInteger(status) && status >= 300 && status <= 399 ? status : 302;
    response.headers.push(['Location', toHeader(location)]);
    if (searchParams.has('enable-cors') && headers.origin !== undefined) {
      response.headers.push(['Content-Type', 'text/plain']);
      response.headers.push(['Access-Control-Allow-Origin', headers.origin]);
      response.headers.push(['Access-Control-Allow-Credentials', 'true']);
    }
  },
  '/common/echo.py'({ url }, response) {
    response.headers.push(['Content-Type', 'text/html']);
    response.body = Buffer.from(url.searchParams.get('content') ?? '');
  },
  async '/common/slow.py'({ url }) {
    const milliseconds = Number(url.searchParams.get('delay') ?? 2_000);
    await delay(Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 2_000, undefined, { ref: false });
  },
};

/** Header values are bytes: other characters than ASCII are sent as UTF-8, and line breaks are removed. */
function toHeader(text) {
  return Buffer.from(text.replace(/[\r\n\0]/g, '')).toString('latin1');
}

/** @returns {((request: object, response: object) => void | Promise<void>) | undefined} */
export function scriptAt(pathname) {
  return Object.hasOwn(SCRIPTS, pathname) ? SCRIPTS[pathname] : undefined;
}
