//! The formats and their names.

use std::fmt;
use std::str::FromStr;

/// A profile format.
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
    /// Collapsed stacks, the input of flame graphs: [`crate::collapsed`].
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

    /// The formats that can be read.
    pub const READABLE: [Self; 8] = [
        Self::W3c,
        Self::Explainer,
        Self::CpuProfile,
        Self::Chrome,
        Self::Firefox,
        Self::Speedscope,
        Self::Pprof,
        Self::Otlp,
    ];

    /// The format's name on the command line.
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

    /// What a file of this format is called, with its article.
    pub fn noun(self) -> &'static str {
        match self {
            Self::W3c => "a ProfilerTrace",
            Self::Explainer => "a profile in the explainer's format (version 1)",
            Self::CpuProfile => "a V8 CPU profile",
            Self::Chrome => "a Chromium trace",
            Self::Firefox => "a Firefox Profiler profile",
            Self::Speedscope => "a speedscope profile",
            Self::Pprof => "a pprof profile",
            Self::Collapsed => "a list of collapsed stacks",
            Self::Otlp => "an OTLP profile",
        }
    }

    /// The file name extensions, without a final `.gz`; the preferred one first.
    pub fn extensions(self) -> &'static [&'static str] {
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

    /// Whether files of this format are gzipped even if their names do not end in `.gz`.
    pub fn is_always_compressed(self) -> bool {
        self == Self::Pprof
    }

    /// The format that a file name's extension implies. The longest matching extension decides.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let extensions = Self::ALL
            .into_iter()
            .flat_map(|format| format.extensions().iter().map(move |extension| (extension, format)));
        extensions
            .filter(|(extension, _)| name.ends_with(**extension))
            .max_by_key(|(extension, _)| extension.len())
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
            assert_eq!(Format::of_name(&format!("a{}.gz", format.extensions()[0])), Some(format));
        }
        assert_eq!("W3C".parse::<Format>(), Err(UnknownFormat));
    }

    #[test]
    fn extensions_imply_formats() {
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
