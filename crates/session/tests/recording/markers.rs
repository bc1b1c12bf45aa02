//! [Markers](https://github.com/WICG/js-self-profiling/blob/main/markers.md): what the agent was doing.

use selfprof_session::{AgentState, Recording};
use selfprof_trace::Marker;

use crate::notation::{ALWAYS, Brackets, EVERYTHING, segment};

#[track_caller]
fn check(state: AgentState, expected: Option<Marker>) {
    for notation in ["0", "0 a"] {
        let mut segment = segment(notation);
        segment.samples[0].state = state;
        let mut recording = Recording::new(EVERYTHING);
        recording.append(&segment, ALWAYS, &[], &Brackets).unwrap();
        assert_eq!(recording.finish().samples()[0].marker, expected, "{state:?} in {notation:?}");
    }
}

#[test]
fn each_state_has_its_marker() {
    check(AgentState::JavaScript, Some(Marker::Script));
    check(AgentState::GarbageCollection, Some(Marker::Gc));
    check(AgentState::Parser, Some(Marker::Other));
    check(AgentState::BytecodeCompiler, Some(Marker::Other));
    check(AgentState::Compiler, Some(Marker::Other));
    check(AgentState::Other, Some(Marker::Other));
    check(AgentState::External, Some(Marker::Other));
    check(AgentState::AtomicsWait, None);
    check(AgentState::Idle, None);
}
