//! Reading a profile from an untrusted source.

use std::collections::HashMap;

use selfprof_trace::foreign::{
    ForeignEntry, ForeignFrame, ForeignSample, ForeignStack, ForeignTrace, LimitExceeded, Limits, Location,
    Problem, ProblemKind, Problems, Remedy, Vocabulary,
};
use selfprof_trace::{EntryType, Trace, UnknownEntryType};
use serde::de::{Error, IgnoredAny, MapAccess};

use crate::error::ReadError;
use crate::format::Format;
use crate::functions::ANONYMOUS;
use crate::json::{self, Exceeded, Members, Text, each, object, stop};
use crate::options::ReadOptions;
use crate::thread::Thread;

const WORDS: Vocabulary = Vocabulary {
    frames: "strings",
    resource: "",
    line: "",
    column: "",
    stacks: "stackFrames",
    parent: "parent",
    frame: "name",
    samples: "entries",
    timestamp: "timestamp",
    stack: "stack",
    marker: "",
};

/// The maximum number of threads in a profile.
const MAX_THREADS: usize = 1024;

/// Reads a profile from its decompressed text. The tables that threads share are copied, as far as a thread uses them.
pub(crate) fn read_text(text: &[u8], options: &ReadOptions) -> Result<Vec<(Thread, Problems)>, ReadError> {
    let mut profile = Profile {
        limits: options.limits,
        tables: ForeignTrace::of(&WORDS, options.limits),
        strings: 0,
        stacks: Vec::new(),
        has_tables: [false; 2],
        threads: Vec::new(),
        samples: 0,
        exceeded: None,
    };
    match json::read(text, ProfileObject { profile: &mut profile, is_outermost: true }) {
        Ok(()) => profile.into_threads().map_err(ReadError::Limit),
        Err(error) => Err(ReadError::of_json(Format::Explainer, error, profile.exceeded)),
    }
}

/// What has been read so far.
struct Profile {
    limits: Limits,
    /// The shared tables, which each thread's trace starts from.
    tables: ForeignTrace,
    /// The number of functions.
    strings: usize,
    /// The stacks with their keys.
    stacks: Vec<(f64, StackFrame)>,
    /// Whether `strings` and `stackFrames` have been read.
    has_tables: [bool; 2],
    threads: Vec<RawThread>,
    /// The number of samples and entries in all threads.
    samples: usize,
    exceeded: Exceeded,
}

#[derive(Clone, Copy, serde::Deserialize)]
struct StackFrame {
    name: Option<f64>,
    parent: Option<f64>,
}

/// A thread whose stack ids are not resolved yet.
struct RawThread {
    name: String,
    samples: Vec<(f64, Option<f64>)>,
    entries: Vec<RawEntry>,
}

struct RawEntry {
    entry_type: Result<EntryType, UnknownEntryType>,
    name: Option<String>,
    start_time: Option<f64>,
    duration: Option<f64>,
}

impl Profile {
    fn push_string(&mut self, text: &str, urls: &mut HashMap<String, usize>) -> Result<(), LimitExceeded> {
        let Function { name, url, line, column } = Function::of(text);
        let resource_id = match url {
            None => None,
            Some(url) => Some(match urls.get(url) {
                Some(&index) => index,
                None => {
                    self.tables.push_resource(url)?;
                    urls.insert(url.to_owned(), urls.len());
                    urls.len() - 1
                }
            }),
        };
        let resource_id = resource_id.map(|index| index as f64);
        self.strings += 1;
        self.tables.push_frame(&ForeignFrame { name, resource_id, line, column })
    }

    fn push_event(&mut self, thread: usize, event: Event) -> Result<(), LimitExceeded> {
        let Event { kind, timestamp, stack, name, duration } = event;
        LimitExceeded::check("samples", self.samples, self.limits.samples.min(self.limits.entries))?;
        self.samples += 1;
        let thread = &mut self.threads[thread];
        if kind.0 == "stack" {
            thread.samples.push((timestamp.unwrap_or(f64::NAN), stack));
        } else {
            let (entry_type, name) = (kind.0.parse(), name.map(|text| text.0));
            let duration = duration.or(Some(0.0)).filter(|_| entry_type == Ok(EntryType::Mark)).or(duration);
            thread.entries.push(RawEntry { entry_type, name, start_time: timestamp, duration });
        }
        Ok(())
    }

    /// Builds the traces.
    fn into_threads(mut self) -> Result<Vec<(Thread, Problems)>, LimitExceeded> {
        let mut ids: HashMap<u64, usize> = HashMap::with_capacity(self.stacks.len());
        for (index, (id, _)) in self.stacks.iter().enumerate() {
            ids.entry(id.to_bits()).or_insert(index);
        }
        for (index, (_, StackFrame { name, parent })) in self.stacks.iter().enumerate() {
            let parent_id = parent.and_then(|id| {
                let parent = ids.get(&id.to_bits()).map(|&parent| parent as f64);
                if parent.is_none() {
                    let location = Location::Element { list: WORDS.stacks, index, member: WORDS.parent };
                    let (kind, remedy) = (ProblemKind::Dangling, Remedy::Root);
                    self.tables.report(Problem { location, value: Some(id), kind, remedy });
                }
                parent
            });
            self.tables.push_stack(ForeignStack { parent_id, frame_id: name.unwrap_or(f64::NAN) })?;
        }
        // Every thread's trace has its own tables, so many threads with long tables could take much more memory than
        // the text.
        let threads = self.threads.len();
        LimitExceeded::check(
            "stacks in all threads",
            self.stacks.len().saturating_mul(threads),
            self.limits.stacks,
        )?;
        LimitExceeded::check(
            "functions in all threads",
            self.strings.saturating_mul(threads),
            self.limits.frames,
        )?;
        let Self { tables, threads, limits, .. } = self;
        let mut text_bytes = 0_usize;
        let of_thread = |thread: RawThread| {
            let (thread, problems) = thread.into_trace(tables.clone(), &ids)?;
            text_bytes = text_bytes.saturating_add(text_bytes_of(&thread.trace));
            if text_bytes > limits.text_bytes {
                return Err(LimitExceeded::new("bytes of text in all threads", limits.text_bytes));
            }
            Ok((thread, problems))
        };
        threads.into_iter().map(of_thread).collect()
    }
}

/// The size of a trace's names and URLs in bytes.
fn text_bytes_of(trace: &Trace) -> usize {
    let names = trace.names().iter().map(|(_, name)| name.len());
    names.chain(trace.resources().iter().map(|(_, url)| url.len())).sum()
}

impl RawThread {
    fn into_trace(
        self,
        mut trace: ForeignTrace,
        ids: &HashMap<u64, usize>,
    ) -> Result<(Thread, Problems), LimitExceeded> {
        for (index, (timestamp, stack)) in self.samples.into_iter().enumerate() {
            let stack_id = stack.and_then(|id| {
                let stack = ids.get(&id.to_bits()).map(|&stack| stack as f64);
                if stack.is_none() {
                    let location = Location::Element { list: WORDS.samples, index, member: WORDS.stack };
                    let (kind, remedy) = (ProblemKind::Dangling, Remedy::NoStack);
                    trace.report(Problem { location, value: Some(id), kind, remedy });
                }
                stack
            });
            trace.push_sample(ForeignSample { timestamp, stack_id, marker: None })?;
        }
        for RawEntry { entry_type, name, start_time, duration } in self.entries {
            let (entry_type, name) = (Some(entry_type), name.as_deref());
            trace.push_entry(&ForeignEntry { entry_type, name, start_time, duration })?;
        }
        let (trace, problems) = trace.validate();
        Ok((Thread::named(self.name, trace.narrowed()), problems))
    }
}

/// A function, parsed from its string.
#[derive(Debug, PartialEq)]
struct Function<'text> {
    name: &'text str,
    url: Option<&'text str>,
    line: Option<f64>,
    column: Option<f64>,
}

impl<'text> Function<'text> {
    /// Parses `name @ resource:line:column`, of which only the name is required. Any number at the end is taken for a
    /// position, so a resource that ends in a number is only unambiguous with a line.
    fn of(text: &'text str) -> Self {
        let (name, location) =
            text.rsplit_once(" @ ").map_or((text, None), |(name, location)| (name, Some(location)));
        let name = if name == ANONYMOUS { "" } else { name };
        let (url, last) = location.map_or((None, None), split_number);
        let (url, first) = match last {
            Some(_) => url.map_or((None, None), split_number),
            None => (url, None),
        };
        match first {
            Some(_) => Self { name, url, line: first, column: last },
            None => Self { name, url, line: last, column: None },
        }
    }
}

/// Splits off a final colon and number.
fn split_number(location: &str) -> (Option<&str>, Option<f64>) {
    let number = location
        .rsplit_once(':')
        .and_then(|(rest, digits)| Some((rest, digits.parse::<u32>().ok()?, digits)));
    match number {
        Some((rest, number, digits)) if number > 0 && !digits.starts_with(['0', '+']) => {
            (Some(rest), Some(number.into()))
        }
        _ => (Some(location), None),
    }
}

/// An element of a thread's list: a stack, a mark or a measure.
#[derive(serde::Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Text,
    timestamp: Option<f64>,
    stack: Option<f64>,
    name: Option<Text>,
    duration: Option<f64>,
}

/// Reads the profile, or the object that contains it.
struct ProfileObject<'read> {
    profile: &'read mut Profile,
    is_outermost: bool,
}

impl<'de> Members<'de> for ProfileObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "a profile";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { profile, is_outermost } = self;
        while let Some(Text(member)) = map.next_key()? {
            match &*member {
                "strings" if std::mem::replace(&mut profile.has_tables[0], true) => {
                    return Err(A::Error::duplicate_field("strings"));
                }
                "stackFrames" if std::mem::replace(&mut profile.has_tables[1], true) => {
                    return Err(A::Error::duplicate_field("stackFrames"));
                }
                "strings" => {
                    let (mut urls, mut exceeded) = (HashMap::new(), None);
                    let push = |Text(text)| profile.push_string(&text, &mut urls);
                    let result = map.next_value_seed(each(&mut exceeded, push));
                    profile.exceeded = profile.exceeded.or(exceeded);
                    result?;
                }
                "stackFrames" => map.next_value_seed(object(StacksObject { profile }))?,
                "profile" if is_outermost => {
                    map.next_value_seed(object(ProfileObject { profile, is_outermost: false }))?;
                }
                "version" | "options" | "effectiveInterval" if is_outermost => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    let limit = LimitExceeded::check("threads", profile.threads.len(), MAX_THREADS);
                    limit.map_err(|limit| stop(limit, &mut profile.exceeded))?;
                    if profile.threads.iter().any(|thread| thread.name == member) {
                        return Err(A::Error::custom(format_args!("duplicate thread `{member}`")));
                    }
                    let index = profile.threads.len();
                    profile.threads.push(RawThread {
                        name: member,
                        samples: Vec::new(),
                        entries: Vec::new(),
                    });
                    let mut exceeded = None;
                    let push = |event| profile.push_event(index, event);
                    let result = map.next_value_seed(each(&mut exceeded, push));
                    profile.exceeded = profile.exceeded.or(exceeded);
                    result?;
                }
            }
        }
        match ["strings", "stackFrames"].into_iter().zip(profile.has_tables).find(|(_, has)| !has) {
            Some((name, _)) if is_outermost => Err(A::Error::missing_field(name)),
            _ => Ok(()),
        }
    }
}

/// Reads the stacks, an object with ids as keys.
struct StacksObject<'read> {
    profile: &'read mut Profile,
}

impl<'de> Members<'de> for StacksObject<'_> {
    type Value = ();
    const EXPECTED: &'static str = "stacks by their ids";

    fn read<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let profile = self.profile;
        while let Some((Text(id), stack)) = map.next_entry()? {
            let limit = LimitExceeded::check("stacks", profile.stacks.len(), profile.limits.stacks);
            limit.map_err(|limit| stop(limit, &mut profile.exceeded))?;
            // A stack whose key is not a number cannot be referred to.
            let id = id.parse().unwrap_or(f64::NAN);
            profile.stacks.push((id, stack));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_parsed_into_functions() {
        #[track_caller]
        fn check(text: &str, expected: (&str, Option<&str>, Option<f64>, Option<f64>)) {
            let (name, url, line, column) = expected;
            assert_eq!(Function::of(text), Function { name, url, line, column });
        }
        check("f", ("f", None, None, None));
        check("(anonymous)", ("", None, None, None));
        check("f @ a.js:7:8", ("f", Some("a.js"), Some(7.0), Some(8.0)));
        check("f @ a.js:7", ("f", Some("a.js"), Some(7.0), None));
        check("f @ a.js", ("f", Some("a.js"), None, None));
        check(
            "a @ b @ http://localhost:80/a.js:7:8",
            ("a @ b", Some("http://localhost:80/a.js"), Some(7.0), Some(8.0)),
        );
        check("f @ a.js:0:8", ("f", Some("a.js:0"), Some(8.0), None));
        check("f @ a.js:+7:99999999999", ("f", Some("a.js:+7:99999999999"), None, None));
        check(" @ ", ("", Some(""), None, None));
    }
}
