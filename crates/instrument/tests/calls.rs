//! Events of traced functions: the texts, and what they say when programs run.

#![forbid(unsafe_code)]

use selfprof_instrument::{Calls, Goal, Instrumented, Options, instrument_calls};
use serde_json::Value;
use std::process::Command;

fn traced_as(source: &str, goal: Goal, first_id: u32, is_chosen: &dyn Fn(&str) -> bool) -> Instrumented {
    let options = Options { goal, ..Options::default() };
    instrument_calls(source, &options, &Calls { first_id, is_chosen })
        .unwrap_or_else(|problem| panic!("{problem}: {source}"))
}

#[track_caller]
fn check_text(source: &str, expected: &str) {
    let found = traced_as(source, Goal::Unknown, 6, &|_| true);
    assert_eq!(found.text, expected);
    assert!(found.untraceable.is_empty(), "{source}");
}

const SUSPEND: &str = "$n<0||($n=$on?$t(7,$n,1):-1)";
const RESUME: &str = "$n<0&&($n=$on&&$e(7,1))";

#[test]
fn bodies_become_blocks_of_try_statements() {
    check_text("function f() {}", "function f() {let $n=$on&&$e(7);try{}finally{$on&&$t(7,$n)}}");
    check_text(
        "function f(a) { return a }",
        "function f(a) {let $n=$on&&$e(7);try{ return a }finally{$on&&$t(7,$n)}}",
    );
    check_text(
        "(function () { 'use strict'; g() })",
        "(function () { 'use strict';let $n=$on&&$e(7);try{ g() }finally{$on&&$t(7,$n)}})",
    );
    check_text(
        "(function () { 'use strict'\n g() })",
        "(function () { 'use strict';let $n=$on&&$e(7);try{\n g() }finally{$on&&$t(7,$n)}})",
    );
    check_text("x => x.y", "x => {let $n=$on&&$e(7);try{return x.y}finally{$on&&$t(7,$n)}}");
    check_text(
        "x => y => ({ x })",
        "x => {let $n=$on&&$e(7);try{return y => {let $n=$on&&$e(8);try{return ({ x })}finally{$on&&$t(8,$n)}}}finally{$on&&$t(7,$n)}}",
    );
    check_text(
        "class A extends B { constructor() { super() } }",
        "class A extends B { constructor() {let $n=$on&&$e(7);try{ super() }finally{$on&&$t(7,$n)}} }",
    );
    // Functions in default values are functions, too; the values themselves are before the entry.
    check_text(
        "(a = b(() => c)) => {}",
        "(a = b(() => {let $n=$on&&$e(8);try{return c}finally{$on&&$t(8,$n)}})) => {let $n=$on&&$e(7);try{}finally{$on&&$t(7,$n)}}",
    );
}

#[test]
fn functions_tell_when_they_are_suspended() {
    let check = |source: &str, body: &str| {
        let start = source.find('{').expect("a body") + 1;
        let body = body.replace("SUSPEND", SUSPEND).replace("RESUME", RESUME);
        let head = &source[..start];
        let expected = format!("{head}let $n=$on&&$e(7);try{{{body}}}finally{{{RESUME};$on&&$t(7,$n)}}}}");
        check_text(source, &expected);
    };
    check("async function f() {await x}", "$h(await $h(x,SUSPEND),RESUME)");
    check("async function f() {await(x)}", "$h(await $h((x),SUSPEND),RESUME)");
    check("function* f() {yield}", "$h(yield $h(void 0,SUSPEND),RESUME)");
    check("function* f() {yield*[x]}", "$h(yield*$h([x],SUSPEND),RESUME)");
    check("async function* f() {return[x]}", "return $h([x],SUSPEND)");
    check("async function* f() {return x}", "return $h(x,SUSPEND)");
    check("async function* f() {return}", "return");
    check("async function f() {return x}", "return x");
    check("async function f() {try{}catch(e){}finally{}}", "try{}catch(e){RESUME;}finally{RESUME;}");
    check(
        "async function f() {a: b: for await (const x of y) {z}}",
        "try{a: b: for await (const x of $h(y,SUSPEND)) {RESUME;try{z}finally{SUSPEND}}}finally{RESUME}",
    );
    check(
        "async function f() {for await (x of y) z}",
        "try{for await (x of $h(y,SUSPEND)) {RESUME;try{z}finally{SUSPEND}}}finally{RESUME}",
    );
    // They are of another function.
    check(
        "async function f() {class A {static {try{}catch{}} a = () => {try{}catch{}}}}",
        "class A {static {try{}catch{}} a = () => {let $n=$on&&$e(8);try{try{}catch{}}finally{$on&&$t(8,$n)}}}",
    );
}

#[test]
fn functions_are_chosen_by_their_names() {
    let source = "function f() {} const g = () => 1; class A { get g() { return 2 } }";
    let found = traced_as(source, Goal::Unknown, 100, &|name| name == "g");
    assert_eq!(
        found.text,
        "function f() {} const g = () => {let $n=$on&&$e(102);try{return 1}finally{$on&&$t(102,$n)}}; class A { get g() { return 2 } }"
    );
    let traced: Vec<bool> = found.functions.iter().map(|function| function.is_checked).collect();
    assert_eq!(traced, [false, false, true, false]);
    assert!(Calls::most_ids(7) >= traced_as("a=>b=>c", Goal::Unknown, 0, &|_| true).functions.len() as u64);
    assert!(Calls::most_ids(0) >= 1);
}

/// These functions of a sloppy script, by their names, cannot be traced; the others are.
#[track_caller]
fn check_untraceable(goal: Goal, source: &str, expected: &[&str]) {
    let found = traced_as(source, goal, 0, &|_| true);
    let name = |id: &u32| found.functions[*id as usize].name.as_str();
    let names: Vec<&str> = found.untraceable.iter().map(name).collect();
    assert_eq!(names, expected, "{source}");
    let traced = found.checked_functions();
    assert_eq!(traced + names.len(), found.functions.len() - 1, "{source}");
}

#[test]
fn what_cannot_be_traced_is_said() {
    let script = |source, expected: &[&str]| check_untraceable(Goal::Script, source, expected);
    let module = |source, expected: &[&str]| check_untraceable(Goal::Module, source, expected);
    script("function f() { function g() {} g() }", &[]);
    script("function f() { var g = 1; function g() {} }", &["f"]);
    script("function f() { for (var { a: [g] } of h) ; function g() {} }", &["f"]);
    script("function f() { function g() {} function g() {} }", &["f"]);
    script("function f() { l: function g() {} { var g } }", &["f"]);
    script("function f() { function g() {} { function g() {} } }", &["f"]);
    module("function f() { function g() {} { function g() {} } }", &[]);
    script("function f(g) { function g() {} }", &["f"]);
    script("function f(...[g]) { function g() {} }", &["f"]);
    module("function f(g) { function g() {} }", &[]);
    script("function f() { function g() {} eval(h) }", &["f"]);
    script("function f() { function g() {} (eval)(h) }", &["f"]);
    script("function f() { function g() { eval(h) } }", &[]);
    script("function f() { eval(h) }", &[]);
    module("function f() { function g() {} eval(h) }", &[]);
    script("function f() { 'use strict'; function g() {} eval(h) }", &[]);
    script("function f() { function g() { var g } }", &[]);
    script("function f({ g }) { let g }", &["f"]);
    script("(function f(g) { class g {} })", &["f"]);
    script("function f(g) { var g; { let g } }", &[]);
    module("async function f() { await using g = h; }", &["f"]);
    module("async function f() { for (await using g of h) ; }", &["f"]);
    script("function f() { with (a) { (function g() {}) } }", &["g"]);
    script("async function f() { with (a) { await b } }", &["f"]);
    script("function f() { 'use asm'; function g() {} return g }", &["f", "g"]);
}

/// The events of a program: `f` is an entry, `/f` an exit, `f~` a suspension, `~f` a resumption. Besides, what it
/// prints.
fn events(source: &str) -> Vec<String> {
    let traced = traced_as(source, Goal::Script, 0, &|_| true);
    let names: Vec<&str> = traced.functions.iter().map(|function| function.name.as_str()).collect();
    let runtime = format!(
        "const names={}, log=[], print=text=>log.push(String(text));\
         let $on=true;\
         const $e=(id,isResumed)=>{{log.push((isResumed?'~':'')+names[id]);return 10+id}},\
         $t=(id,number,isSuspended)=>{{log.push(isSuspended?names[id]+'~':'/'+names[id]);\
         if(number!==10+id)print('number '+number);return isSuspended?-1:7}},\
         $h=value=>value;",
        serde_json::to_string(&names).expect("names are JSON"),
    );
    let program = "const vm=require('vm');vm.runInThisContext(process.argv[1]);vm.runInThisContext(process.argv[2]);\
                   process.on('exit',()=>console.log(vm.runInThisContext('JSON.stringify(log)')))";
    let node = std::env::var_os("SELFPROF_NODE").unwrap_or_else(|| "node".into());
    let output = Command::new(node)
        .env_remove("NODE_OPTIONS")
        .args(["-e", program, &runtime, &traced.text])
        .output()
        .expect("Node runs");
    let log = serde_json::from_slice::<Value>(&output.stdout).ok();
    log.and_then(|log| serde_json::from_value(log).ok())
        .unwrap_or_else(|| panic!("{}\n{}", String::from_utf8_lossy(&output.stderr), traced.text))
}

#[track_caller]
fn check_events(source: &str, expected: &str) {
    let found = events(source);
    assert_eq!(found.join(" "), expected, "{source}");
}

#[test]
fn each_call_has_an_entry_and_an_exit() {
    check_events("function f() { g(); g() } const g = () => 1; f()", "f g /g g /g /f");
    check_events("function f(n) { if (n) return f(n - 1); return 0 } f(2)", "f f f /f /f /f");
    check_events(
        "function f(n) { a: for (;;) { for (;;) { if (n == 1) break a; if (n == 2) return g(); n++; continue a } } } \
         function g() {} f(1); f(2); f(0)",
        "f /f f g /g /f f /f",
    );
    // Exceptions, caught at once, further out, and by nobody.
    check_events(
        "function f() { try { g() } catch { print('c') } } function g() { throw 1 } f()",
        "f g /g c /f",
    );
    check_events(
        "function f() { try { g() } catch { print('c') } finally { print('d') } } function g() { h() } function h() { null.x } f()",
        "f g h /h /g c d /f",
    );
    check_events("function f() { g() } function g() { throw 1 } try { f() } catch {} f", "f g /g /f");
    check_events(
        "class A { constructor() { print('A') } } class B extends A { constructor() { print('B'); super(); } get x() { return 1 } set x(v) {} \
         static m() {} #p() {} q() { this.#p() } } const b = new B; b.x; b.x = 2; B.m(); b.q()",
        "B B A A /A /B get x /get x set x /set x m /m q #p /#p /q",
    );
    check_events(
        "class A {} class B extends A { constructor() { try { this } catch { print('c') } super() } } new B",
        "B c /B",
    );
    check_events("[2, 1].sort(function cmp(a, b) { return a - b })", "cmp /cmp");
    check_events("function f(a = g()) { return a } function g() { return 1 } f(); f(0)", "g /g f /f f /f");
    check_events("function f() { return g`a` } const g = () => 1; f?.(); new f", "f g /g /f f g /g /f");
}

#[test]
fn async_functions_are_suspended() {
    check_events(
        "async function f() { print(1); await 0; print(2) } f(); print('sync')",
        "f 1 f~ sync ~f 2 /f",
    );
    check_events("const f = async x => await x, g = async () => f(1); g().then(print)", "g f f~ /g ~f /f 1");
    // A rejection resumes where it is caught.
    check_events(
        "async function f() { try { await Promise.reject(0) } catch { print('c') } } f()",
        "f f~ ~f c /f",
    );
    check_events(
        "async function f() { try { try { await Promise.reject(0) } finally { print('d') } } catch { print('c') } finally { print('e') } } f()",
        "f f~ ~f d c e /f",
    );
    check_events(
        "async function f() { await Promise.reject(0); print('no') } f().catch(print)",
        "f f~ ~f /f 0",
    );
    check_events(
        "async function f() { try { g() } catch { print('c') } } function g() { throw 1 } f()",
        "f g /g c /f",
    );
    check_events(
        "async function f() { try { return await 1 } finally { await 2; print('d') } } f().then(print)",
        "f f~ ~f f~ ~f d /f 1",
    );
    check_events(
        "async function f() { for (const x of [1, 2]) { if (await x == 1) continue; print(x); break } } f()",
        "f f~ ~f f~ ~f 2 /f",
    );
    // Two that alternate.
    check_events(
        "async function f() { await 0; await 0 } async function g() { await 0; h() } function h() {} f(); g()",
        "f f~ g g~ ~f f~ ~g h /h /g ~f /f",
    );
    check_events("async function f(a = h()) { await a } function h() {} f()", "h /h f f~ ~f /f");
    // Values that are awaited inside of each other.
    check_events(
        "async function f() { return await g(await 1) } function g(x) { return x } f().then(print)",
        "f f~ ~f g /g f~ ~f /f 1",
    );
    // Suspended when a static block and a field run.
    check_events(
        "async function f() { class A { static { try { throw 1 } catch { print('b') } } static x = g() } await A.x } function g() { return 1 } f()",
        "f b g /g f~ ~f /f",
    );
}

#[test]
fn generators_are_suspended() {
    check_events(
        "function* f() { const x = yield 1; print(x); yield; return 3 } const g = f(); g.next(); g.next('a'); print('out'); g.next(); g.next()",
        "f f~ ~f a f~ out ~f /f",
    );
    // Never begun, left half-way, thrown into and returned from.
    check_events("function* f() { yield 1 } f(); f().return(1)", "");
    check_events("function* f() { yield 1 } f().next()", "f f~");
    check_events(
        "function* f() { try { yield 1 } finally { print('d') } } const g = f(); g.next(); g.return(5)",
        "f f~ ~f d /f",
    );
    check_events("function* f() { yield 1; print('no') } for (const x of f()) break", "f f~ ~f /f");
    check_events(
        "function* f() { try { yield 1 } catch (e) { print(e) } yield 2 } const g = f(); g.next(); g.throw('t'); g.next()",
        "f f~ ~f t f~ ~f /f",
    );
    check_events(
        "function* f() { try { yield 1 } finally { yield 2 } } const g = f(); g.next(); g.return(); g.next()",
        "f f~ ~f f~ ~f /f",
    );
    check_events(
        "function* f() { const { a = yield 1 } = { a: yield 2 } } const g = f(); g.next(); g.next(); g.next()",
        "f f~ ~f f~ ~f /f",
    );
    // The outer one counts as suspended while it delegates.
    check_events(
        "function* f() { yield* g(); print('f') } function* g() { yield 1; yield 2 } for (const x of f()) print(x)",
        "f f~ g g~ 1 ~g g~ 2 ~g /g ~f f /f",
    );
    check_events("function* f() { yield* [1] } for (const x of f()) print(x)", "f f~ 1 ~f /f");
    // A generator that a traced function drives.
    check_events(
        "function* f() { yield 1 } function sum() { let s = 0; for (const x of f()) s += x; return s } sum()",
        "sum f f~ ~f /f /sum",
    );
}

#[test]
fn async_generators_and_their_loops_are_suspended() {
    check_events(
        "async function* f() { yield 1; print('f') } (async function g() { for await (const x of f()) print(x); print('g') })()",
        "g g~ f f~ ~g 1 g~ ~f f /f ~g g /g",
    );
    // `return` waits for its value.
    check_events("async function* f() { return Promise.resolve(1) } f().next()", "f f~ ~f /f");
    check_events(
        "async function* f() { try { return Promise.reject(1) } catch { print('c') } } f().next()",
        "f f~ ~f c /f",
    );
    check_events("async function* f() { yield Promise.reject('r') } f().next().catch(print)", "f f~ ~f /f r");
    check_events(
        "(async function g() { for await (const x of [1, 2, 3]) { if (x == 1) continue; print(x); break } print('g') })()",
        "g g~ ~g g~ ~g 2 g~ ~g g /g",
    );
    check_events(
        "(async function g() { a: for (const y of [1, 2]) for await (const x of [1, 2]) continue a; print('g') })()",
        "g g~ ~g g~ ~g g~ ~g g~ ~g g /g",
    );
    check_events(
        "(async function g() { for await (const x of [1]) { await Promise.reject('r') } })().catch(print)",
        "g g~ ~g g~ ~g /g r",
    );
    check_events(
        "(async function g() { try { for await (const x of [Promise.reject('r')]) print('no') } catch (e) { print(e) } })()",
        "g g~ ~g r /g",
    );
    check_events(
        "(async function g() { for await (const { a = await 1 } of [{}]) print(a) })()",
        "g g~ ~g 1 g~ ~g /g",
    );
    check_events(
        "async function* f() { try { yield 1; yield 2 } finally { await 0; print('d') } } \
         (async function g() { for await (const x of f()) { print(x); return } })()",
        "g g~ f f~ ~g 1 g~ ~f f~ ~f d /f ~g /g",
    );
}
