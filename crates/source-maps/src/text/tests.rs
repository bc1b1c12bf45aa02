//! Sources in which `@` marks the position.

use proptest::prelude::*;

use super::*;

/// Checks the name of the function at `@`.
#[track_caller]
fn check(source: &str, expected: Option<&str>) {
    let (before, after) = source.split_once('@').unwrap();
    let line = before.matches('\n').count() as u32;
    let column = before.rsplit('\n').next().unwrap().encode_utf16().count() as u32;
    let text = Text::new(format!("{before}{after}"), "a.ts");
    let name = text.function_at(line, column).and_then(|(function, _)| function.name(&text.text));
    assert_eq!(name, expected, "{source}");
}

#[test]
fn functions_are_declared_with_a_name() {
    for source in [
        "@function render() {}",
        "function @render() {}",
        "function render@() {}",
        "a();\n  function  render@ (x) {}",
        "@async function render() {}",
        "export default async function* @render() {}",
        "@export async function * render() {}",
        "ü = '😀'; function @render() {}",
        "function @render<T extends U>(x: T) {}",
        "function render@<T>(x: T) {}",
        "x = function @render() {}",
    ] {
        check(source, Some("render"));
    }
}

#[test]
fn methods_have_names() {
    for source in [
        "class A { @render() {} }",
        "class A { render@() {} }",
        "class A { @static async render() {} }",
        "class A { static async *@render() {} }",
        "class A { @get render() {} }",
        "class A { @public override render<T>(): void {} }",
        "o = { @render() {} }",
        "o = { @'render'() {} }",
        "o = { @render: function () {} }",
        "o = { render: @function () {} }",
        "o = { a, render: @() => 1 }",
        "o = {\n  'render': @async x => 1 }",
        "class A { @render = () => 1 }",
        "class A { private render = @() => 1 }",
    ] {
        check(source, Some("render"));
    }
    check("class A { @#render() {} }", Some("#render"));
    check("class A { #render@() {} }", Some("#render"));
    check("class A { get@() {} }", Some("get"));
    check("class A { @static() {} }", Some("static"));
}

#[test]
fn anonymous_functions_are_named_by_assignments() {
    for source in [
        "const render = @() => 1",
        "@const render = () => 1",
        "const @render = () => 1",
        "let render = @x => 1",
        "var render = @function () {}",
        "var render = function@ () {}",
        "const render = async @(x) => 1",
        "const render = @async (x) => 1",
        "render = @(x) => 1",
        "a.b.render = @function () {}",
        "exports.render ??= @() => 1",
        "const render: Handler<A> = @(x) => 1",
        "export const @render: Handler = x => 1",
        "const render = @class {}",
        "const render = (@rows: Row[]): void => 1",
        "const render = async ( @rows, b) => 1",
        "const render = (@{ a, b }) => 1",
        "function render(@rows = 1) {}",
    ] {
        check(source, Some("render"));
    }
    check("export default @() => 1", Some("default"));
}

#[test]
fn some_functions_have_no_name() {
    for source in [
        "list.map(@x => x)",
        "list.map((@x, y) => x)",
        "list.map(@(x) => x)",
        "list.map(@function (x) {})",
        "list.map(function@ (x) {})",
        "a == @(x => x)",
        "c ? a : @() => 1",
        "@() => 1",
        "(@async () => 1)()",
        "@return () => 1",
        "a <= @() => 1",
    ] {
        check(source, None);
    }
}

#[test]
fn constructors_have_the_name_of_their_class() {
    check("class Tree { @constructor() {} }", Some("Tree"));
    check("class Leaf {}\nclass Tree extends Leaf {\n constructor@(a) {} }", Some("Tree"));
    check("@class Tree {}", Some("Tree"));
    check("(class { @constructor() {} })", None);
    check("subclass Tree { @constructor() {} }", None);
}

#[test]
fn other_positions_are_unknown() {
    for source in ["@", "a + @b", "@}", "f(a)@;", "@123", "a @== b", "@[x]() {}", "}@\nfunction f() {}"] {
        check(source, None);
    }
    let text = Text::new("a\nb".to_owned(), "a.js");
    for (line, column) in [(0, 2), (1, 2), (2, 0), (u32::MAX, u32::MAX)] {
        assert!(text.function_at(line, column).is_none());
    }
}

#[test]
fn columns_count_utf16_units_in_long_lines() {
    let line = "aü😀".repeat(2_000);
    let text = Text::new(format!("{line}\n{line}"), "a.js");
    for number in 0..2 {
        let mut column = 0;
        let start = number * (line.len() + 1);
        for (at, character) in line.char_indices() {
            assert_eq!(text.offset(number as u32, column), Some(start + at));
            column += character.len_utf16() as u32;
            if character == '😀' {
                assert_eq!(text.offset(number as u32, column - 1), None);
            }
        }
        assert_eq!(text.offset(number as u32, column), Some(start + line.len()));
        assert_eq!(text.offset(number as u32, column + 1), None);
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "([a-z(){}:=<>*#'\"@ü😀\n ]|function|class|async|get|constructor|=>|const ){0,40}", line in 0..4_u32, column in 0..60_u32) {
        let text = Text::new(text, "a.ts");
        let _ = text.function_at(line, column);
        let _ = (text.line(line), text.line_has_function(line, "a"), text.has_word_at(line, column, &["async"]));
    }
}
