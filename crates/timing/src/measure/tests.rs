//! Bounds and the ranges that they resolve to. Mark 1 is at 10 ms, mark 2 at 25.5 ms; now is 100 ms.

use super::*;
use Bound::{Attribute, Mark, Omitted, Time, UnknownName};

fn timing() -> PerformanceTiming {
    let mut values = [0.0; TimingAttribute::ALL.len()];
    values[TimingAttribute::NavigationStart as usize] = 1_336_435_200_000.0;
    values[TimingAttribute::ResponseEnd as usize] = 1_336_435_200_120.0;
    PerformanceTiming::new(values)
}

fn latest_mark(name: NameId) -> Option<HighResTime> {
    match name.0 {
        1 => Some(HighResTime(10.0)),
        2 => Some(HighResTime(25.5)),
        _ => None,
    }
}

fn resolve(
    start: Bound,
    end: Bound,
    duration: Option<f64>,
    timing: Option<&PerformanceTiming>,
) -> Result<(f64, f64), MeasureError> {
    let bounds = Bounds { start, end, duration: duration.map(HighResTime) };
    let range = bounds.resolve(timing, latest_mark, || HighResTime(100.0))?;
    Ok((range.start.0, range.duration.0))
}

#[track_caller]
fn check(start: Bound, end: Bound, duration: Option<f64>, expected: Result<(f64, f64), MeasureError>) {
    assert_eq!(resolve(start, end, duration, Some(&timing())), expected, "{start:?} {end:?} {duration:?}");
}

const A: Bound = Mark(NameId(1));
const B: Bound = Mark(NameId(2));
const NAVIGATION_START: Bound = Attribute(TimingAttribute::NavigationStart);
const RESPONSE_END: Bound = Attribute(TimingAttribute::ResponseEnd);
const LOAD_EVENT_END: Bound = Attribute(TimingAttribute::LoadEventEnd);

const fn at(time: f64) -> Bound {
    Time(HighResTime(time))
}

#[test]
fn from_the_time_origin_until_now_by_default() {
    check(Omitted, Omitted, None, Ok((0.0, 100.0)));
    check(A, Omitted, None, Ok((10.0, 90.0)));
    check(Omitted, A, None, Ok((0.0, 10.0)));
}

#[test]
fn between_marks_and_times() {
    check(A, B, None, Ok((10.0, 15.5)));
    check(B, A, None, Ok((25.5, -15.5)));
    check(A, A, None, Ok((10.0, 0.0)));
    check(at(1.25), B, None, Ok((1.25, 24.25)));
    check(at(0.0), at(1.23456789), None, Ok((0.0, 1.23456789)));
    check(at(-0.0), at(200.0), None, Ok((0.0, 200.0)));
}

#[test]
fn a_duration_stands_for_one_end() {
    check(A, Omitted, Some(5.0), Ok((10.0, 5.0)));
    check(Omitted, B, Some(5.5), Ok((20.0, 5.5)));
    check(Omitted, A, Some(30.0), Ok((-20.0, 30.0)));
    check(at(3.0), Omitted, Some(0.0), Ok((3.0, 0.0)));
    // The specification adds and subtracts, which loses precision.
    check(at(0.2), Omitted, Some(0.1), Ok((0.2, (0.2 + 0.1) - 0.2)));
}

#[test]
fn a_start_or_an_end_may_be_a_milestone_of_the_load() {
    check(NAVIGATION_START, RESPONSE_END, None, Ok((0.0, 120.0)));
    check(RESPONSE_END, Omitted, None, Ok((120.0, -20.0)));
    check(RESPONSE_END, at(150.0), None, Ok((120.0, 30.0)));
}

#[test]
fn a_milestone_that_was_not_reached_is_no_bound() {
    let attribute = TimingAttribute::LoadEventEnd;
    check(LOAD_EVENT_END, A, None, Err(MeasureError::AttributeIsZero { edge: Edge::Start, attribute }));
    check(A, LOAD_EVENT_END, None, Err(MeasureError::AttributeIsZero { edge: Edge::End, attribute }));
    // navigationStart is the origin even when its value is 0.
    let values = PerformanceTiming::new([0.0; TimingAttribute::ALL.len()]);
    assert_eq!(resolve(NAVIGATION_START, at(4.0), None, Some(&values)), Ok((0.0, 4.0)));
}

#[test]
fn outside_of_windows_there_are_no_milestones() {
    let expected = MeasureError::NoWindow { edge: Edge::End, attribute: TimingAttribute::NavigationStart };
    assert_eq!(resolve(A, NAVIGATION_START, None, None), Err(expected));
    assert_eq!(expected.name(), "TypeError");
}

#[test]
fn a_mark_must_exist() {
    let missing = |edge, name: Option<u32>| Err(MeasureError::NoSuchMark { edge, name: name.map(NameId) });
    check(Mark(NameId(3)), B, None, missing(Edge::Start, Some(3)));
    check(A, UnknownName, None, missing(Edge::End, None));
    // The end is resolved first.
    check(UnknownName, Mark(NameId(3)), None, missing(Edge::End, Some(3)));
    // With a duration and no end, the start is resolved first.
    check(UnknownName, Omitted, Some(-1.0), missing(Edge::Start, None));
    check(Omitted, UnknownName, Some(-1.0), missing(Edge::End, None));
}

#[test]
fn negative_times_are_refused() {
    check(at(-0.1), B, None, Err(MeasureError::NegativeTime { edge: Edge::Start }));
    check(A, at(-1e-9), None, Err(MeasureError::NegativeTime { edge: Edge::End }));
    check(at(-1.0), at(-1.0), None, Err(MeasureError::NegativeTime { edge: Edge::End }));
    check(A, Omitted, Some(-1.0), Err(MeasureError::NegativeDuration));
    check(Omitted, A, Some(-1.0), Err(MeasureError::NegativeDuration));
}

#[test]
fn two_of_three_must_be_given() {
    check(A, B, Some(1.0), Err(MeasureError::TooMany));
    check(Omitted, Omitted, Some(1.0), Err(MeasureError::DurationAlone));
    // Checked before any name is looked up.
    check(UnknownName, UnknownName, Some(-1.0), Err(MeasureError::TooMany));
}

#[test]
fn huge_times_do_not_result_in_nan() {
    check(at(f64::MAX), Omitted, Some(f64::MAX), Ok((f64::MAX, f64::INFINITY)));
    check(Omitted, at(f64::MAX), Some(f64::MAX), Ok((0.0, f64::MAX)));
}

#[test]
fn the_clock_is_read_only_for_a_measure_until_now() {
    let bounds = Bounds { start: A, end: B, duration: None };
    let never = || -> HighResTime { panic!("the clock was read") };
    assert!(bounds.resolve(None, latest_mark, never).is_ok());
}

#[test]
fn errors_have_the_names_of_the_specification() {
    #[track_caller]
    fn check(error: MeasureError, name: &str, message: &str) {
        assert_eq!((error.name(), error.to_string().as_str()), (name, message));
    }
    let (edge, attribute) = (Edge::End, TimingAttribute::DomLoading);
    check(MeasureError::NoSuchMark { edge, name: None }, "SyntaxError", "the end mark does not exist");
    check(
        MeasureError::AttributeIsZero { edge, attribute },
        "InvalidAccessError",
        "the end is domLoading, which is 0",
    );
    check(
        MeasureError::NoWindow { edge, attribute },
        "TypeError",
        "the end is domLoading, which only windows have",
    );
    check(MeasureError::NegativeTime { edge }, "TypeError", "the end time is negative");
}
