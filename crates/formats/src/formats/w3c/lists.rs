//! Lists in members that only selfprof writes.

use std::fmt;

use selfprof_trace::foreign::{ForeignTrace, LimitExceeded};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::json::{Exceeded, stop};

/// A list of selfprof's own.
pub(super) trait ForeignList {
    type Element: for<'de> Deserialize<'de>;
    const EXPECTED: &'static str;

    /// Adds the next element, and counts it.
    fn push(&mut self, element: Self::Element, trace: &mut ForeignTrace) -> Result<(), LimitExceeded>;

    /// Notes that something else is in the list's place.
    fn set_unreadable(&mut self);
}

/// Reads the list. Other programs' traces may have anything in its place.
pub(super) struct ListSeed<'read, L> {
    pub(super) list: &'read mut L,
    /// Counts the text.
    pub(super) trace: &'read mut ForeignTrace,
    pub(super) exceeded: &'read mut Exceeded,
}

impl<'de, L: ForeignList> DeserializeSeed<'de> for ListSeed<'_, L> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, L: ForeignList> Visitor<'de> for ListSeed<'_, L> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(L::EXPECTED)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<L::Element>()? {
            self.list.push(element, self.trace).map_err(|limit| stop(limit, self.exceeded))?;
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.refuse()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.refuse()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.refuse()
    }
}

impl<L: ForeignList> ListSeed<'_, L> {
    fn refuse<E>(self) -> Result<(), E> {
        self.list.set_unreadable();
        Ok(())
    }
}
