use super::{Language, nesting};
use proptest::prelude::*;

fn depth(source: &str) -> Option<u32> {
    nesting(source, Language::JavaScript).map(|nesting| nesting.depth)
}

#[track_caller]
fn check(source: &str, expected: Option<u32>) {
    assert_eq!(depth(source), expected, "{source}");
}

#[test]
fn tokens_and_open_brackets_count() {
    check("", Some(0));
    check("a;b;c", Some(1));
    check("((((", Some(4));
    check("a+b+c", Some(5));
    check("[1,2,3,4]", Some(2));
    check("if(a)b;else if(c)d;else e", Some(9));
    check("function a(){}function b(){}function c(){}", Some(4));
    check("a()\nb()\nc()", Some(2));
    check("if(a)\nif(b)\nif(c)d", Some(7));
    check("switch(a){case 1:case 2:case 3:}", Some(6));
    check("a.case+a.case+a.case", Some(11));
}

#[test]
fn literals_and_comments_do_not_nest() {
    check("'((('", Some(1));
    check("\"\\\"(((\"", Some(1));
    check("/* ((( */ // (((\n1 // (((\u{2028}", Some(1));
    check("#!/bin/(((\n1", Some(1));
    check("`((( ${ `${1}` } (((`", Some(5));
    check("`${1}${/((/}`", Some(4));
    check("x=/[/(]((/", Some(3));
    check("if(a)/((/.b", Some(5));
    check("return /((/", Some(2));
    check("if(a){}/((/", Some(4));
    check("x=>{}/((/", Some(4));
}

#[test]
fn nothing_hides_behind_a_slash() {
    check("a/'/;((((('", Some(3));
    check("a()/1/'((('", Some(6));
    check("a++ / 2 / '((('", Some(6));
    check("x={}/1", Some(5));
    check("x={}/'/((((('", None);
    check("yield/'/((((('", None);
    check("a <!-- '\n(((('", None);
    check("--> '\n(((('", None);
    check("a;\n --> '\n(((('", None);
    check("a;/*\n*/--> '\n(((('", None);
    check("a;\u{2028}--> '\n(((('", None);
    check("while(i-->0)a", Some(6));
    check("`\n`-->a", Some(4));
}

/// Where the parser sees at least this much nesting, so must the scan.
#[test]
fn no_way_to_nest_is_missed() {
    for (opening, middle, closing) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{", "", "}"),
        ("a(", "1", ")"),
        ("x=>", "1", ""),
        ("x=>{", "", "}"),
        ("a=", "1", ""),
        ("!", "1", ""),
        ("- ", "1", ""),
        ("a?", "1", ":2"),
        ("a?1:", "2", ""),
        ("if(a)", "b", ""),
        ("if(a);else ", "b", ""),
        ("if(a){}else ", "b", ""),
        ("a:", "b", ""),
        ("do ", "a", ";while(b)"),
        ("`${", "1", "}`"),
        ("new ", "a", ""),
        ("a+", "b", ""),
        ("a**", "b", ""),
        ("function f(){", "", "}"),
        ("class A{m(){", "", "}}"),
        ("class A extends ", "B{}", "{}"),
        ("({a:", "1", "})"),
        ("for(;;)", "a", ""),
        ("with(a)", "b", ""),
        ("async x=>await ", "1", ""),
        ("/a/.b(", "1", ")"),
    ] {
        let source = format!("{}{middle}{}", opening.repeat(500), closing.repeat(500));
        assert!(depth(&source).is_none_or(|depth| depth >= 500), "{opening}: {:?}", depth(&source));
    }
}

/// What nests in types, where a comma or a word does not end what is before it.
#[test]
fn types_nest() {
    for (opening, middle, closing) in [
        ("A<b,", "c", ">"),
        ("A<", "b", ">"),
        ("keyof ", "a", ""),
        ("readonly keyof ", "a[]", ""),
        ("(a:", "b", ")=>c"),
        ("new (a:", "b", ")=>c"),
        ("{a:b;c:", "d", "}"),
        ("[a,", "b", "]"),
        ("A extends B?C:", "D", ""),
        ("A extends infer B extends ", "C", "?D:E"),
        ("asserts a is ", "b", ""),
        ("A|", "b", ""),
        ("`${", "a", "}`"),
        ("typeof a<b,", "c", ">"),
    ] {
        let source = format!("type T={}{middle}{}", opening.repeat(500), closing.repeat(500));
        let depth = nesting(&source, Language::TypeScript).map(|nesting| nesting.depth);
        assert!(depth.is_none_or(|depth| depth >= 500), "{opening}: {depth:?}");
    }
    // Comparisons end with their statement.
    let comparisons = "if (a < b) c(d, e)\n".repeat(500);
    assert!(nesting(&comparisons, Language::TypeScript).is_some_and(|nesting| nesting.depth < 20));
}

#[test]
fn work_is_the_sum_of_depths() {
    assert_eq!(nesting("a;b;c", Language::JavaScript).map(|nesting| nesting.work), Some(3));
    assert_eq!(nesting("((1))", Language::JavaScript).map(|nesting| nesting.work), Some(1 + 2 + 3 + 2 + 1));
}

proptest! {
    #[test]
    fn any_text_is_scanned(text in "(?s).{0,200}", code in "[(){}\\[\\]`$'\"/\\\\*\\n;,.a=>é\u{2028}-]{0,200}") {
        for language in [Language::JavaScript, Language::TypeScript] {
            nesting(&text, language);
            nesting(&code, language);
        }
    }
}
