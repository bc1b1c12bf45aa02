//! The table of functions: V8's names and places, and the function at each position of the instrumented text.

#![forbid(unsafe_code)]

use selfprof_instrument::{Instrumented, Options, instrument};
use serde_json::Value;
use std::process::Command;

fn instrumented(source: &str, min_statements: u32) -> Instrumented {
    // A deep stack would be needed for deep sources only.
    let options = Options { min_statements, ..Options::default() };
    instrument(source, &options).unwrap_or_else(|problem| panic!("{problem}: {source}"))
}

/// Names of functions and where V8 says that they are, as recorded by selfprof itself on Node 24.
#[track_caller]
fn check_names(source: &str, expected: &[(&str, u32)]) {
    let instrumented = instrumented(source, 0);
    let found: Vec<_> = instrumented.functions[1..].iter().map(|f| (f.name.as_str(), f.column)).collect();
    assert_eq!(found, expected, "{source}");
}

#[test]
fn functions_have_the_names_and_places_that_v8_gives_them() {
    check_names("function decl(a){ return w(a)+1 }", &[("decl", 14)]);
    check_names("const cf = function (a) { return w(a)+1 };", &[("cf", 21)]);
    check_names("const nf = function named(a) { return w(a)+1 };", &[("named", 26)]);
    check_names("const ar = x => { return w(x)+1 };", &[("ar", 12)]);
    check_names("const aar = async x => { return w(x)+1 };", &[("aar", 13)]);
    check_names("const aar2 = async (x) => { return w(x)+1 };", &[("aar2", 14)]);
    check_names("let as; as = function () { return w()+1 };", &[("as", 23)]);
    check_names(
        "const o = { meth(a){ return w(a)+1 }, get acc(){ return w()+1 }, prop: function(){ return w()+1 }, \
         ['comp'+1](){ return w()+1 }, ['c2']: () => { return w()+1 }, 'str key'(){return w()+1}, 12(){return w()+1}, \
         set sacc(v){ return w()+1 }, async am(){ return w()+1 }, *gm(){ return w()+1 }, arrow: ()=>{return w()+1}, \
         __proto__: function(){ return w()+1 } };",
        &[
            ("meth", 17),
            ("get acc", 46),
            ("prop", 80),
            ("", 110),
            ("", 138),
            ("str key", 171),
            ("12", 191),
            ("set sacc", 217),
            ("am", 246),
            ("gm", 269),
            ("arrow", 296),
            ("", 335),
        ],
    );
    check_names(
        "class K { constructor(){ w() } m(){ return w()+1 } #p(){ return w()+1 } pp(){ return this.#p() } \
         static s(){ return w()+1 } get g(){ return w()+1 } f = () => { return w()+1 }; static sf = function(){ return w()+1 } }",
        &[("K", 22), ("m", 33), ("#p", 54), ("pp", 75), ("s", 106), ("get g", 130), ("f", 153), ("sf", 197)],
    );
    check_names("const KE = class { constructor(){ w() } };", &[("KE", 31)]);
    check_names("const KN = class Inner { constructor(){ w() } };", &[("Inner", 37)]);
    check_names("const {dd = () => { return w()+1 }} = {};", &[("dd", 13)]);
    check_names("const [de = function(){ return w()+1 }] = [];", &[("de", 21)]);
    check_names("function defp(p = () => { return w()+1 }) { p() }", &[("defp", 14), ("p", 19)]);
    check_names("const par = (function(){ return w()+1 });", &[("par", 22)]);
    check_names("exports.ex = function(){ return w()+1 };", &[("", 22)]);
    check_names("const lo = null ?? (() => { return w()+1 });", &[("", 21)]);
    check_names("let la; la ??= () => { return w()+1 };", &[("la", 16)]);
    check_names("export default () => { w() }", &[("default", 16)]);
    check_names("export default class { constructor() { w() } }", &[("default", 35)]);
    check_names(
        "a = { b: { c() {} }, d: [() => {}] }; f(function () {}); g = f(() => {})",
        &[("c", 13), ("", 26), ("", 50), ("", 64)],
    );
}

/// What stack traces say in Node is found in the table.
#[test]
fn positions_of_stack_traces_have_their_functions() {
    let source = r#"
const log = [], at = name => log.push(name + new Error().stack.split('\n').slice(2, 3)); /* é 𝒳 */
function decl(x, y = at('decl'), ...z) { at('decl'); for (const a of [1]) at('decl'); return at('decl') }
class Class { constructor() { at('Class') } method() { at('method'); [1].forEach(inner => at('')); return at('method') }
  get value() { at('get value'); return 'a,b'.split(',').map(each => { at(''); return at('') }) } static { at('init') } field = at('init2') }
const arrow = a => (at('arrow'), at('arrow')), é = async 𝒳 => { at('é'); await 1; at('é') }, generator = function* () { at('generator'); yield at('generator'); at('generator') };
decl(); new Class().method(); new Class().value; arrow(); é(); for (const v of generator()) at('');
const object = { get a() { return at('get a') }, 'b c'() { do at('b c'); while (0) }, ['d']: () => at('') }; object.a; object['b c'](); object.d(); at('');
setTimeout(() => { at(''); console.log(JSON.stringify(log)) });
"#;
    for min_statements in [0, 4, u32::MAX] {
        let instrumented = instrumented(source, min_statements);
        let node = std::env::var_os("SELFPROF_NODE").unwrap_or_else(|| "node".into());
        let runtime = "let $e=()=>{},$t=$e,$x=value=>value,$h=$x,$s=$x,$r=$x;";
        let program = "const vm=require('vm');globalThis.require=require;vm.runInThisContext(process.argv[1]);\
                       vm.runInThisContext(process.argv[2],{filename:'/s.js'})";
        let output = Command::new(node)
            .env_remove("NODE_OPTIONS")
            .args(["-e", program, runtime, &instrumented.text])
            .output()
            .expect("Node runs");
        let log: Vec<String> = serde_json::from_slice::<Value>(&output.stdout)
            .ok()
            .and_then(|log| serde_json::from_value(log).ok())
            .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert!(log.len() > 25, "{log:?}");
        for entry in log {
            let (name, place) = entry.split_once("    at ").expect("a stack");
            let place = place.rsplit_once("/s.js:").expect("a place").1.trim_end_matches(')');
            let (line, column) = place.split_once(':').expect("a position");
            let id =
                instrumented.function_at(line.parse().expect("a line"), column.parse().expect("a column"));
            let function = &instrumented.functions[id.expect("a function")];
            // Static blocks and fields belong to what is around the class, which is the script.
            let expected = if name.starts_with("init") { "" } else { name };
            assert_eq!(function.name, expected, "{entry}");
        }
    }
}

#[test]
fn without_a_minimum_all_functions_with_statements_are_checked() {
    let instrumented = instrumented("const f = () => 1; function g() { return 1 } function h() {}", 0);
    let checked: Vec<_> = instrumented.functions.iter().map(|f| f.is_checked).collect();
    assert_eq!(checked, [false, true, true, false]);
    assert_eq!(instrumented.text.matches("$e?.()").count(), instrumented.checked_functions());
}

/// Functions with these names, out of `f`, `g` and so on, have checks.
#[track_caller]
fn check_checked(source: &str, expected: &[&str]) {
    let instrumented = instrumented(source, 4);
    let found: Vec<_> =
        instrumented.functions.iter().filter(|f| f.is_checked).map(|f| f.name.as_str()).collect();
    assert_eq!(found, expected, "{source}");
    assert_eq!(instrumented.text.contains("$e?.()"), !expected.is_empty(), "{source}");
}

#[test]
fn small_functions_are_left_out() {
    check_checked("function f() { a(); b(); c() }", &[]);
    check_checked("function f() { a(); b(); c(); d() }", &["f"]);
    check_checked("function f() { a(), b(), c(), d() }", &["f"]);
    check_checked("function f(x) { x.push(1); x.pop(); Math.abs(x); x.y = 1; return x }", &[]);
    check_checked("function f() { for (;;) break }", &["f"]);
    check_checked("async function f() { await a }", &["f"]);
    check_checked("function* f() { yield a }", &["f"]);
    check_checked("const f = x => x.sort()", &["f"]);
    check_checked("const f = x => x.replace(y)", &["f"]);
    check_checked("const f = x => x.offsetWidth", &["f"]);
    check_checked("const f = x => { const g = () => { a(); b(); c(); d() }; return g }", &["g"]);
    check_checked("function f() { 'use asm'; for (;;) a(); }", &[]);
    check_checked("function f() { 'use strict' }", &[]);
    check_checked("with (a) { f = function () { for (;;) b() } }", &[]);
}

/// The fallback comes after what must be first, and moves the places behind it.
#[test]
fn the_fallback_is_the_first_statement() {
    const FALLBACK: &str =
        "typeof $x==\"undefined\"&&(g=>{g.$e=g.$t=void 0;g.$x=g.$h=g.$s=g.$r=v=>v})(globalThis);";
    #[track_caller]
    fn check(before: &str, after: &str) {
        let source = format!("{before}{after}");
        let options = Options { has_fallback: true, ..Options::default() };
        let found = instrument(&source, &options).unwrap_or_else(|problem| panic!("{problem}: {source}"));
        let separator = if before.ends_with('"') { ";" } else { "" };
        assert_eq!(found.text, format!("{before}{separator}{FALLBACK}{after}"));
        let start = found.text.find("(x)").expect("a function") + 1;
        let line_start = found.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let function = &found.functions[1];
        assert_eq!(function.start.column as usize, start - line_start, "{source}");
    }
    let function = "function f(x) { return x }";
    check("", function);
    check("", &format!("// comment\n{function}"));
    check("/* licence */ \"use strict\";", function);
    check("\"use strict\"", &format!("\n{function}"));
    check("#!/usr/bin/env node\n", function);
    check("#!/usr/bin/env node\r\n", function);
    check("#!/usr/bin/env node\n'use client';", function);
    check("", &format!("import 'a'; {function}"));
    let options = Options { has_fallback: true, ..Options::default() };
    for source in ["", "// nothing", "'use strict'", "#!node"] {
        assert_eq!(instrument(source, &options).map(|found| found.text), Ok(source.to_owned()));
    }
}

#[test]
fn the_agent_is_left_as_it_is() {
    for quote in ['\'', '"', '`'] {
        check_agent(&format!("{quote}selfprof: leave alone{quote}"));
    }
}

fn check_agent(marker: &str) {
    let agent = "var agent=function(e){var a=MARKER;for(let i of a)f(i);\
                 e.a=a;e.init=function(){while(g())h(()=>{JSON.parse(i())})};return e}({});";
    let agent = agent.replace("MARKER", marker);
    let app = "function app(){while(g())h()}";
    let one = instrumented(&format!("{agent}{app}"), 0);
    assert!(one.text.starts_with(&agent), "{}", one.text);
    let checked: Vec<_> = one.functions.iter().filter(|function| function.is_checked).collect();
    assert_eq!(checked.len(), 1);
    assert_eq!(checked[0].name, "app");
    assert_ne!(&one.text[agent.len()..], app);
}
