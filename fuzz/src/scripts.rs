//! Scripts that are instrumented.

use std::thread;

use selfprof_instrument::{
    Calls, Goal, Instrumented, Names, Options, Position, instrument as instrumented, instrument_calls,
};

use crate::profiles::checked;

/// The stack of the thread, what it may use for an input, and what for the longer text that comes of it.
const STACK: usize = 96 << 20;
const STACK_OF_INPUT: usize = 8 << 20;
const STACK_OF_OUTPUT: usize = 80 << 20;

/// A byte with options, and a script.
pub fn instrument(input: &[u8]) {
    let Some((&bits, source)) = input.split_first() else { return };
    let source = String::from_utf8_lossy(source).into_owned();
    let on_thread =
        thread::Builder::new().stack_size(STACK).spawn(move || check(&source, bits)).expect("a thread");
    if let Err(panic) = on_thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn check(source: &str, bits: u8) {
    let goal = [Goal::Unknown, Goal::Script, Goal::CommonJs, Goal::Module][usize::from(bits & 3)];
    let options = Options {
        goal,
        names: Names::absent_from([source]),
        min_statements: u32::from(bits >> 3 & 7),
        has_fallback: bits & 4 != 0,
        stack_bytes: STACK_OF_INPUT,
    };
    let calls = Calls { first_id: 7, is_chosen: &|_| true };
    let result = if bits & 64 == 0 {
        instrumented(source, &options)
    } else {
        instrument_calls(source, &options, &calls)
    };
    let Some(result) = checked(result) else { return };
    assert_only_added(source, &result);
    assert_positions(&result);
    // What is inserted is JavaScript where it is.
    let names = Names::absent_from([result.text.as_str()]);
    let again = instrumented(&result.text, &Options { names, stack_bytes: STACK_OF_OUTPUT, ..options });
    assert!(again.is_ok(), "{again:?}\n{}", result.text);
    assert!(checked(result.source_map(source, "a.js", None)).is_some());
}

/// Without the insertions, the text is the source; and it has as many lines.
fn assert_only_added(source: &str, result: &Instrumented) {
    let mut rest = 0;
    let mut plain = String::new();
    for range in result.insertions() {
        assert!(!result.text[range.clone()].contains(|c: char| c == '\n' || c == '\r' || !c.is_ascii()));
        plain.push_str(&result.text[rest..range.start]);
        rest = range.end;
    }
    plain.push_str(&result.text[rest..]);
    assert_eq!(plain, source);
}

/// Functions are within what is around them, in the order of their starts, and found where they start.
fn assert_positions(result: &Instrumented) {
    let functions = &result.functions;
    assert_eq!(functions[0].start, Position { line: 1, column: 1 });
    assert!(functions.is_sorted_by_key(|function| function.start));
    for (index, function) in functions.iter().enumerate() {
        assert!(function.start <= function.end && function.line >= 1 && function.column >= 1);
        let Some(parent) = function.parent else {
            assert_eq!(index, 0);
            continue;
        };
        let parent_function = &functions[parent as usize];
        assert!((parent as usize) < index);
        assert!(parent_function.start <= function.start && function.end <= parent_function.end);
        let Position { line, column } = function.start;
        let found = result.function_at(line, column).map(|found| functions[found].start);
        assert_eq!(found, Some(function.start));
    }
}
