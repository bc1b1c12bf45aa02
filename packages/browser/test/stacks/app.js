function nested(kind) { capture(kind) }
function outer() { nested('nested') }
class Cart { constructor() { capture('constructor') }
  get total() { capture('getter'); return 1 }
  add(item) { [item].forEach((each) => { capture('native caller') }) }
  static of(item) { new Cart().add(item) }
  'a b'(kind) { nested(kind) } }
const waits = async (kind) => { await null; nested(kind) };
async function caller() { await waits('await') }
function* items() { nested('generator'); yield 1 }
outer();
Cart.of(1);
new Cart().total;
(function () { capture('immediately invoked') })();
(() => { capture('immediately invoked arrow') })();
eval('function evaluated() { capture("eval") } evaluated()');
new Function('nested("new Function")')();
new Cart()['a b']('computed name');
[...items()];
caller();
Promise.resolve().then(function reaction() { nested('reaction') });
setTimeout(function onTimeout() { nested('timer') });
