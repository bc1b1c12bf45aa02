//! The formats by name.

use std::fmt;
use std::str::FromStr;

/// A form in which profiles are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The `ProfilerTrace` of the JS Self-Profiling API: [`crate::w3c`].
    W3c,
    /// Version 1 of the API's explainer: [`crate::explainer`].
    Explainer,
    /// V8's `.cpuprofile`: [`crate::cpuprofile`].
    CpuProfile,
    /// Chromium's trace events: [`crate::chrome`].
    Chrome,
    /// The Firefox Profiler's processed profile: [`crate::firefox`].
    Firefox,
    /// speedscope's file format: [`crate::speedscope`].
    Speedscope,
    /// pprof's `profile.proto`: [`crate::pprof`].
    Pprof,
    /// Collapsed stacks, as flame graphs are drawn from: [`crate::collapsed`].
    Collapsed,
    /// OpenTelemetry's profiles: [`crate::otlp`].
    Otlp,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::W3c,
        Self::Explainer,
        Self::CpuProfile,
        Self::Chrome,
        Self::Firefox,
        Self::Speedscope,
        Self::Pprof,
        Self::Collapsed,
        Self::Otlp,
    ];

    /// The formats that are read.
    pub const READABLE: [Self; 3] = [Self::W3c, Self::Explainer, Self::CpuProfile];

    /// Its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::W3c => "w3c",
            Self::Explainer => "explainer",
            Self::CpuProfile => "cpuprofile",
            Self::Chrome => "chrome",
            Self::Firefox => "firefox",
            Self::Speedscope => "speedscope",
            Self::Pprof => "pprof",
            Self::Collapsed => "collapsed",
            Self::Otlp => "otlp",
        }
    }

    /// What a file of this format is, for a sentence that begins "this is".
    pub fn noun(self) -> &'static str {
        match self {
            Self::W3c => "a ProfilerTrace",
            Self::Explainer => "a profile of the explainer's version 1",
            Self::CpuProfile => "a CPU profile of V8",
            Self::Chrome => "a trace of Chromium",
            Self::Firefox => "a profile of the Firefox Profiler",
            Self::Speedscope => "a profile of speedscope",
            Self::Pprof => "a profile of pprof",
            Self::Collapsed => "a list of collapsed stacks",
            Self::Otlp => "an OTLP profile",
        }
    }

    /// How the names of its files end, without a `.gz` behind it. The first is the one to choose.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::W3c => &[".selfprof.json", ".json"],
            Self::Explainer => &[".explainer.json"],
            Self::CpuProfile => &[".cpuprofile"],
            Self::Chrome => &[".trace.json", ".chrome.json"],
            Self::Firefox => &[".firefox.json"],
            Self::Speedscope => &[".speedscope.json", ".speedscope"],
            Self::Pprof => &[".pb", ".pprof"],
            Self::Collapsed => &[".collapsed", ".folded"],
            Self::Otlp => &[".otlp"],
        }
    }

    /// Whether files of this format are compressed although their names do not say so.
    pub fn is_always_compressed(self) -> bool {
        self == Self::Pprof
    }

    /// The format of a file with this name, as far as its ending tells; the longest that fits counts.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let endings =
            Self::ALL.into_iter().flat_map(|format| format.endings().iter().map(move |end| (end, format)));
        endings
            .filter(|(end, _)| name.ends_with(**end))
            .max_by_key(|(end, _)| end.len())
            .map(|(_, format)| format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or(UnknownFormat)
    }
}

/// The string names no [`Format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the name of a format")
    }
}

impl std::error::Error for UnknownFormat {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for format in Format::ALL {
            assert_eq!(format.as_str().parse(), Ok(format));
            assert_eq!(Format::of_name(&format!("a{}.gz", format.endings()[0])), Some(format));
        }
        assert_eq!("W3C".parse::<Format>(), Err(UnknownFormat));
    }

    #[test]
    fn files_are_known_by_their_endings() {
        #[track_caller]
        fn check(name: &str, expected: Option<Format>) {
            assert_eq!(Format::of_name(name), expected);
        }
        check("out.json", Some(Format::W3c));
        check("out.JSON.GZ", Some(Format::W3c));
        check("out.trace.json", Some(Format::Chrome));
        check("CPU.20261121.cpuprofile", Some(Format::CpuProfile));
        check("out.pb.gz", Some(Format::Pprof));
        check("out.txt", None);
        check("out.gz", None);
        check("", None);
    }
}
