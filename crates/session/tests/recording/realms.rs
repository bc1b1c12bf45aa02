//! The realm check and the check for muted scripts of
//! [get a frame ID](https://wicg.github.io/js-self-profiling/#get-a-frame-id).

use selfprof_session::{
    Admission, AdmitRealm, AdmitScripts, FrameAdmission, Function, FunctionKind, Reach, RealmId, Realms,
    Recording,
};
use selfprof_trace::{Marker, Trace};

use crate::notation::{ALWAYS, EVERYTHING, segment, show};

/// Scripts 1 and 11 are a page's, 19 is muted in it; 2 and 29, muted, are a frame's of another origin; 3 and 39, muted,
/// are a frame's of the page's origin; no other script is registered.
fn page_with_frames() -> (Realms, [RealmId; 3]) {
    let mut realms = Realms::new();
    let [page, other, same] =
        [Some("a.example"), Some("b.example"), Some("a.example")].map(|group| realms.open(group));
    for (realm, script_id, muted) in [
        (page, 1, false),
        (page, 11, false),
        (page, 19, true),
        (other, 2, false),
        (other, 29, true),
        (same, 3, false),
        (same, 39, true),
    ] {
        realms.register(realm, script_id, muted).unwrap();
    }
    (realms, [page, other, same])
}

/// Admits scripts as outside of pages, where `host.js` is the host's.
fn host() -> AdmitScripts {
    AdmitScripts::except(["host.js"])
}

/// What a session of an isolated realm shows.
fn own<'a>(realms: &'a Realms, realm: RealmId, host: &'a AdmitScripts) -> AdmitRealm<'a> {
    AdmitRealm { realms, realm, reach: Reach::Realm, isolated: true, host }
}

fn record(samples: &str, admission: &dyn FrameAdmission) -> Trace {
    let mut recording = Recording::new(EVERYTHING);
    recording.append(&segment(samples), ALWAYS, &[], admission).unwrap();
    recording.finish()
}

/// A stack at the time 0.
fn at_once(stack: &str) -> String {
    if stack.is_empty() { "0".to_owned() } else { format!("0 {stack}") }
}

fn seen(realms: &Realms, realm: RealmId, reach: Reach, samples: &str) -> String {
    show(&record(samples, &AdmitRealm { reach, ..own(realms, realm, &host()) }))
}

/// What a session of the page, of the frame of another origin, and of the page with its same-origin frames sees.
#[track_caller]
fn check(stack: &str, in_page: &str, in_other: &str, with_same_origin: &str) {
    let (realms, [page, other, _]) = page_with_frames();
    let sessions = [
        (page, Reach::Realm, in_page),
        (other, Reach::Realm, in_other),
        (page, Reach::SameOrigin, with_same_origin),
    ];
    for (realm, reach, expected) in sessions {
        assert_eq!(seen(&realms, realm, reach, &at_once(stack)), at_once(expected), "{realm:?} {reach:?}");
    }
}

#[test]
fn a_realm_sees_its_own_scripts() {
    check("main@1;work@11;work@1", "main;work;work", "", "main;work;work");
    check("main@2", "", "main", "");
}

#[test]
fn realms_that_call_each_other_see_their_own_calls() {
    check("main@1;render@2", "main", "render", "main");
    check("render@2;main@1", "main", "render", "main");
    check("main@1;render@2;onRendered@1;paint@2", "main;onRendered", "render;paint", "main;onRendered");
    check("ping@1;ping@2;ping@1;ping@2", "ping;ping", "ping;ping", "ping;ping");
    check("main@1;inner@3;render@2;onRendered@1", "main;onRendered", "render", "main;inner;onRendered");
}

#[test]
fn same_origin_frames_are_shown_when_requested() {
    check("main@1;inner@3;main@1", "main;main", "", "main;inner;main");
    check("inner@3;[map]@0;visit@1", "visit", "", "inner;[map];visit");
}

#[test]
fn the_same_function_in_two_realms_is_two_functions() {
    check("main@1;main@2;main@3", "main", "main", "main;main");
}

#[test]
fn muted_scripts_never_show() {
    check("main@1;track@19;callback@1", "main;callback", "", "main;callback");
    check("main@1;track@39", "main", "", "main");
    check("render@2;track@29;render@2", "", "render;render", "");
}

#[test]
fn an_unregistered_script_is_never_shown() {
    // The program that opened the page, code made by eval, a script of a page that is gone.
    check("run@99;main@1;eval@98;work@1", "main;work", "", "main;work");
    check("run@99", "", "", "");
    check("run@0", "", "", "");
}

#[test]
fn host_calls_belong_to_the_script_that_made_them() {
    check("main@1;[appendChild]@50;[insert]@51", "main;[appendChild]", "", "main;[appendChild]");
    check(
        "main@1;[appendChild]@50;connected@1;[log]@50",
        "main;[appendChild];connected;[log]",
        "",
        "main;[appendChild];connected;[log]",
    );
    check(
        "main@1;[postMessage]@50;render@2;[log]@50",
        "main;[postMessage]",
        "render;[log]",
        "main;[postMessage]",
    );
    // Not the one further out on the stack.
    check("main@1;render@2;[log]@50", "main", "render;[log]", "main");
    check("main@1;track@19;[cookie]@50", "main", "", "main");
    check("main@1;eval@98;[log]@50", "main", "", "main");
    check("main@1;inner@3;[log]@50", "main", "", "main;inner;[log]");
}

/// The event loop and the page host's own work belong to no realm.
#[test]
fn host_code_that_no_script_called_never_shows() {
    check("[processTimers]@50;[listOnTimeout]@50;main@1", "main", "", "main");
    check("[processTimers]@50;[dispatchEvent]@51", "", "", "");
    check("[processTimers]@50;track@19;[log]@50", "", "", "");
}

/// A script's author chooses its URL.
#[test]
fn a_script_of_a_page_is_not_host_code_whatever_its_name() {
    let (realms, [page, ..]) = page_with_frames();
    let host = host();
    let admission = own(&realms, page, &host);
    let judge = |script_id| {
        let kind = FunctionKind::Script;
        admission.admit(&Function { name: 0, resource: 0, script_id, line: 1, column: 1, kind }, "host.js")
    };
    let expected =
        [(1, Admission::Show), (19, Admission::Hide), (3, Admission::Hide), (2, Admission::Foreign)];
    for (script_id, expected) in expected.into_iter().chain([(50, Admission::Host)]) {
        assert_eq!(judge(script_id), expected, "{script_id}");
    }
}

#[test]
fn a_sample_of_others_reads_as_idle() {
    let (realms, [page, other, same]) = page_with_frames();
    let samples = "0 main@1, 10 render@2, 20 render@2 gc, 30, 40 track@19, 50 inner@3, 60 [dispatchEvent]@50, 70 run@99";
    let markers = |realm| {
        let trace = record(samples, &own(&realms, realm, &host()));
        let marked = trace.samples().iter().filter(|sample| sample.marker.is_some());
        marked.map(|sample| sample.timestamp.0).collect::<Vec<_>>()
    };
    // A muted script is the page's own, and realms of one origin are of one agent: that somebody is active is no
    // secret.
    assert_eq!(markers(page), [0, 40, 50]);
    assert_eq!(markers(same), [0, 40, 50]);
    assert_eq!(markers(other), [10, 20]);
}

#[test]
fn a_collection_is_marked_for_the_realm_that_it_interrupts() {
    let (realms, [page, other, _]) = page_with_frames();
    let samples = "0 gc, 10 main@1, 20 gc, 30 main@1, 40 render@2, 50 gc, 60 main@1";
    assert_eq!(
        seen(&realms, page, Reach::Realm, samples),
        "0, 10 main, 20 main gc, 30 main, 40, 50, 60 main"
    );
    assert_eq!(seen(&realms, other, Reach::Realm, samples), "0, 10, 20, 30, 40 render, 50 gc, 60");
}

/// Markers reveal what a thread does, so realms that may share it with others get none.
#[test]
fn without_isolation_a_sample_has_its_stack_but_no_marker() {
    let (realms, [page, ..]) = page_with_frames();
    let host = host();
    let admission = AdmitRealm { isolated: false, ..own(&realms, page, &host) };
    let trace = record("0 main@1, 10 gc, 20 main@1", &admission);
    assert_eq!(show(&trace), "0 main, 10 main, 20 main");
    assert!(trace.samples().iter().all(|sample| sample.marker.is_none()));
    let shown = Marker::ALL.iter().filter(|&&marker| admission.marker(marker).is_some());
    assert_eq!(shown.collect::<Vec<_>>(), [&Marker::Style, &Marker::Layout]);
}

/// Scripts 60 and 61 are the host's: in their functions it does layout for the page, and for the frame of another
/// origin; 62 parses for the frame of the page's origin.
#[track_caller]
fn check_work(stack: &str, isolated: bool, in_page: &str, in_other: &str) {
    let (mut realms, [page, other, same]) = page_with_frames();
    realms.register_work(page, 60, Marker::Layout).unwrap();
    realms.register_work(other, 61, Marker::Layout).unwrap();
    realms.register_work(same, 62, Marker::Parse).unwrap();
    for (realm, expected) in [(page, in_page), (other, in_other)] {
        let trace = record(&at_once(stack), &AdmitRealm { isolated, ..own(&realms, realm, &host()) });
        assert_eq!(show(&trace), at_once(expected));
    }
}

#[test]
fn the_hosts_work_is_marked_for_the_realm_that_it_is_done_for() {
    check_work("main@1;[offsetWidth]@50;{}@60;[reflow]@51", true, "main;[offsetWidth] layout", "");
    check_work("[tick]@50;{}@60;[reflow]@51", true, "layout", "");
    check_work("[tick]@50;{}@61;[reflow]@51", true, "", "layout");
    // A document of the same origin counts as its own.
    check_work("[tick]@50;{}@62;[token]@51", true, "parse", "");
    // Work for another origin's document stays so, even when the page's own script is further out on the stack.
    check_work(
        "main@1;render@2;[offsetWidth]@50;{}@61;[reflow]@51",
        true,
        "main",
        "render;[offsetWidth] layout",
    );
}

#[test]
fn a_script_that_the_host_calls_is_no_work_of_the_host() {
    check_work("[tick]@50;{}@62;[run]@51;main@1", true, "main", "");
    check_work("[tick]@50;{}@62;[run]@51;main@1;[log]@50", true, "main;[log]", "");
    check_work("[tick]@50;{}@60;[call]@51;track@19", true, "", "");
    check_work(
        "[tick]@50;{}@60;[call]@51;main@1;[offsetWidth]@50;{}@60",
        true,
        "main;[offsetWidth] layout",
        "",
    );
}

#[test]
fn without_isolation_style_and_layout_alone_are_marked() {
    check_work("main@1;[offsetWidth]@50;{}@60;[reflow]@51", false, "main;[offsetWidth] layout", "");
    check_work("main@1;[innerHTML]@50;{}@62;[token]@51", false, "main;[innerHTML]", "");
}

/// Outside pages, everything that a script marks as layout counts as layout.
#[test]
fn in_a_program_scripts_do_the_work() {
    let admission = host().with_work("hidden.js", Marker::Layout);
    let samples = "0 main;{layout};reflow;measure, 10 main;{layout} gc, 20 main, 30 main;{layout};[sort]";
    assert_eq!(
        show(&record(samples, &admission)),
        "0 main;reflow;measure layout, 10 main gc, 20 main, 30 main;[sort] layout"
    );
}

/// The first sample is taken by the profiler's own constructor, which no trace of Chromium shows.
#[test]
fn the_profiler_does_not_show_itself() {
    let (realms, [page, ..]) = page_with_frames();
    let host = host().without(["hidden.js"]);
    let samples =
        "0 main@1;{Profiler}@50;[open]@51, 1 main@1;{stop}@50;then@1;[log]@51, 2 {tick}@50;[log]@51";
    let expected = "0 main, 1 main;then;[log], 2";
    assert_eq!(show(&record(samples, &own(&realms, page, &host))), expected);
    assert_eq!(show(&record(samples, &host)), expected);
}
