//! [Get a stack ID](https://wicg.github.io/js-self-profiling/#get-a-stack-id): stacks are interned root first.

use selfprof_session::{Admission, AdmitScripts, FrameAdmission, Function, FunctionKind, Recording};
use selfprof_trace::{Frame, Position};

use crate::notation::{ALWAYS, EVERYTHING, record, segment, show_stacks};

#[track_caller]
fn check(segments: &[&str], expected: &[&str]) {
    let trace = record(EVERYTHING, segments);
    assert_eq!(show_stacks(&trace), expected);
    for (id, stack) in trace.stacks().iter() {
        assert!(stack.parent.is_none_or(|parent| parent < id), "the parent of {stack:?} comes first");
    }
}

#[test]
fn parents_come_before_their_children() {
    check(&["0 a;b;c"], &["a", "a;b", "a;b;c"]);
    check(&["0 a;b;c, 1 a;d, 2 e"], &["a", "a;b", "a;b;c", "a;d", "e"]);
}

#[test]
fn equal_stacks_are_kept_once() {
    check(&["0 a;b, 1 a;b, 2 a", "3 a;b, 4 a;c"], &["a", "a;b", "a;c"]);
    check(&["0 a;[f];[g], 1 a;[f];[h]"], &["a", "a;[f]"]);
    check(&["0 a;{x};b, 1 a;b"], &["a", "a;b"]);
}

#[test]
fn stacks_are_in_the_order_of_time() {
    check(&["5 b, 0 a"], &["a", "b"]);
}

#[test]
fn stacks_of_garbage_collections_are_not_read() {
    check(&["0 a gc, 1 b"], &["b"]);
}

#[test]
fn frames_have_their_scripts_position() {
    #[track_caller]
    fn check(function: Function, expected: (Option<&str>, Option<Position>)) {
        let mut segment = segment("0 f");
        segment.strings.push("".into());
        segment.functions[0] = Function { name: segment.functions[0].name, ..function };
        let mut recording = Recording::new(EVERYTHING);
        recording.append(&segment, ALWAYS, &[], &AdmitScripts::except(["node:"])).unwrap();
        let trace = recording.finish();
        let (_, frame): (_, Frame) = trace.frames().iter().next().unwrap();
        assert_eq!((frame.resource.map(|id| &trace.resources()[id]), frame.position()), expected);
    }
    let function = segment("0 f").functions[0];
    let (app, none) = (function.resource, function.resource + 1);
    let script = Function { line: 3, column: 9, ..function };
    check(Function { resource: app, ..script }, (Some("app.js"), Position::new(3, 9)));
    check(Function { line: 0, ..script }, (Some("app.js"), None));
    // A function that `eval` made has no script URL, so its position would be meaningless.
    check(Function { resource: none, ..script }, (None, None));
    check(Function { kind: FunctionKind::BuiltIn, ..script }, (None, None));
}

#[test]
fn the_platforms_scripts_are_host_code() {
    #[track_caller]
    fn check(resource: &str, kind: FunctionKind, expected: Admission) {
        let function = Function { kind, ..segment("0 f").functions[0] };
        let admission =
            AdmitScripts::except(["node:", "/opt/selfprof/"]).without(["/opt/selfprof/profiler.js"]);
        assert_eq!(admission.admit(&function, resource), expected);
    }
    check("node:fs", FunctionKind::Script, Admission::Host);
    check("/opt/selfprof/index.js", FunctionKind::Script, Admission::Host);
    check("/opt/selfprof/profiler.js", FunctionKind::Script, Admission::Omit);
    check("/app/node:fs", FunctionKind::Script, Admission::Show);
    check("", FunctionKind::Script, Admission::Show);
    check("/app/main.js", FunctionKind::BuiltIn, Admission::Host);
}
