//! Hostile sources.

use super::*;

/// What nests, in JavaScript, TypeScript and JSX.
const NESTINGS: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{", "", "}"),
    ("a(", "1", ")"),
    ("a[", "1", "]"),
    ("x=>", "1", ""),
    ("x=>{", "", "}"),
    ("(a,b=", "1", ")=>1"),
    ("(x=", "1", ")"),
    ("a=", "1", ""),
    ("!", "1", ""),
    ("a?", "1", ":2"),
    ("a?1:", "2", ""),
    ("a?(b=", "c", "):d"),
    ("if(a)", "b", ""),
    ("if(a);else ", "b", ""),
    ("l:", "b", ""),
    ("do ", "a", ";while(b)"),
    ("`${", "1", "}`"),
    ("new ", "a", ""),
    ("a+", "b", ""),
    ("a**", "b", ""),
    ("a??", "b", ""),
    ("a.b().", "b", ""),
    ("a?.b.", "c", ""),
    ("function f(){", "", "}"),
    ("class A{m(){", "", "}}"),
    ("class A extends ", "class{}", "{}"),
    ("({a:", "1", "})"),
    ("for(;;)", "a", ""),
    ("({a:", "b", "}={})"),
    ("var {a=", "1", "}=2;"),
    ("async x=>await ", "1", ""),
    ("let a:A<b,", "c", ">"),
    ("A<b,", "c", ">()"),
    ("a<b<", "c", ">>(d)"),
    ("let a:keyof ", "b", ""),
    ("let a:(b:", "c", ")=>d"),
    ("type A=B extends C?D:", "E", ""),
    ("type A={a:", "b", "}"),
    ("a as ", "b", ""),
    ("a!", "", ""),
    ("<a>", "b", "</a>"),
    ("<a b={", "1", "}/>"),
    ("<a>{", "1", "}</a>"),
    ("<>don't {", "1", "}</>"),
    ("<A>(", "1", ")"),
    ("@a(", "1", ")class B{}"),
    ("namespace a{", "", "}"),
    ("a<b,a<b;", "", ""),
];

/// The stack of the thread is that of the bound, so an overflow would end the test.
#[test]
fn whatever_is_parsed_fits_in_its_stack() {
    for (opening, middle, closing) in NESTINGS {
        let nested = |count: usize| format!("{}{middle}{}", opening.repeat(count), closing.repeat(count));
        for end in ["", "\n<p>don't</p>"] {
            // What a level takes does not depend on their number. The last one is too deep for every bound.
            for count in [400, 1 << 16] {
                for is_typescript in [false, true] {
                    parse(&(nested(count) + end), is_typescript);
                }
            }
        }
    }
}

#[test]
fn too_long_sources_are_not_parsed() {
    assert!(!parse("a.b=()=>1", false).functions.is_empty());
    assert!(parse(&format!("a.b=()=>1{}", " ".repeat(MAX_BYTES)), false).functions.is_empty());
    // Deep as JavaScript, but JSX as long as it is small.
    let jsx = |count: usize| format!("const a = () => <p>{}</p>", "don't {b} ".repeat(count));
    assert!(!parse(&jsx(100), false).functions.is_empty());
    assert!(parse(&jsx(10_000), false).functions.is_empty());
}
