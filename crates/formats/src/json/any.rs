//! Reading a value of unknown type.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A member of selfprof's own. Other programs may use its name for something else, which is no error.
pub(crate) trait Any<'de>: Sized {
    /// What the value should be, for error messages.
    const EXPECTED: &'static str;

    /// Reads a list.
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.refuse();
        Ok(())
    }

    /// Reads an object.
    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.refuse();
        Ok(())
    }

    /// Notes `null`, which usually means that there is no value.
    fn null(self) {}

    /// Notes any other value.
    fn refuse(self);
}

/// Reads a value of unknown type.
pub(crate) fn any<'de, T: Any<'de>>(value: T) -> impl DeserializeSeed<'de, Value = ()> {
    AnyValue(value)
}

struct AnyValue<T>(T);

impl<'de, T: Any<'de>> DeserializeSeed<'de> for AnyValue<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Any<'de>> Visitor<'de> for AnyValue<T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<(), A::Error> {
        self.0.object(object)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.null();
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.refuse();
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.0.refuse();
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.0.refuse();
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.0.refuse();
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.0.refuse();
        Ok(())
    }
}
