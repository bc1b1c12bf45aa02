//! Which [`PerformanceObserver`](https://w3c.github.io/performance-timeline/#the-performanceobserver-interface)s an
//! entry is queued for. Their queues and callbacks belong to the caller, who has the objects.

use std::fmt;

use crate::EntryType;

/// An observer, by a number that the caller assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObserverId(pub u32);

/// A set of entry types. Bit 1 is `"mark"` and bit 2 is `"measure"`, as in [`EntryType`]. The host assigns further bits
/// to the other types that it supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryTypes(pub u32);

impl EntryTypes {
    /// Whether this type is in the set.
    #[must_use]
    pub fn contains(self, entry_type: EntryType) -> bool {
        self.0 & 1 << entry_type as u8 != 0
    }

    /// Whether the sets have a type in common.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no type in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl From<EntryType> for EntryTypes {
    fn from(entry_type: EntryType) -> Self {
        Self(1 << entry_type as u8)
    }
}

/// The "[observer type](https://w3c.github.io/performance-timeline/#dfn-observer-type)", which the first `observe()` of
/// an observer determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverType {
    /// It observes with `entryTypes`; each call replaces the one before.
    Multiple,
    /// It observes with `type`; each call adds one.
    Single,
}

/// Which members of `PerformanceObserverInit` are present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// `entryTypes`
    pub entry_types: bool,
    /// `type`
    pub single_type: bool,
    /// Any other, such as `buffered`.
    pub others: bool,
}

impl ObserverType {
    /// Checks the members of a call of [`observe()`](https://w3c.github.io/performance-timeline/#observe-method), steps
    /// 2 to 4, by an observer whose type is `current`. Returns its new type.
    ///
    /// # Errors
    /// What these steps throw.
    pub fn check(current: Option<Self>, members: Members) -> Result<Self, ObserveError> {
        let asked = match members {
            Members { entry_types: false, single_type: false, .. } => return Err(ObserveError::NoTypes),
            Members { entry_types: true, single_type: false, others: false } => Self::Multiple,
            Members { entry_types: true, .. } => return Err(ObserveError::NotAlone),
            Members { .. } => Self::Single,
        };
        match current {
            Some(current) if current != asked => Err(ObserveError::Mixed { current }),
            _ => Ok(asked),
        }
    }
}

/// Why `observe()` throws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserveError {
    /// A `TypeError`: neither `entryTypes` nor `type` is given. Step 2.
    NoTypes,
    /// A `TypeError`: `entryTypes` is given together with another member. Step 3.
    NotAlone,
    /// An `InvalidModificationError`: the observer was used with the other member before. Step 4.
    Mixed {
        /// Its type.
        current: ObserverType,
    },
}

impl ObserveError {
    /// The error to throw: `TypeError`, or the name of a `DOMException`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoTypes | Self::NotAlone => "TypeError",
            Self::Mixed { .. } => "InvalidModificationError",
        }
    }
}

impl fmt::Display for ObserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTypes => write!(f, "either entryTypes or type must be given"),
            Self::NotAlone => write!(f, "entryTypes cannot be combined with another member"),
            Self::Mixed { current: ObserverType::Multiple } => {
                write!(f, "this observer observes with entryTypes, not with type")
            }
            Self::Mixed { current: ObserverType::Single } => {
                write!(f, "this observer observes with type, not with entryTypes")
            }
        }
    }
}

impl std::error::Error for ObserveError {}

/// A [registered performance
/// observer](https://w3c.github.io/performance-timeline/#dfn-registered-performance-observer).
#[derive(Clone, Copy, Debug)]
struct Registered {
    id: ObserverId,
    /// All types of its options list.
    types: EntryTypes,
    /// Whether its next callback gets the number of dropped entries.
    requires_dropped_entries: bool,
}

/// The [list of registered performance observer
/// objects](https://w3c.github.io/performance-timeline/#dfn-list-of-registered-performance-observer-objects) of a
/// global object.
#[derive(Clone, Debug, Default)]
pub struct Observers {
    registered: Vec<Registered>,
}

impl Observers {
    /// Runs the steps of [`observe()`](https://w3c.github.io/performance-timeline/#observe-method) after its checks,
    /// for the types of the call that the host supports. Returns false, and changes nothing, when there are none.
    ///
    /// The caller handles the member `buffered`.
    pub fn observe(&mut self, id: ObserverId, observer_type: ObserverType, types: EntryTypes) -> bool {
        if types.is_empty() {
            return false;
        }
        match self.registered.iter_mut().find(|registered| registered.id == id) {
            Some(registered) => {
                registered.requires_dropped_entries = true;
                match observer_type {
                    ObserverType::Multiple => registered.types = types,
                    ObserverType::Single => registered.types.0 |= types.0,
                }
            }
            None => self.registered.push(Registered { id, types, requires_dropped_entries: true }),
        }
        true
    }

    /// Removes an observer from the list, if it is there.
    pub fn disconnect(&mut self, id: ObserverId) {
        self.registered.retain(|registered| registered.id != id);
    }

    /// The observers of any of these types, in the order in which they registered.
    pub fn interested(&self, types: EntryTypes) -> impl Iterator<Item = ObserverId> {
        self.registered
            .iter()
            .filter(move |registered| registered.types.meets(types))
            .map(|registered| registered.id)
    }

    /// All observers, in the order in which they registered, which is also the order in which they are called.
    pub fn ids(&self) -> impl Iterator<Item = ObserverId> {
        self.registered.iter().map(|registered| registered.id)
    }

    /// The types that are observed.
    #[must_use]
    pub fn observed(&self) -> EntryTypes {
        EntryTypes(self.registered.iter().fold(0, |types, registered| types | registered.types.0))
    }

    /// The types whose dropped entries this observer's next callback must report: the first callback after an
    /// `observe()` does. [Queue the PerformanceObserver
    /// task](https://w3c.github.io/performance-timeline/#queue-the-performanceobserver-task), step 3.3.6 to 3.3.7.
    pub fn take_requires_dropped_entries(&mut self, id: ObserverId) -> Option<EntryTypes> {
        let registered = self.registered.iter_mut().find(|registered| registered.id == id)?;
        std::mem::take(&mut registered.requires_dropped_entries).then_some(registered.types)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: EntryTypes = EntryTypes(2);
    const MEASURE: EntryTypes = EntryTypes(4);
    const BOTH: EntryTypes = EntryTypes(6);
    const GC: EntryTypes = EntryTypes(8);

    #[test]
    fn members_are_checked() {
        #[track_caller]
        fn check(current: Option<ObserverType>, members: &str, expected: Result<ObserverType, &str>) {
            let members = Members {
                entry_types: members.contains('E'),
                single_type: members.contains('T'),
                others: members.contains('b'),
            };
            let got = ObserverType::check(current, members);
            assert_eq!(got.map_err(|error| error.name()), expected, "{current:?} {members:?}");
        }
        use ObserverType::{Multiple, Single};
        check(None, "E", Ok(Multiple));
        check(None, "T", Ok(Single));
        check(None, "Tb", Ok(Single));
        check(None, "", Err("TypeError"));
        check(None, "b", Err("TypeError"));
        check(None, "Eb", Err("TypeError"));
        check(None, "ET", Err("TypeError"));
        check(Some(Single), "ET", Err("TypeError"));
        check(Some(Single), "T", Ok(Single));
        check(Some(Multiple), "E", Ok(Multiple));
        check(Some(Single), "E", Err("InvalidModificationError"));
        check(Some(Multiple), "Tb", Err("InvalidModificationError"));
    }

    #[test]
    fn observers_get_the_types_that_they_registered_for() {
        #[track_caller]
        fn check(calls: &[(u32, ObserverType, EntryTypes)], types: EntryTypes, expected: &[u32]) {
            let mut observers = Observers::default();
            for (id, observer_type, types) in calls {
                observers.observe(ObserverId(*id), *observer_type, *types);
            }
            let got: Vec<u32> = observers.interested(types).map(|id| id.0).collect();
            assert_eq!(got, expected, "{calls:?} {types:?}");
        }
        use ObserverType::{Multiple, Single};
        check(&[], MARK, &[]);
        check(&[(1, Multiple, BOTH), (0, Single, MARK), (2, Single, GC)], MARK, &[1, 0]);
        check(&[(1, Multiple, BOTH), (0, Single, MARK), (2, Single, GC)], MEASURE, &[1]);
        check(&[(1, Multiple, MARK), (1, Multiple, MEASURE)], MARK, &[]);
        check(&[(1, Single, MARK), (1, Single, MEASURE)], MARK, &[1]);
        // Unknown types are ignored, and so is a call that has no other.
        check(&[(1, Multiple, MARK), (1, Multiple, EntryTypes(0))], MARK, &[1]);
    }

    #[test]
    fn disconnected_observers_get_nothing() {
        let mut observers = Observers::default();
        observers.observe(ObserverId(1), ObserverType::Single, MARK);
        observers.observe(ObserverId(2), ObserverType::Single, MEASURE);
        assert_eq!(observers.observed(), BOTH);
        observers.disconnect(ObserverId(1));
        observers.disconnect(ObserverId(9));
        assert_eq!(observers.observed(), MEASURE);
        assert_eq!(observers.ids().collect::<Vec<_>>(), [ObserverId(2)]);
    }

    #[test]
    fn dropped_entries_are_asked_for_once_after_each_observe() {
        let mut observers = Observers::default();
        let id = ObserverId(1);
        assert_eq!(observers.take_requires_dropped_entries(id), None);
        observers.observe(id, ObserverType::Single, MARK);
        assert_eq!(observers.take_requires_dropped_entries(id), Some(MARK));
        assert_eq!(observers.take_requires_dropped_entries(id), None);
        observers.observe(id, ObserverType::Single, MEASURE);
        assert_eq!(observers.take_requires_dropped_entries(id), Some(BOTH));
    }
}
