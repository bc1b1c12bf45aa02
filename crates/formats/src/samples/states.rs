//! States: work, or idleness, without a JavaScript function on the stack. Formats that know only functions show a state
//! as one of its own, e.g. `(gc)`.

use selfprof_trace::Marker;

/// The number of states.
pub(crate) const COUNT: usize = Marker::ALL.len() + 1;

/// The name of a state, `(idle)` for no marker.
///
/// The names differ from V8's on purpose: viewers of V8's profiles attach `(garbage collector)` to the stack before it,
/// and merge `(program)` between equal stacks into them.
pub(crate) fn name(marker: Option<Marker>) -> &'static str {
    match marker {
        Some(Marker::Script) => "(script)",
        Some(Marker::Gc) => "(gc)",
        Some(Marker::Parse) => "(parse)",
        Some(Marker::Paint) => "(paint)",
        Some(Marker::Style) => "(style)",
        Some(Marker::Layout) => "(layout)",
        Some(Marker::Other) => "(other)",
        None => "(idle)",
    }
}

/// The index of a state, from 0, without gaps.
pub(crate) fn index(marker: Option<Marker>) -> usize {
    marker.map_or(0, |marker| marker.index() + 1)
}

/// All states, in the order of their indexes.
pub(crate) fn all() -> impl Iterator<Item = Option<Marker>> {
    [None].into_iter().chain(Marker::ALL.into_iter().map(Some))
}
