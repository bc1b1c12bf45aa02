// Pages that choose between plain and instrumented scripts.
//
// The first script of the page decides. In sessions that were chosen, it writes a script element for the runtime; and
// before each element that loads a plain script, another script writes the element of the instrumented one, and the
// start of a comment, which ends behind the plain element. In all other sessions nothing is written: the plain elements
// stay where they are, where the browser finds them in advance.

/** Pages that choose already are left alone. */
const MARK = 'data-selfprof-chooser';

/**
 * A value in a script in HTML: neither the script nor a comment can end in it.
 *
 * @param {unknown} value
 */
const literal = (value) => JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('-->', '--\\u003e');

/**
 * The decision whether a session is profiled. With the name of an application, it is the record that
 * `@selfprof/browser` keeps and reads: packages/browser/src/session.ts.
 *
 * @param {import('../index.d.ts').Options} options
 */
function decision({ app, sampleRate = 0.1 }) {
  const rate = literal(sampleRate);
  if (app === undefined) {
    return `k='selfprof.instrumented',v=s.getItem(k);if(v==null)s.setItem(k,v=+(Math.random()<${rate}));v=+v;`;
  }
  const id = "Array.from(crypto.getRandomValues(new Uint32Array(4)),n=>n.toString(36)).join('')";
  return (
    `k=${literal(`selfprof.${app}`)},v=JSON.parse(s.getItem(k));` +
    `if(!v)s.setItem(k,JSON.stringify(v={id:${id},rate:Math.random()<${rate}?${rate}:0,told:[]}));` +
    'v=v.rate>0&&!navigator.globalPrivacyControl;'
  );
}

/**
 * The script that decides. Whatever fails, such as a storage that is forbidden, the plain scripts run. They also run in
 * browsers older than the syntax of the runtime: those have no `Array.prototype.at`.
 *
 * @param {string} runtime the element that loads the runtime
 * @param {import('../index.d.ts').Options} options
 */
function chooser(runtime, options) {
  const native = 'try{new Profiler({sampleInterval:100,maxBufferSize:1}).stop();v=0}catch(e){}';
  const isUsable =
    (options.when ?? (options.mode === 'trace' ? 'always' : 'no-api')) === 'always' ? '' : `if(v)${native}`;
  return `(()=>{try{let s=sessionStorage,${decision(options)}${isUsable}if(v&&[].at){document.write(${literal(runtime)});self.selfprofIsChosen=1}}catch(e){}})()`;
}

/**
 * A page that chooses, or `undefined` for one that does so already.
 *
 * @param {Buffer} plain the page
 * @param {import('./summary.d.ts').Page} page what is known of it
 * @param {import('../index.d.ts').Options} options
 */
export function choosingPage(plain, { head, nonce, runtime, scripts }, options) {
  if (plain.includes(MARK)) return undefined;
  const attribute = (/** @type {string} */ name, /** @type {string} */ value) =>
    ` ${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')}"`;
  const ofNonce = nonce === null ? '' : attribute('nonce', nonce);
  const element = `<script${attribute('src', runtime)}${ofNonce}></script>`;
  const parts = [plain.subarray(0, head), `<script ${MARK}${ofNonce}>${chooser(element, options)}</script>`];
  let from = head;
  for (const { start, end, instrumented } of scripts) {
    // A script before the head runs before anything is chosen.
    if (start < from) continue;
    const written = literal(`${instrumented}<!--`);
    parts.push(plain.subarray(from, start));
    parts.push(`<script${ofNonce}>self.selfprofIsChosen&&document.write(${written})</script>`);
    parts.push(plain.subarray(start, end), '<!---->');
    from = end;
  }
  parts.push(plain.subarray(from));
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}
