//! The deepest sources that are accepted fit in the stack that was promised, whatever nests in them.

#![forbid(unsafe_code)]

use selfprof_instrument::{Calls, Options, Problem, instrument, instrument_calls};

const NESTINGS: [(&str, &str, &str); 30] = [
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{", "", "}"),
    ("a(", "1", ")"),
    ("a[", "1", "]"),
    ("x=>", "1", ""),
    ("x=>{", "", "}"),
    ("(a,b=", "1", ")=>1"),
    ("a=", "1", ""),
    ("!", "1", ""),
    ("a?", "1", ":2"),
    ("a?1:", "2", ""),
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
    ("function f(){", "", "}"),
    ("class A{m(){", "", "}}"),
    ("class A extends ", "class{}", "{}"),
    ("({a:", "1", "})"),
    ("for(;;)", "a", ""),
    ("({a:", "b", "}={})"),
    ("var {a=", "1", "}=2;"),
    ("async x=>await ", "1", ""),
];

#[test]
fn what_is_accepted_fits() {
    // Not all of the stack: the thread needs some itself.
    const STACK: usize = 8 << 20;
    let options = Options { stack_bytes: STACK - (64 << 10), ..Options::default() };
    for (opening, middle, closing) in NESTINGS {
        let nested = |count: usize| format!("{}{middle}{}", opening.repeat(count), closing.repeat(count));
        let run = |source: String| {
            let options = options.clone();
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || {
                    let calls = Calls { first_id: 0, is_chosen: &|_| true };
                    instrument_calls(&source, &options, &calls)?;
                    instrument(&source, &options).map(drop)
                })
                .expect("a thread")
                .join()
                .expect("no panic")
        };
        let (mut accepted, mut refused) = (1, 1 << 20);
        while refused - accepted > 1 {
            let count = (accepted + refused) / 2;
            match run(nested(count)) {
                Err(Problem::TooDeep { .. } | Problem::UnknownDepth) => refused = count,
                _ => accepted = count,
            }
        }
        assert!(accepted < 1 << 19, "{opening} is never too deep");
    }
}
