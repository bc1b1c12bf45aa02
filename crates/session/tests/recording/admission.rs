//! [Get a frame ID](https://wicg.github.io/js-self-profiling/#get-a-frame-id): which frames a stack keeps.

use crate::notation::{ALWAYS, EVERYTHING, InnermostBrackets, record, segment, show};
use selfprof_session::Recording;

#[track_caller]
fn check(stack: &str, expected: &str) {
    let expected = if expected.is_empty() { "0".to_owned() } else { format!("0 {expected}") };
    assert_eq!(show(&record(EVERYTHING, &[&format!("0 {stack}")])), expected);
}

#[test]
fn author_code_is_shown() {
    check("main", "main");
    check("main;work;work", "main;work;work");
}

#[test]
fn host_code_is_a_name_and_what_it_calls_is_folded_into_it() {
    check("main;[read]", "main;[read]");
    check("main;[read];[open];[stat]", "main;[read]");
    check("[start];[load];main", "[start];main");
}

#[test]
fn host_code_is_shown_again_below_the_authors_code_that_it_called() {
    check("main;[forEach];[iterate];visit;[push];[grow]", "main;[forEach];visit;[push]");
}

#[test]
fn host_code_without_a_name_is_left_out() {
    check("[];[load];main", "[load];main");
    check("main;[];[];work", "main;work");
    check("main;[];[read];[]", "main;[read]");
    check("[];[]", "");
}

#[test]
fn anonymous_authors_are_shown() {
    check("main;;work", "main;;work");
}

#[test]
fn hidden_code_is_left_out_and_its_callees_become_those_of_its_caller() {
    check("main;{secret};work", "main;work");
    check("{secret};main;{secret}", "main");
    check("{secret};{secret}", "");
}

/// A built-in function is attributed to the script that invoked it; see "Cross-origin script contents".
#[test]
fn host_code_that_hidden_code_calls_is_hidden_with_it() {
    check("main;{secret};[random]", "main");
    check("main;{secret};[random];[entropy]", "main");
    check("main;[forEach];{secret};[push]", "main;[forEach]");
    check("main;{secret};[];[random]", "main");
    check("{secret};[forEach];visit;[push]", "visit;[push]");
}

#[test]
fn the_innermost_function_can_stand_for_host_code_that_the_author_did_not_call() {
    #[track_caller]
    fn check(stack: &str, expected: &str) {
        let mut recording = Recording::new(EVERYTHING);
        recording.append(&segment(&format!("0 {stack}")), ALWAYS, &[], &InnermostBrackets).unwrap();
        assert_eq!(show(&recording.finish()), format!("0 {expected}").trim_end());
    }
    check("[task]", "[task]");
    check("[task];[resolve];[stat]", "[stat]");
    check("[task];[resolve];[]", "[resolve]");
    check("[task];[resolve];callback;work", "callback;work");
    check("[task];callback;[read];[open];visit;[stat]", "callback;[read];visit;[stat]");
    check("main;[read];[open]", "main;[read]");
    // Never what hidden code calls.
    check("[task];{secret};[random]", "[task]");
    check("{secret};[random];[entropy]", "");
}
