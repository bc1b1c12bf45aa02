//! Markers: the kind of work during a sample.

use std::fmt;
use std::str::FromStr;

/// The kind of work that the agent was doing when a sample was taken.
///
/// The names and their order follow the API's [markers explainer]; `parse` is an addition of selfprof. A sample with
/// neither a marker nor a stack is idle.
///
/// [markers explainer]: https://github.com/WICG/js-self-profiling/blob/main/markers.md
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Marker {
    /// Running JavaScript.
    Script,
    /// Garbage collection.
    Gc,
    /// Parsing or compiling source text.
    Parse,
    /// Painting.
    Paint,
    /// Computing styles.
    Style,
    /// Layout.
    Layout,
    /// Any other work.
    Other,
}

impl Marker {
    /// Every marker, in the order of their indexes.
    pub const ALL: [Self; 7] =
        [Self::Script, Self::Gc, Self::Parse, Self::Paint, Self::Style, Self::Layout, Self::Other];

    /// The marker's string in a trace, e.g. `"gc"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Gc => "gc",
            Self::Parse => "parse",
            Self::Paint => "paint",
            Self::Style => "style",
            Self::Layout => "layout",
            Self::Other => "other",
        }
    }

    /// The 0-based index of the marker in [`Marker::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The marker with this index, if there is one.
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Marker {
    type Err = UnknownMarker;

    fn from_str(text: &str) -> Result<Self, UnknownMarker> {
        match text {
            "script" => Ok(Self::Script),
            "gc" => Ok(Self::Gc),
            "parse" => Ok(Self::Parse),
            "paint" => Ok(Self::Paint),
            "style" => Ok(Self::Style),
            "layout" => Ok(Self::Layout),
            "other" => Ok(Self::Other),
            _ => Err(UnknownMarker),
        }
    }
}

/// The string is not the name of a [`Marker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMarker;

impl fmt::Display for UnknownMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the name of a marker")
    }
}

impl std::error::Error for UnknownMarker {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_round_trip() {
        for (index, marker) in Marker::ALL.into_iter().enumerate() {
            assert_eq!(marker.as_str().parse(), Ok(marker));
            assert_eq!((marker.index(), Marker::from_index(index)), (index, Some(marker)));
        }
        assert_eq!("GC".parse::<Marker>(), Err(UnknownMarker));
        assert_eq!(Marker::from_index(7), None);
    }
}
