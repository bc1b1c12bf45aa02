//! Sources in which `@` marks the function's position, which is where V8 puts it: at the parameters.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(source: &str, expected: Option<&str>) {
    let (before, after) = source.split_once('@').unwrap();
    let text = format!("{before}{after}");
    let mut lines = before.split('\n');
    let last = lines.next_back().unwrap();
    let place = FunctionPlace {
        line: lines.count() as u32 + 1,
        column: last.encode_utf16().count() as u32 + 1,
        ahead: 0,
    };
    assert_eq!(infer_names(&text, "a.js", &[place]), [expected.map(str::to_owned)], "{source}");
}

#[track_caller]
fn check_all(sources: &[&str], expected: &str) {
    for source in sources {
        check(source, Some(expected));
    }
}

#[test]
fn jsx_is_understood() {
    check("<p>don't</p>; x.y = @() => 1", Some("x.y"));
    check("const App = @() => <Button onClick={() => 1}>don't</Button>", Some("App"));
    check("const App = () => <Button onClick={@() => 1}>don't</Button>", Some("onClick"));
    check("const App = () => <List>{items.map(@item => <li/>)}</List>", Some("(callback of items.map)"));
    check("const App = (n: number) => <List<T>>{@() => 1}</List>", None);
}

#[test]
fn computed_names_are_those_of_other_tools() {
    check("Jimp[name] = @() => 1", Some("Jimp.<computed>"));
    check("this[name] = @() => 1", Some("<computed>"));
    check("this.clear = @() => 1", Some("clear"));
    check("class A { [name]@() {} }", Some("<computed>"));
    check("class A { [name] = @() => 1 }", Some("<computed>"));
    check("a = { [name]@() {} }", Some("<computed>"));
    check("a = { get [name]@() {} }", Some("<computed>"));
}

#[test]
fn functions_are_named_after_what_they_are_assigned_to() {
    check_all(
        &[
            "pp.next = function @() {}",
            "pp.next = function@() {}",
            "pp.next = @function() {}",
            "pp.next = function *@() {}",
            "pp.next = function* @() {}",
            "pp.next = async function @() {}",
            "pp.next = @async function() {}",
            "pp.next = async @function*() {}",
            "pp.next = @() => 1",
            "pp.next = @(a, b = (1, 2), {c}) => ({})",
            "pp.next = @a => 1",
            "pp.next = @async a => 1",
            "pp.next = @async (a) => 1",
            "pp.next = @async => 1",
            "pp.next ??= @() => 1",
            "pp.next ||= @() => 1",
            "pp . next /* = function */ = // x.y = \n function @() {}",
            "var a = 1, b; pp.next = @() => 1",
            "var a = 1\npp.next = @() => 1",
            "if (a) pp.next = @() => 1",
            "if (a) { b() } pp.next = @() => 1",
            "function f() {} pp.next = @() => 1",
            "class A { m() {} } pp.next = @() => 1",
            "a: pp.next = @() => 1",
            "switch (a) { case b ? c : d: default: case 1: pp.next = @() => 1 }",
            "switch (a) { case 1: { } pp.next = @() => 1 }",
            "try {} catch {} pp.next = @() => 1",
            "for (pp.next = @() => 1;;) {}",
            "(pp.next = @() => 1)()",
            "a(pp.next = @() => 1)",
            "a = { b: pp.next = @() => 1 }",
            "a ? pp.next = @() => 1 : 0",
            "pp.next = (@() => 1)",
            "pp.next = (function @() {})",
            "pp.next = ((@() => 1))",
            "pp.next = function @() {}.bind(this)",
            "pp.next = old || (@() => 1)",
            "pp.next = old || function @() {}",
            "pp.next = a === b ? function @() {} : c",
            "pp.next = a ? b(c) : function @() {}",
            "pp.next = a ? function () {} : function @() {}",
            "pp.next = a ? async function* b(c) {} : function @() {}",
            "pp.next = a ? class extends b {} : function @() {}",
            "pp.next = a ? b => 1 : @c => 2",
            "pp.next = a ? b => { c } : @d => { e }",
            "pp.next = a ? b = 1 : @c => 2",
            "pp.next = a ? b ? c => 1 : d : @c => 2",
            "pp.next = a && b && (function @() {})",
            "module.pp.next = a, pp.next = function @() {}",
            "pp.next = function @() {}\n;(function () {})()",
            "pp.next = class { constructor@() {} }",
            "pp.next = class extends a.b(c) { x = 1; constructor@() { super() } }",
        ],
        "pp.next",
    );
    check_all(&["a.b.c.d.e = function @() {}", "x()().c.d.e = function @() {}"], "c.d.e");
    check("module.exports = function @() {}", Some("module.exports"));
    check("x = (y, function @() {})", Some("x"));
    check("exports.x = exports.y = @() => 1", Some("exports.y"));
    check("this.x = @() => 1", Some("x"));
    check("this.#x = @() => 1", Some("#x"));
    check("x().y = @() => 1", Some("x().y"));
    check("(x || z).y = @() => 1", Some("y"));
    check("x[y] = @() => 1", Some("x.<computed>"));
    check("x[0].z = @() => 1", Some("x[0].z"));
    check("x[`a${1}`] = @() => 1", Some("x.<computed>"));
    check("x[y()] = @() => 1", Some("x.<computed>"));
    check("x.y['a b'] = @() => 1", Some("x.y['a b']"));
    check("x.default = @() => 1", Some("x.default"));
    check("x.function = @() => 1", Some("x.function"));
    check("grüße.ü = '😀', ö.ä = @() => 1", Some("ö.ä"));
    check("const f = @() => 1", Some("f"));
    check("const f: Type = @() => 1", Some("f"));
}

#[test]
fn functions_are_named_after_members() {
    check_all(
        &[
            "a = { key: function @() {} }",
            "a = { b, key: @() => 1 }",
            "a = { b() {}, key: @() => 1 }",
            "a = { 'key': @() => 1 }",
            "a = { key: b || (@() => 1) }",
            "a = { key: b ? c : @() => 1 }",
            "a({ key: @() => 1 })",
            "return { key: @() => 1 }",
            "return a, { b, key: @() => 1 }",
            "() => ({ key: @() => 1 })",
            "class A { key = @() => 1 }",
            "class A { a = 1\n static key = @() => 1 }",
        ],
        "key",
    );
    check("a = { default: @() => 1 }", Some("default"));
    check("a = { [b]: @() => 1 }", Some("<computed>"));
    check("a = { 'b\\u0000': @() => 1 }", None);
}

#[test]
fn functions_are_named_after_the_call_that_they_are_an_argument_of() {
    check_all(
        &[
            "arr.forEach(function @() {})",
            "arr.forEach(@a => 1)",
            "arr.forEach(@(a) => { return 1 })",
            "arr.forEach(@async a => 1)",
            "arr.forEach(1, @a => 1)",
            "arr.forEach({}, function () {}, function @() {})",
            "arr.forEach(a || function @() {})",
            "arr.forEach(a ? b : function @() {})",
            "arr.forEach((function @() {}))",
            "arr.forEach(function @() {}.bind(this))",
            "arr.forEach?.(@a => 1)",
            "arr?.forEach(@a => 1)",
            "x = arr.forEach(@a => 1)",
            "await arr.forEach(@a => 1)",
            "if (arr.forEach(@a => 1)) {}",
            "`${arr.forEach(@a => 1)}`",
            "`}${'`'}` + arr.forEach(@a => 1)",
            "/['\"(]/.test(a); arr.forEach(@a => 1)",
            "a = b / c / arr.forEach(@a => 1)",
            "a = (b) / '/'.length + arr.forEach(@a => 1)",
            "if (a) /'/.test(b) && arr.forEach(@a => 1)",
            "return /[/'](/g, arr.forEach(@a => 1)",
            "x++ / 2 / arr.forEach(@a => 1)",
            "const f = () => {}\n/'/.test(a)\narr.forEach(@a => 1)",
        ],
        "(callback of arr.forEach)",
    );
    check("a.b.c.d(@a => 1)", Some("(callback of b.c.d)"));
    check("a(b).then(@a => 1)", Some("(callback of a().then)"));
    check("a(b)(@() => 1)", Some("(callback of a())"));
    check("a[b](c).d()(@() => 1)", Some("(callback of a.<computed>().d())"));
    check("(a)(@() => 1)", None);
    check("[1].map(@a => 1)", Some("(callback of map)"));
    check("'a'.replace(/b/, @a => 1)", Some("(callback of replace)"));
    check("new Promise(@(resolve) => 1)", Some("(callback of new Promise)"));
    check("new a.b(@(resolve) => 1)", Some("(callback of new a.b)"));
    check("super(@() => 1)", Some("(callback of super)"));
    check("of(@() => 1)", Some("(callback of of)"));
    check("handlers[i](@() => 1)", Some("(callback of handlers.<computed>)"));
    check("const f = () => {}\nsetTimeout(@() => 1)", Some("(callback of setTimeout)"));
    for source in [
        "(0, a.b)(@() => 1)",
        "a([@() => 1])",
        "a(...@() => 1)",
        "a(1 + (@() => 1))",
        "a(b, (@() => 1, d))",
        "a<b>(@() => 1)",
    ] {
        check(source, None);
    }
}

#[test]
fn functions_that_are_called_at_once() {
    check_all(
        &[
            "(function @() {})()",
            "(function @() {}())",
            "(@() => {})()",
            "(@() => a + b)()",
            "(@async () => {})()",
            "(async function @() {})()",
            "!function @() {}()",
            "return a, function @() {}()",
            "x = (y || function @() {})()",
            "x = (function @() {}(), y)",
            "x = y && (function @() {}(), z)",
            "a, function @() {}()",
            "x = function @() {}()",
            "var ts = (@() => {})()",
            "x = (function @() {}).call(this)",
            "x = function @() {}.apply(this)",
            "a(function @() {}())",
            "a((function @() {})())",
            "((function @() {}))()",
            "const f = () => {}\n(function @() {})()",
            "if (a) (function @() {})()",
            "if (a) {} (function @() {})()",
            "function a() {} (function @() {})()",
            "export const a = () => {}\n(@() => {})()",
        ],
        "(IIFE)",
    );
}

#[test]
fn functions_are_named_after_the_one_that_returns_them() {
    check_all(
        &[
            "function outer() { return function @() {} }",
            "function outer() { if (a) { for (;;) { return @() => 1 } } }",
            "function outer() { return a, b = function () {}, function @() {} }",
            "function* outer() { return @() => 1 }",
            "function outer() { return a || (@() => 1) }",
            "function outer() { return (function @() {}) }",
            "outer = function () { return function @() {} }",
            "outer = () => { return function @() {} }",
            "outer = a => @b => 1",
            "outer = (a) => @(b) => 1",
            "outer = async (a) => @(b) => 1",
            "class A { outer() { return @() => 1 } }",
            "a = { outer() { return @() => 1 } }",
            "a = { outer: () => @() => 1 }",
        ],
        "(returned by outer)",
    );
    check("a.b = () => () => @() => 1", None);
    check("a.b = function () { return @() => 1 }", Some("(returned by a.b)"));
    check("a(function () { return @() => 1 })", None);
    check("a(b => @c => 1)", None);
    check("return function @() {}", None);
}

#[test]
fn nothing_is_inferred_without_a_reason() {
    for source in [
        "a; function @() {}",
        "x = 1 + function @() {}",
        "x += function @() {}",
        "x == function @() {}",
        "x = [function @() {}]",
        "x = y = z, function @() {}",
        "x = (function @() {}, y)",
        "x = 1\ny || function @() {}",
        "x = a\nfunction b() {} c || function @() {}",
        "throw @() => 1",
        "x = typeof function @() {}",
        "class A { constructor@() {} }",
        "`${@() => 1}`",
        // Not a function, or not an anonymous one.
        "x.y = @a",
        "x.y = @(a)",
        "x.y = @(a) + 1",
        "x.y = @async(a)",
        "x.y = a@(b)",
        "x.y = function f@() {}",
        "x.y = @function f() {}",
        "x.y = func@tion () {}",
        "x.y = function (@) {}",
        "x.y = { m@() {} }",
        "x.y = '@() => 1'",
        "x.y = `@() => 1`",
        "x.y = /@() => 1/",
        "// x.y = @() => 1",
        "/* x.y = @() => 1 */",
        // Not understood.
        "a) x.y = @() => 1",
        "a = 'b\nx.y = @() => 1",
        "a = /b\nx.y = @() => 1",
        "/* x.y = @() => 1",
        "x.y = function @() { ",
        "x.y = function @() { ) }",
    ] {
        check(source, None);
    }
}

#[test]
fn a_scripts_own_code_has_a_name() {
    check("@", Some("(top level)"));
    check("@#!/usr/bin/env node\n'", Some("(top level)"));
    check("\u{FEFF}a.b = @() => 1", None);
}

#[test]
fn lines_end_as_in_v8() {
    #[track_caller]
    fn check(source: &str, line: u32, column: u32) {
        let names = infer_names(source, "a.js", &[FunctionPlace { line, column, ahead: 0 }]);
        assert_eq!(names, [Some("a.b".to_owned())], "{source:?}");
    }
    check("\u{FEFF}a.b = x => 1", 1, 7);
    check("\r\na.b = x => 1", 2, 7);
    check("\r\ra.b = x => 1", 3, 7);
    check("//\u{2028}a.b = x => 1", 2, 7);
    check("'😀'; a.b = x => 1", 1, 13);
}

#[test]
fn mapped_places_must_fit() {
    #[track_caller]
    fn check(ahead: u32, source: &str, expected: Option<&str>) {
        let column = source.find('@').unwrap() as u32 + 1;
        let names =
            infer_names(&source.replace('@', ""), "a.js", &[FunctionPlace { line: 1, column, ahead }]);
        assert_eq!(names, [expected.map(str::to_owned)]);
    }
    check(9, "a.b = @function () {}", Some("a.b"));
    check(15, "a.b = @async function () {}", Some("a.b"));
    check(11, "a.b = @function () {}", None);
    check(15, "a.b = @function () {}", None);
    check(9, "a.b = @() => 1", Some("a.b"));
    check(9, "a.@b = () => 1", None);
    check(4, "a.b = @() => 1", None);
}

#[test]
fn functions_of_one_source() {
    let source = "a.b = x => 1; c.d = x => 2;\nf(function () {})";
    let place = |line, column| FunctionPlace { line, column, ahead: 0 };
    let places =
        [place(2, 12), place(1, 7), place(1, 8), place(1, 21), place(1, 7), place(9, 9), place(0, 0)];
    let expected = [Some("(callback of f)"), Some("a.b"), None, Some("c.d"), Some("a.b"), None, None];
    assert_eq!(infer_names(source, "a.js", &places), expected.map(|name| name.map(str::to_owned)));
}

/// These inputs would take forever in quadratic time, and overflow the stack in a recursive reader.
#[test]
fn hostile_sources_take_linear_time() {
    let places: Vec<FunctionPlace> =
        (1..20_000).map(|column| FunctionPlace { line: 1, column: column * 50, ahead: 0 }).collect();
    for part in [
        "(",
        "[",
        "{",
        "`${",
        "a.",
        "a=",
        "a?",
        "a||",
        "a=>",
        "()=>",
        "return ",
        "function(){",
        "=function(",
        "case ",
        "x:",
        "/*",
        "//",
        "'",
        "/",
        "\\",
        "{a:",
        "({a:",
        "class ",
        "class{",
        "a b ",
        "[a]",
        "()",
        "if(",
        "a ?? ",
        "😀",
        "#",
        "async ",
        "async(",
        ",",
        ";",
        "a,",
        "(a=>b,",
        "}",
        "`",
    ] {
        infer_names(&part.repeat((1 << 20) / part.len()), "a.ts", &places);
    }
    // One long name that many functions would have.
    let long = "A".repeat(1 << 20);
    for (before, function) in [
        (format!("{long}("), "function(){},"),
        (format!("x.{long}="), "()=>1,"),
        (format!("({{'{long}':["), "()=>1,"),
        (format!("function {long}(){{"), "return()=>1;"),
    ] {
        let places: Vec<FunctionPlace> = (0..20_000)
            .map(|index| before.len() + index * function.len() + function.find('(').unwrap_or_default() + 1)
            .map(|column| FunctionPlace { line: 1, column: column as u32, ahead: 0 })
            .collect();
        let names = infer_names(&(before + &function.repeat(20_000)), "a.js", &places);
        assert!(names.iter().flatten().all(|name| name.len() < 200));
    }
}

proptest! {
    #[test]
    fn nothing_panics(
        text in "(a|b|=|=>|\\(|\\)|\\[|\\]|\\{|\\}|`|\\$\\{|'|\"|/|\\\\|,|;|:|\\?|\\.|async |function |class |return |case |new |\\*|\n|é|😀|\\PC){0,80}",
        places in prop::collection::vec((0..4_u32, 0..100_u32, 0..20_u32), 0..8),
    ) {
        let places: Vec<_> =
            places.into_iter().map(|(line, column, ahead)| FunctionPlace { line, column, ahead }).collect();
        prop_assert_eq!(infer_names(&text, "a.ts", &places).len(), places.len());
    }

    #[test]
    fn every_position_can_be_asked_for(text in any::<String>()) {
        let places: Vec<_> =
            (0..200).map(|column| FunctionPlace { line: 1, column, ahead: 0 }).collect();
        infer_names(&text, "a.ts", &places);
    }
}

#[test]
fn typescript_is_understood() {
    check_all(
        &[
            "export const hot: Fn = @(n) => 1",
            "export const hot: Fn = @({ n }: Opts): number => { return 1 }",
            "const hot = @(n: number): Promise<void> => {}",
            "const hot = @async (n: number): Promise<void> => {}",
            "const hot = @(n: number): a.B | undefined => {}",
            "const hot = @(n: number): void => {}",
            "const hot: (n: number) => void = @(n) => {}",
            "const hot: a.Fn<T> | null = @n => 1",
            "const hot: { (n: number): void } = @n => 1",
            "const hot: A | B | typeof c = @n => 1",
            "const hot: A extends B ? C : D = @n => 1",
            "const hot: keyof A = @n => 1",
            "let a: X, hot: Y = @n => 1",
            "let a: X\n(b).hot = @n => 1",
            "function f(hot: B | C = @n => 1) {}",
            "class A implements B, C { hot: E | F = @n => 1 }",
            "const hot = (@n => 1) as any",
            "const hot = <T,>(@n: T) => 1",
            "interface A { n: number; deep?: { x: string }; }\nexport const hot = @(n: number) => 1",
            "type F = (o: A) => number;\nexport enum C { Red, Green }\nexport const hot = @(n: number) => 1",
            "class A<T extends B> { private readonly o: T; hot: Fn = @(n) => 1 }",
            "class A<T, U> extends B<T> implements C, D { private hot: Fn = @(n) => 1 }",
            "class A { async m(): Promise<void> { const hot: Fn = @(n) => 1 } }",
            "function f(): Promise<A> { if (a) { b() } const hot: Fn = @(n) => 1 }",
            "for (const hot: Fn = @(n) => 1;;) {}",
            // A generated `n => 1`.
            "const hot = (@n) => 1",
            "export const hot = (@n: number) => 1",
            "export const hot: Fn = (@n: number): number => 1",
        ],
        "hot",
    );
    for unknown in [
        "let a: X\n[b] = @n => 1",
        "x = a ? @(b) : c => 1",
        "switch (a) { case @(b): c => 1 }",
        "x = { @(a): 1 }",
        "x = @(a): b + 1",
        "x = f(@a)",
        "x = (@a)",
    ] {
        check(unknown, None);
    }
}
