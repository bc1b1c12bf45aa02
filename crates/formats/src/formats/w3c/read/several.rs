//! Several traces in one file: a list, or one after the other, as programs write that append one for each session.

use selfprof_trace::foreign::{
    ForeignTrace, LimitExceeded, Limits, Location, Problem, ProblemKind, Problems, Remedy,
};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::read_one;
use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::thread::Thread;

/// Traces of one file.
const MAX_TRACES: usize = 1 << 16;

/// Whether a trace was read and there is more after it.
pub(super) fn is_followed(error: &serde_json::Error) -> bool {
    // serde_json has no other way to tell.
    error.is_syntax() && error.to_string().starts_with("trailing characters")
}

/// Reads a list of traces.
pub(super) fn read_list(text: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let text = String::from_utf8_lossy(text);
    let traces: Vec<&RawValue> =
        serde_json::from_str(&text).map_err(|error| ReadError::Json(Format::W3c, error))?;
    read_traces(traces.into_iter().map(|trace| Some(trace.get())), options)
}

/// Reads traces that follow each other. If the first one is a line, each line is one, and broken ones are left out.
/// Otherwise, a broken one is the last.
pub(super) fn read_lines(text: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let is_json = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    if lines.clone().next().is_some_and(is_json) {
        return read_traces(lines.by_ref().map(|line| is_json(line).then_some(line)), options);
    }
    let traces = serde_json::Deserializer::from_str(&text).into_iter::<&RawValue>();
    read_traces(traces.map(|trace| trace.ok().map(RawValue::get)), options)
}

/// Reads the traces, of which at least one must be one. The others are reported.
fn read_traces<'text>(
    traces: impl Iterator<Item = Option<&'text str>>,
    options: &ReadOptions,
) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let mut threads: Vec<(Thread, Problems)> = Vec::new();
    let mut reported = ForeignTrace::new(Limits::default());
    let mut first_error = None;
    let mut count = 0;
    for (index, trace) in traces.enumerate() {
        LimitExceeded::check("traces", index, MAX_TRACES).map_err(ReadError::Limit)?;
        let result = trace.map(|trace| read_one(trace.as_bytes(), options));
        match result {
            Some(Ok(read)) => {
                count += 1;
                threads.extend(read.into_iter().map(|(thread, problems)| (named(thread, count), problems)));
            }
            Some(Err(error @ ReadError::Limit(_))) => return Err(error),
            broken => {
                if let Some(Err(error)) = broken {
                    first_error.get_or_insert(error);
                }
                let location = Location::Element { list: "traces", index, member: "" };
                let (kind, remedy) = (ProblemKind::Thread, Remedy::NoThread);
                reported.report(Problem { location, value: None, kind, remedy });
            }
        }
    }
    match (threads.first_mut(), first_error) {
        (Some((_, problems)), _) => problems.append(reported.validate().1),
        (None, Some(error)) => return Err(error),
        (None, None) => threads.push((Thread::main(Default::default()), reported.validate().1)),
    }
    Ok(threads)
}

/// Main threads of several traces have one name, unless the file says which processes they are of.
fn named(thread: Thread, number: usize) -> Thread {
    if thread.process.is_none() && thread.name == Thread::MAIN && number > 1 {
        return Thread { name: format!("{} {number}", Thread::MAIN), ..thread };
    }
    thread
}

#[cfg(all(test, feature = "conversion"))]
mod tests {
    use super::*;
    use crate::{Hint, read};

    const TRACE: &str = r#"{"frames":[{"name":"f"}],"resources":[],"stacks":[{"frameId":0}],
        "samples":[{"timestamp":1,"stackId":0},{"timestamp":2,"stackId":0}]}"#;

    /// The names of the threads and how many problems there are.
    #[track_caller]
    fn check(text: &str, names: &[&str], problems: u64) {
        let profile = read(text.as_bytes(), Hint::default(), &ReadOptions::default()).unwrap();
        assert_eq!(profile.format, Format::W3c);
        let found: Vec<_> = profile.threads.iter().map(|(thread, _)| &*thread.name).collect();
        assert_eq!(found, names);
        assert!(profile.threads.iter().all(|(thread, _)| thread.trace.samples().len() == 2));
        assert_eq!(profile.threads.iter().map(|(_, problems)| problems.total()).sum::<u64>(), problems);
    }

    #[test]
    fn several_traces_are_read() {
        let line = TRACE.replace('\n', "");
        check(&format!("[{TRACE}]"), &["main-thread"], 0);
        check(&format!("[{TRACE},{{\"trace\":{TRACE}}}]"), &["main-thread", "main-thread 2"], 0);
        check(&format!("{line}\n{line}\n"), &["main-thread", "main-thread 2"], 0);
        check(&format!("{TRACE}\n\n{TRACE}{TRACE}"), &["main-thread", "main-thread 2", "main-thread 3"], 0);
        // A broken line does not take those after it with it.
        let broken = format!("{line}\n{{\"frames\":[\n{line}\n{{}}\n{line}");
        check(&broken, &["main-thread", "main-thread 2", "main-thread 3"], 2);
        check(&format!("[{TRACE},7,{TRACE}]"), &["main-thread", "main-thread 2"], 1);
    }

    #[test]
    fn text_without_a_trace_is_an_error() {
        for text in ["[{\"frames\":7}]", "[{\"frames\":[]},{}]", "[{\"frames\":[]"] {
            let result = read(text.as_bytes(), Hint::default(), &ReadOptions::default());
            assert!(matches!(result, Err(ReadError::Json(Format::W3c, _))), "{text}");
        }
    }
}
