//! What is refused, and that nothing hostile ends the process.

#![forbid(unsafe_code)]

use proptest::prelude::*;
use selfprof_instrument::{Goal, Options, Position, Problem, instrument};

#[track_caller]
fn check(source: &str, expected: &str) {
    let problem = instrument(source, &Options::default()).map(|_| ()).expect_err(source);
    assert_eq!(problem.to_string(), expected);
}

#[test]
fn problems_say_what_and_where() {
    check("let x = ;", "1:9: Unexpected token");
    check("é;\n x y", "2:3: Expected a semicolon or an implicit semicolon after a statement, but found none");
    check("f(<a/>)", "1:3: Unexpected JSX expression");
    check(
        "let x: number",
        "1:6: Expected a semicolon or an implicit semicolon after a statement, but found none",
    );
    check("while (a) function b() {}", "1:11: the body of a loop is a declaration");
    check("let $\\u0065 = 1; f(\\u0024t)", "it uses a name of the instrumentation");
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let problem = instrument(&deep, &Options::default()).map(|_| ()).expect_err("it is deep");
    assert!(matches!(problem, Problem::TooDeep { depth: 100_001, .. }), "{problem}");
}

#[test]
fn goals_decide_what_is_javascript() {
    let check = |source: &str, goal: Goal, is_right: bool| {
        let result = instrument(source, &Options { goal, ..Options::default() });
        assert_eq!(result.is_ok(), is_right, "{source} {goal:?}");
    };
    for (source, script, common_js, module, unknown) in [
        ("return 1", false, true, false, false),
        ("import a from 'a'; await a", false, false, true, true),
        ("await 1", false, false, true, true),
        ("var await", true, true, false, true),
        ("#!/usr/bin/env node\nf()", true, true, true, true),
    ] {
        check(source, Goal::Script, script);
        check(source, Goal::CommonJs, common_js);
        check(source, Goal::Module, module);
        check(source, Goal::Unknown, unknown);
    }
}

#[test]
fn positions_are_those_of_the_script_at_the_ends() {
    let instrumented = instrument("", &Options::default()).expect("no code is JavaScript");
    assert_eq!(instrumented.text, "");
    assert_eq!(instrumented.functions.len(), 1);
    assert_eq!(instrumented.functions[0].end, Position { line: 1, column: 1 });
    assert_eq!(instrumented.function_at(1, 1), Some(0));
    assert_eq!(instrumented.function_at(900, 1), Some(0));
    assert_eq!(instrumented.function_at(0, 0), None);
}

/// Removes the insertions, which have all the names of the runtime in them.
fn plain(instrumented: &str) -> String {
    let mut text = instrumented.to_owned();
    for (insertion, replacement) in [
        ("{let{}=$t?.()||0;", "{"),
        ("$e?.()", ""),
        ("$t?.()", ""),
        ("$x(", ""),
        ("$h(", ""),
        ("$s(", ""),
        ("$r(", ""),
    ] {
        text = text.replace(insertion, replacement);
    }
    text.retain(|character| !"(){};, ".contains(character));
    text
}

const WORDS: &[&str] = &[
    "a",
    "b",
    "=>",
    "=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "\n",
    " ",
    "if(a)",
    "else ",
    "for(;;)",
    "while(a)",
    "do ",
    "return ",
    "return",
    "function f(){",
    "async ",
    "await ",
    "yield ",
    "class A{",
    "m(){",
    "constructor(){",
    "get g(){",
    "static{",
    "x=",
    "?.",
    ".",
    ".sort()",
    ".replace(a)",
    ".offsetWidth",
    "new ",
    "delete ",
    "typeof",
    "`",
    "${",
    "'s'",
    "/r/",
    "1",
    "...",
    "?",
    ":",
    "l:",
    "break;",
    "continue;",
    "in ",
    "of ",
    "let a",
    "var ",
    "const ",
    "try{",
    "catch{",
    "finally{",
    "throw ",
    "switch(a){",
    "case 1:",
    "default:",
    "with(a)",
    "'use strict'",
    "import ",
    "export ",
    "super()",
    "this",
    "!",
    "-",
    "++",
    "/*c*/",
    "//c\n",
    "é",
    "𝒳",
    "()=>",
    "JSON.parse(a)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn random_text_is_refused_or_only_added_to(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 0..24),
        min_statements in 0_u32..6,
    ) {
        let source = words.concat();
        if let Ok(instrumented) = instrument(&source, &Options { min_statements, ..Options::default() }) {
            prop_assert_eq!(plain(&instrumented.text), plain(&source));
            prop_assert!(instrumented.source_map(&source, "a.js", None).is_ok());
            // What is inserted is JavaScript where it is.
            let names = selfprof_instrument::Names::absent_from([instrumented.text.as_str()]);
            let again = instrument(&instrumented.text, &Options { names, ..Options::default() });
            prop_assert!(again.is_ok(), "{source}\n{}\n{again:?}", instrumented.text);
        }
    }
}
