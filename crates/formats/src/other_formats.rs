//! Files that look like profiles but are not read.

use std::fmt;

/// A kind of file that people try to read, but that is no profile of time or says too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFormat {
    /// V8's sampling heap profile, `.heapprofile`.
    HeapProfile,
    /// V8's heap snapshot, `.heapsnapshot`.
    HeapSnapshot,
    /// V8's precise coverage.
    Coverage,
    /// A reply or an event of the DevTools protocol, around a profile.
    ProtocolMessage,
    /// What `node --prof` writes.
    V8Log,
    /// A profile or a part of one in Sentry's format.
    Sentry,
    /// A recording of the React Profiler.
    ReactProfiler,
    /// A recording of Safari's Web Inspector.
    SafariTimeline,
    /// A log of HTTP requests.
    Har,
    /// A source map.
    SourceMap,
    /// What Linux's `perf record` writes.
    PerfData,
}

impl OtherFormat {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::HeapProfile,
        Self::HeapSnapshot,
        Self::Coverage,
        Self::ProtocolMessage,
        Self::V8Log,
        Self::Sentry,
        Self::ReactProfiler,
        Self::SafariTimeline,
        Self::Har,
        Self::SourceMap,
        Self::PerfData,
    ];

    /// What to do instead.
    pub fn hint(self) -> &'static str {
        match self {
            Self::HeapProfile | Self::HeapSnapshot => {
                "it says what uses memory, and DevTools opens it; `selfprof run` and `node --cpu-prof` record where time goes"
            }
            Self::Coverage => "it counts calls; `selfprof run` and `node --cpu-prof` record where time goes",
            Self::ProtocolMessage => "save the value of its member `profile`",
            Self::V8Log => "record with `selfprof run` or `node --cpu-prof` instead of `--prof`",
            Self::Sentry => {
                "`selfprof-collector` takes in the envelopes that Sentry's SDKs send; for a file, save the JSON of \
                 `await profiler.stop()`, or record with `node --cpu-prof`"
            }
            Self::ReactProfiler => {
                "it has the times of components; DevTools' Performance panel records those of functions"
            }
            Self::SafariTimeline => "record with the Firefox Profiler or with DevTools' Performance panel",
            Self::Har => "DevTools' Performance panel records functions; save its trace",
            Self::SourceMap => "put it beside its script, or name its folder with `--source-maps DIR`",
            Self::PerfData => "`perf script` and the Firefox Profiler's importer convert it",
        }
    }
}

/// With its article.
impl fmt::Display for OtherFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HeapProfile => "a V8 heap profile",
            Self::HeapSnapshot => "a V8 heap snapshot",
            Self::Coverage => "V8's coverage",
            Self::ProtocolMessage => "a message of the DevTools protocol with a profile in it",
            Self::V8Log => "a log of `node --prof`",
            Self::Sentry => "a profile in Sentry's format",
            Self::ReactProfiler => "a recording of the React Profiler",
            Self::SafariTimeline => "a recording of Safari's Web Inspector",
            Self::Har => "a log of HTTP requests (HAR)",
            Self::SourceMap => "a source map",
            Self::PerfData => "a recording of `perf record`",
        })
    }
}
