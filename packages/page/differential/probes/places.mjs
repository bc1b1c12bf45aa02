// The names and places of functions in traces, by how they are written and by where their code comes from.

import { probes } from '../page/probe.mjs';
import { addScript, answer, atEnd, frameWith, later } from '../page/surroundings.mjs';
import {
  browserFunctions,
  firstStack,
  sampledStacks,
  sampledTraces,
  shortUrl,
  showFrame,
  start,
} from '../page/profiling.mjs';

const file = 'places';
/** Without the policy there is no profiler, and isolation changes no name and no place. */
const PROFILING = ['policy'];

/** The stacks of the calls of `sample` that a script makes. */
async function stacksOf(text, attributes = {}) {
  await addScript({ src: answer('script.js', text), ...attributes });
  return await sampledStacks();
}

/** Ways to write a function that calls `sample`. */
const WRITTEN = {
  'a declaration': 'function declared() { sample(); }\ndeclared();',
  'a declaration, indented': '\n\n    function declared() { sample(); } declared();',
  'an expression without a name': 'const named = function () { sample(); };\nnamed();',
  'an expression with a name': 'const other = function own() { sample(); };\nother();',
  'an arrow': 'const arrow = () => sample();\narrow();',
  'an arrow with a parameter': 'const arrow = (a) => sample(a);\narrow();',
  'an arrow without parentheses': 'const arrow = a => sample(a);\narrow();',
  'an anonymous function that is called': '(function () { sample(); })();',
  'an anonymous arrow that is called': '(() => { sample(); })();',
  'a method': 'const object = {\n  method() { sample(); },\n};\nobject.method();',
  'a method with a computed name': "const object = {\n  ['com' + 'puted']() { sample(); },\n};\nobject.computed();",
  'a method with a name that is a symbol':
    "const key = Symbol('text');\nconst object = { [key]() { sample(); } };\nobject[key]();",
  'a method with a number as its name': 'const object = { 5() { sample(); } };\nobject[5]();',
  'a method with a text as its name': "const object = { 'a b'() { sample(); } };\nobject['a b']();",
  'a property': 'const object = { property: function () { sample(); } };\nobject.property();',
  'a property that is an arrow': 'const object = { property: () => sample() };\nobject.property();',
  'an assigned property': 'const object = {};\nobject.assigned = function () { sample(); };\nobject.assigned();',
  'an assigned property of a path': 'const a = { b: {} };\na.b.assigned = () => sample();\na.b.assigned();',
  'an item': 'const list = [() => sample()];\nlist[0]();',
  'a getter': 'const object = { get attribute() { sample(); return 1; } };\nobject.attribute;',
  'a setter': 'const object = { set attribute(value) { sample(); } };\nobject.attribute = 1;',
  'a constructor': 'class Class { constructor() { sample(); } }\nnew Class();',
  'a constructor of a subclass':
    'class Base {}\nclass Class extends Base { constructor() { super(); sample(); } }\nnew Class();',
  'a constructor function': 'function Constructor() { sample(); }\nnew Constructor();',
  'a method of a class': 'class Class {\n  method() { sample(); }\n}\nnew Class().method();',
  'a static method': 'class Class { static method() { sample(); } }\nClass.method();',
  'a private method': 'class Class { #method() { sample(); } run() { this.#method(); } }\nnew Class().run();',
  'a getter of a class': 'class Class { get attribute() { sample(); return 1; } }\nnew Class().attribute;',
  'a field': 'class Class { field = sample(); }\nnew Class();',
  'a field that is an arrow': 'class Class { field = () => sample(); }\nnew Class().field();',
  'a static field': 'class Class { static field = sample(); }',
  'a static block': 'class Class { static { sample(); } }',
  'an async function': 'async function asynchronous() { sample(); }\nasynchronous();',
  'an async arrow': 'const asynchronous = async () => { sample(); };\nasynchronous();',
  'an async method': 'const object = { async method() { sample(); } };\nobject.method();',
  'a generator': 'function* generator() { sample(); yield 1; }\ngenerator().next();',
  'a generator method': 'const object = { *method() { sample(); } };\nobject.method().next();',
  'an async generator': 'async function* generator() { sample(); yield 1; }\ngenerator().next();',
  'a default value of a parameter': 'function defaults(value = sample()) {}\ndefaults();',
  'a default export': 'sample();',
  'a function in a function': 'function outer() {\n  function inner() { sample(); }\n  inner();\n}\nouter();',
  'a function that was bound': 'function bound() { sample(); }\nbound.bind(null)();',
  'a function that is called by apply': 'function applied() { sample(); }\napplied.apply(null, []);',
  'a function with a changed name':
    "function before() { sample(); }\nObject.defineProperty(before, 'name', { value: 'after' });\nbefore();",
  'a function with a deleted name': 'function before() { sample(); }\ndelete before.name;\nbefore();',
  'a static property name': 'class Class { static name = "other"; static method() { sample(); } }\nClass.method();',
  'a name that is not Latin': 'function größe名() { sample(); }\ngröße名();',
  'a name with an escape': 'function n\\u0061me() { sample(); }\nname === undefined; n\\u0061me();',
  'a long name': `function ${'long'.repeat(300)}() { sample(); }\n${'long'.repeat(300)}();`,
  'a name with a dollar': 'function $_1() { sample(); }\n$_1();',
  'the top of a script': 'sample();',
  'after CRLF': 'const a = 1;\r\nfunction declared() { sample(); }\r\ndeclared();',
  'after CR': 'const a = 1;\rfunction declared() { sample(); }\rdeclared();',
  'after a line separator': 'const a = 1;\u2028function declared() { sample(); }\u2028declared();',
  'after characters outside of the BMP': "const a = '😀😀'; function declared() { sample(); }\ndeclared();",
  'after a byte order mark': '\ufefffunction declared() { sample(); }\ndeclared();',
  'after a comment': '/* a\n comment */ function declared() { sample(); }\ndeclared();',
  'parentheses around': 'const named = (function () { sample(); });\nnamed();',
  'a comma before': 'const named = (0, function () { sample(); });\nnamed();',
  'a logical assignment': 'let named;\nnamed ??= function () { sample(); };\nnamed();',
  'destructuring with a default': 'const { named = () => sample() } = {};\nnamed();',
  'a conditional': 'const named = true ? () => sample() : null;\nnamed();',
  'an argument': 'function call(work) { work(); }\ncall(() => sample());',
  'a callback of forEach': '[1].forEach(function each() { sample(); });',
  'a callback of map': '[1].map(() => sample());',
  'a callback of sort':
    '[2, 1].sort((a, b) => { if (!globalThis.once) sample(); globalThis.once = 1; return a - b; }); delete globalThis.once;',
  'a callback of replace': "'a'.replace(/a/, () => { sample(); return ''; });",
  'a callback of JSON.stringify': 'JSON.stringify({ toJSON() { sample(); return 1; } });',
  'a callback of Array.from': 'Array.from([1], () => sample());',
  'a callback of reduce': '[1, 2].reduce(() => sample());',
  'a callback of a promise executor': 'new Promise(function executor() { sample(); });',
  'a trap of a proxy': 'new Proxy({}, { get() { sample(); } }).any;',
  valueOf: '+{ valueOf() { sample(); return 1; } };',
  toString: 'String({ toString() { sample(); return 1; } });',
  'Symbol.iterator':
    'const [] = { *[Symbol.iterator]() {} }; [...{ [Symbol.iterator]() { sample(); return [][Symbol.iterator](); } }];',
  'Symbol.toPrimitive': '`${{ [Symbol.toPrimitive]() { sample(); return 1; } }}`;',
  'Symbol.hasInstance': '1 instanceof { [Symbol.hasInstance]() { sample(); return true; } };',
  'a tag of a template': 'function tag() { sample(); }\ntag`text`;',
  'Reflect.apply': 'function applied() { sample(); }\nReflect.apply(applied, null, []);',
  'Reflect.construct': 'function Constructor() { sample(); }\nReflect.construct(Constructor, []);',
};
for (const [how, text] of Object.entries(WRITTEN)) {
  // Blocks keep the names of one probe out of the next one's.
  probes(
    'a function',
    { [how]: () => stacksOf(/^(class|const|let)/m.test(text) ? `{${text}}` : text) },
    { file, variants: PROFILING },
  );
}

/**
 * Calls of the browser's functions that call back: the function of the page, and what stands between it and its caller.
 */
const CALLED_BACK = {
  'a listener of the page':
    "document.addEventListener('own', function listener() { sample(); }, { once: true });\ndocument.dispatchEvent(new Event('own'));",
  'a listener object':
    "document.addEventListener('own', { handleEvent() { sample(); } }, { once: true });\ndocument.dispatchEvent(new Event('own'));",
  'a click':
    "const button = document.createElement('button');\nbutton.onclick = function clicked() { sample(); };\nbutton.click();",
  'a callback of an iterator of nodes':
    'document.createTreeWalker(document.body, NodeFilter.SHOW_ALL, function accept() { if (!globalThis.once) sample(); globalThis.once = 1; return 1; }).nextNode(); delete globalThis.once;',
  'detail of a mark': "performance.mark('m', { get detail() { sample(); return 1; } });",
  'the length of a list': 'performance.mark({ toString() { sample(); return "m"; } });',
  'structuredClone of a getter': 'structuredClone({ get own() { sample(); return 1; } });',
  'a constructor of a custom element':
    'const name = `x-${Math.random().toString(36).slice(2)}`;\ncustomElements.define(name, class Own extends HTMLElement { constructor() { super(); sample(); } });\ndocument.createElement(name);',
  'a callback of a custom element':
    'const name = `x-${Math.random().toString(36).slice(2)}`;\ncustomElements.define(name, class extends HTMLElement { connectedCallback() { sample(); } });\nconst element = document.createElement(name);\ndocument.body.append(element);\nelement.remove();',
  'the options of a profiler':
    'new Profiler({ get sampleInterval() { sample(); return 10; }, maxBufferSize: 10 }).stop();',
  'the text of setAttribute': "document.body.setAttribute('data-x', { toString() { sample(); return 'x'; } });",
  'the text of innerHTML': "document.createElement('p').innerHTML = { toString() { sample(); return 'x'; } };",
  'a URL': "new URL({ toString() { sample(); return 'http://a.test'; } });",
  getComputedStyle: "getComputedStyle(document.body, { toString() { sample(); return ''; } });",
  matchMedia: "matchMedia({ toString() { sample(); return 'all'; } });",
  'headers of fetch': "new Headers({ get a() { sample(); return 'x'; } });",
  'the text of a text node': "document.createTextNode({ toString() { sample(); return 'x'; } });",
  querySelector: "document.querySelector({ toString() { sample(); return 'x'; } });",
  createElement: "document.createElement({ toString() { sample(); return 'p'; } });",
  addEventListener: "addEventListener({ toString() { sample(); return 'own'; } }, null);",
  localStorage: "localStorage.getItem({ toString() { sample(); return 'x'; } });",
  atob: "atob({ toString() { sample(); return ''; } });",
  'document.title': 'const { title } = document; document.title = { toString() { sample(); return title; } };',
  className: "document.createElement('p').className = { toString() { sample(); return 'x'; } };",
  style: "document.createElement('p').style.color = { toString() { sample(); return 'red'; } };",
  'style.setProperty':
    "document.createElement('p').style.setProperty('color', { toString() { sample(); return 'red'; } });",
  dataset: "document.createElement('p').dataset.x = { toString() { sample(); return 'red'; } };",
  classList: "document.createElement('p').classList.add({ toString() { sample(); return 'x'; } });",
  postMessage: "postMessage('x', { toString() { sample(); return '*'; } });",
  setTimeout: "setTimeout('', { valueOf() { sample(); return 1; } });",
  console: "console.log({ get own() { return 1; } }, (() => { sample(); return ''; })());",
};
/** How Chromium calls the function that is on the stack, if it shows it. */
const CALLED = {
  'a listener of the page': 'dispatchEvent',
  'a listener object': 'dispatchEvent',
  'a click': 'click',
  'a callback of an iterator of nodes': 'nextNode',
  'detail of a mark': 'mark',
  'the length of a list': 'mark',
  'structuredClone of a getter': 'structuredClone',
  'a constructor of a custom element': 'createElement',
  'a callback of a custom element': 'append',
  'the options of a profiler': 'Profiler',
  'the text of setAttribute': 'setAttribute',
  'the text of innerHTML': 'set innerHTML',
  'a URL': 'URL',
  'headers of fetch': 'Headers',
  'the text of a text node': 'createTextNode',
  localStorage: 'getItem',
  'document.title': 'set title',
  className: 'set className',
  style: 'set color',
  'style.setProperty': 'setProperty',
  dataset: 'set x',
  classList: 'add',
};
for (const [how, text] of Object.entries(CALLED_BACK)) {
  probes(
    'a function called back by',
    {
      [how]: () => stacksOf(/^(class|const|let)/m.test(text) ? `{${text}}` : text),
      [`${how}, what else is shown`]: async () => {
        await addScript({ src: answer('script.js', /^(class|const|let)/m.test(text) ? `{${text}}` : text) });
        return (await sampledTraces()).map((trace) => browserFunctions(trace, [CALLED[how] ?? how]));
      },
    },
    { file, variants: PROFILING },
  );
}

/** Where code comes from. */
probes(
  'code of',
  {
    'an inline script': async () => {
      await addScript({ text: 'function inlined() { sample(); }\ninlined();' });
      return await sampledStacks();
    },
    'an inline script of the parser': async () => {
      const frame = await frameWith('<p>\n<script>\n  function inlined() { parent.sample(); }\n  inlined();</script>');
      void frame;
      return await sampledStacks();
    },
    'an inline script with a sourceURL': async () => {
      await addScript({ text: 'function inlined() { sample(); }\ninlined();\n//# sourceURL=named.js' });
      return await sampledStacks();
    },
    'a script with a sourceURL': () => stacksOf('function named() { sample(); }\nnamed();\n//# sourceURL=named.js'),
    'a script with a sourceURL that is a URL': () =>
      stacksOf('function named() { sample(); }\nnamed();\n//# sourceURL=http://c.test/named.js'),
    eval: () => stacksOf("eval('function evaluated() { sample(); }\\nevaluated();');"),
    'indirect eval': () => stacksOf("(0, eval)('function evaluated() { sample(); }\\nevaluated();');"),
    'eval with a sourceURL': () =>
      stacksOf("eval('function evaluated() { sample(); }\\nevaluated();\\n//# sourceURL=evaluated.js');"),
    'eval in eval': () => stacksOf('eval(\'eval("sample()")\');'),
    'new Function': () => stacksOf("new Function('sample();')();"),
    'new Function with parameters': () => stacksOf("new Function('a', 'b', 'sample();')();"),
    'a function in new Function': () => stacksOf("new Function('function made() { sample(); } made();')();"),
    'an async Function': () => stacksOf("(async () => {}).constructor('sample();')();"),
    'setTimeout with text': async () => {
      setTimeout('function timed() { sample(); } timed();');
      await later(20);
      return await sampledStacks();
    },
    'setInterval with text': async () => {
      const id = setInterval('sample(); clearInterval(window.probed);');
      window.probed = id;
      await later(20);
      return await sampledStacks();
    },
    setTimeout: async () => {
      await stacksOf('');
      setTimeout(function timed() {
        globalThis.sample();
      });
      await later(20);
      return (await sampledStacks()).map((stack) => stack.replace(/:\d+:\d+/, ''));
    },
    'a module': () => stacksOf('function inModule() { sample(); }\ninModule();', { type: 'module' }),
    'an inline module': async () => {
      await addScript({ type: 'module', text: 'function inModule() { sample(); }\ninModule();' });
      return await sampledStacks();
    },
    'an imported module': async () => {
      await import(answer('imported.mjs', 'export function imported() { sample(); }\nimported();'));
      return await sampledStacks();
    },
    'a default export of a module': async () => {
      await import(answer('imported.mjs', 'export default function () { sample(); }')).then((module) =>
        module.default(),
      );
      return (await sampledStacks()).map((stack) => stack.replace(/ <.*/, ''));
    },
    'an anonymous class as default export': async () => {
      const { default: Class } = await import(
        answer('imported.mjs', 'export default class { constructor() { sample(); } }')
      );
      new Class();
      return (await sampledStacks()).map((stack) => stack.replace(/ <.*/, ''));
    },
    'an arrow as default export': async () => {
      const { default: arrow } = await import(answer('imported.mjs', 'export default () => sample();'));
      arrow();
      return (await sampledStacks()).map((stack) => stack.replace(/ <.*/, ''));
    },
    'a module after top-level await': async () => {
      await import(answer('imported.mjs', 'await null;\nfunction later() { sample(); }\nlater();'));
      return await sampledStacks();
    },
    'a blob': async () => {
      const url = URL.createObjectURL(
        new Blob(['function inBlob() { sample(); }\ninBlob();'], { type: 'text/javascript' }),
      );
      atEnd(() => URL.revokeObjectURL(url));
      await addScript({ src: url });
      return await sampledStacks();
    },
    'a module of a blob': async () => {
      const url = URL.createObjectURL(
        new Blob(['function inBlob() { sample(); }\ninBlob();'], { type: 'text/javascript' }),
      );
      atEnd(() => URL.revokeObjectURL(url));
      await import(url);
      return await sampledStacks();
    },
    'a data: URL': async () => {
      await addScript({
        src: `data:text/javascript,${encodeURIComponent('function inData() { sample(); }\ninData();')}`,
      });
      return await sampledStacks();
    },
    'a module of a data: URL': async () => {
      await import(`data:text/javascript,${encodeURIComponent('function inData() { sample(); }\ninData();')}`);
      return await sampledStacks();
    },
    'an inline handler of the parser': async () => {
      const frame = await frameWith('<p>\n<button onclick="parent.sample()">x</button>');
      frame.contentDocument.querySelector('button').click();
      return await sampledStacks();
    },
    'a script with a fragment': async () => {
      await addScript({ src: `${answer('script.js', 'sample();')}#fragment` });
      return await sampledStacks();
    },
    'a module with a fragment': async () => {
      await import(`${answer('script.js', 'sample();')}#fragment`);
      return await sampledStacks();
    },
  },
  { file, variants: PROFILING },
);

/** Documents whose inline handlers, scripts or timers start a profiler, and what it saw first. */
const DOCUMENTS = {
  'a handler of one line': '<button onclick="seen()">x</button>',
  'a handler on the third line': '<p>\n\n<button onclick="seen()">x</button>',
  'a handler after other attributes': '<button class="a" id=b onclick="seen()">x</button>',
  'a handler without quotes': '<button onclick=seen()>x</button>',
  'a handler in single quotes': "<button onclick='seen()'>x</button>",
  'a handler with spaces around the equals sign': '<button onclick = "seen()">x</button>',
  'a handler that begins on the line after its name': '<button onclick=\n"seen()">x</button>',
  'a handler of several lines': '<button onclick="\n\n  seen()\n">x</button>',
  'a handler with entities': '<button onclick="&quot;a&quot;; seen()">x</button>',
  'a handler in capital letters': '<BUTTON ONCLICK="seen()">x</BUTTON>',
  'a handler in a form': '<form><button type=button onclick="seen()">x</button></form>',
  'a function in a handler': '<button onclick="(function inner() { seen(); })()">x</button>',
  'a function on the second line of a handler': '<button onclick="let a;\n(function inner() { seen(); })()">x</button>',
  'an arrow in a handler': '<button onclick="(() => seen())()">x</button>',
  'a handler set by setAttribute':
    "<button>x</button><script>document.querySelector('button').setAttribute('onclick', 'seen()');</script>",
  'a handler set by innerHTML':
    "<div></div><script>document.querySelector('div').innerHTML = '\\n<button onclick=\"seen()\">x</button>';</script>",
  'a handler that is a cloned one':
    '<button onclick="seen()">x</button><script>const b = document.querySelector("button"); b.replaceWith(b.cloneNode(true));</script>',
  'a handler set as a property':
    "<button>x</button><script>\ndocument.querySelector('button').onclick = function handler() { seen(); };</script>",
  'an arrow set as a property':
    "<button>x</button><script>\ndocument.querySelector('button').onclick = () => seen();</script>",
  'the first script': '<script>seen();</script>',
  'a script after text': 'text<script>seen();</script>',
  'a script with a function on its second line': '<script>\nfunction second() { seen(); }\nsecond();</script>',
  'a script on the fifth line': '\n\n\n\n<script> function fifth() { seen(); } fifth();</script>',
  'a script that document.write wrote':
    "<script>document.write('<script>function written() { seen(); } written();</' + 'script>');</script>",
  'a script added by a script':
    "<script>\nconst s = document.createElement('script'); s.text = 'function added() { seen(); } added();'; document.body.append(s);</script>",
  'eval in a script': "<script>\neval('function evaluated() { seen(); } evaluated()');</script>",
  'a timer with text': "<script>setTimeout('function timed() { seen(); } timed()');</script>",
  'a javascript: URL':
    '<a href="javascript:(function inUrl() { seen(); })()">x</a><script>document.querySelector(\'a\').click();</script>',
  'a base element': '<base href="http://c.test/"><script>function based() { seen(); } based();</script>',
  'a script in SVG': '<svg><script>function inSvg() { seen(); } inSvg();</script></svg>',
  'onload of the body': "<script>document.body.setAttribute('onload', 'seen()');</script>",
  'an error handler of an image': '<img src="data:," onerror="seen()">',
  'a module script': '<script type="module">function inModule() { seen(); } inModule();</script>',
  'a handler and a fragment in the URL': '<button onclick="seen()">x</button>',
  'a script and a fragment in the URL': '<script>function inlined() { seen(); } inlined();</script>',
  'eval and a fragment in the URL': '<script>eval("seen();");</script>',
  'a timer and a fragment in the URL': '<script>setTimeout(function timed() { seen(); });</script>',
};
const PREAMBLE =
  '<script>function seen() { window.profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 100 }); }</script>';
for (const [how, html] of Object.entries(DOCUMENTS)) {
  probes(
    'a document with',
    {
      [how]: async () => {
        const frame = await frameWith(`${PREAMBLE}${html}`, { fragment: how.includes('fragment') ? '#part' : '' });
        const { contentWindow: view, contentDocument: inner } = frame;
        inner.querySelector('button')?.click();
        for (let turn = 0; turn < 20 && view.profiler === undefined; turn++) await later(10);
        if (view.profiler === undefined) return 'not seen';
        const trace = await view.profiler.stop();
        return firstStack(trace)
          .map((frame) => showFrame(trace, frame))
          .filter((text) => text.includes('@frame.html') && !text.startsWith('seen@'))
          .join(' < ');
      },
    },
    { file, variants: PROFILING },
  );
}

probes(
  'the resources of a trace',
  {
    'of a page': async () => (await start().stop()).resources.map(shortUrl),
    'keep the query': async () => {
      await addScript({ src: answer('script.js', 'sample();') });
      const trace = await globalThis.sampled.pop().stop();
      return trace.resources.some((resource) => resource.includes('?body='));
    },
    'without the fragment of the document': async () => {
      const frame = await frameWith(`${PREAMBLE}<script>location.hash = 'part'; seen();</script>`);
      const trace = await frame.contentWindow.profiler.stop();
      return trace.resources
        .filter((resource) => resource.includes('frame.html'))
        .map((resource) => resource.includes('#'));
    },
    'of an evaluated script in a document with a fragment': async () => {
      const frame = await frameWith(`${PREAMBLE}<script>location.hash = 'part';</script><script>seen();</script>`);
      const trace = await frame.contentWindow.profiler.stop();
      return trace.resources
        .filter((resource) => resource.includes('frame.html'))
        .map((resource) => resource.includes('#'));
    },
    'after history.pushState': async () => {
      const frame = await frameWith(
        `${PREAMBLE}<script>history.pushState(null, '', '/other'); const s = document.createElement('script'); s.text = 'function inlined() { seen(); } inlined();'; document.body.append(s);</script>`,
      );
      const trace = await frame.contentWindow.profiler.stop();
      return firstStack(trace)
        .map((frame) => showFrame(trace, frame))
        .filter((text) => text.includes('.html') || text.includes('other'));
    },
    'of a script that is redirected': async () => {
      const target = answer('target.js', 'sample();');
      await addScript({
        src: answer('from.js', '', { status: 302, headers: { location: target.replace(/^http:/, 'http:') } }),
      });
      const [profiler] = globalThis.sampled.splice(0);
      if (profiler === undefined) return 'not run';
      return (await profiler.stop()).resources.map(shortUrl).filter((name) => /from|target/.test(name));
    },
  },
  { file, variants: PROFILING },
);
