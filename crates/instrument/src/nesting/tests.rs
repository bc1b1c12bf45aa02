use super::depth;
use proptest::prelude::*;

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

proptest! {
    #[test]
    fn any_text_is_scanned(text in "(?s).{0,200}", code in "[(){}\\[\\]`$'\"/\\\\*\\n;,.a=>é\u{2028}-]{0,200}") {
        depth(&text);
        depth(&code);
    }
}
