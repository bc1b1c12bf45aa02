// Fetches what `selfprof doctor` looks at. Reads one JSON object from stdin: the URLs, what they are relative to, the origin of the page,
// and limits. Writes one JSON object per line for each URL: what was found, or why nothing was.

let text = '';
for await (const part of process.stdin.setEncoding('utf8')) text += part;
const { bases, urls, origin, limits } = JSON.parse(text);
const base = bases.reduce(
  (before, next) => (URL.canParse(next, before) ? new URL(next, before).href : before),
  undefined,
);

/** The headers that are looked at. Others may be secrets. */
const HEADERS = [
  'access-control-allow-origin',
  'content-security-policy',
  'content-type',
  'document-policy',
  'document-policy-report-only',
  'feature-policy',
  'permissions-policy',
  'sourcemap',
];

async function get(address) {
  const url = new URL(address, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(`${url.protocol} URLs are not looked at`);
  const headers = { 'user-agent': 'selfprof doctor', ...(origin === null ? {} : { origin }) };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(limits.milliseconds) });
  const found = {};
  for (const name of HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) found[name] = value;
  }
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limits.bytes) throw new Error(`it has more than ${limits.bytes >> 20} MiB`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks).toString();
  return { url: response.url, status: response.status, headers: found, body };
}

for (const address of urls) {
  const got = await get(address).catch((error) => ({
    url: URL.canParse(address, base) ? new URL(address, base).href : address,
    // The reason of a failed connection is its cause.
    error: error.name === 'TimeoutError' ? 'it took too long' : error.cause?.message || error.message,
  }));
  process.stdout.write(`${JSON.stringify(got)}\n`);
}
// Connections that are kept for further requests would keep the process.
process.stdout.write('', () => process.exit());
