//! Reading JSON as a stream: objects member by member, and lists element by element.

use std::fmt;
use std::marker::PhantomData;

use selfprof_trace::foreign::LimitExceeded;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::{Read, SliceRead, StrRead};

/// Reads a text that is an object, to its end.
pub(crate) fn read<'de, M: Members<'de>>(text: &'de [u8], members: M) -> serde_json::Result<M::Value> {
    fn from<'de, R: Read<'de>, M: Members<'de>>(text: R, members: M) -> serde_json::Result<M::Value> {
        let mut json = serde_json::Deserializer::new(text);
        let value = object(members).deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }
    // Strings need not be checked one by one when all of the text is known to be UTF-8.
    match std::str::from_utf8(text) {
        Ok(text) => from(StrRead::new(text), members),
        Err(_) => from(SliceRead::new(text), members),
    }
}

/// What takes the members of an object.
pub(crate) trait Members<'de>: Sized {
    type Value;
    /// What the object is, as a message says where something else stands.
    const EXPECTED: &'static str;

    fn read<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error>;
}

/// Reads an object.
pub(crate) fn object<'de, M: Members<'de>>(members: M) -> impl DeserializeSeed<'de, Value = M::Value> {
    Object(members)
}

struct Object<M>(M);

impl<'de, M: Members<'de>> DeserializeSeed<'de> for Object<M> {
    type Value = M::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<M::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, M: Members<'de>> Visitor<'de> for Object<M> {
    type Value = M::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(M::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<M::Value, A::Error> {
        self.0.read(map)
    }
}

/// What takes the elements of a list.
pub(crate) trait Elements<'de>: Sized {
    /// What the list is, as a message says where something else stands.
    const EXPECTED: &'static str = "a list";

    fn read<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error>;
}

/// Reads a list.
pub(crate) fn list<'de, E: Elements<'de>>(elements: E) -> impl DeserializeSeed<'de, Value = ()> {
    List(elements)
}

struct List<E>(E);

impl<'de, E: Elements<'de>> DeserializeSeed<'de> for List<E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, E: Elements<'de>> Visitor<'de> for List<E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(E::EXPECTED)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.read(list)
    }
}

/// Why reading stopped, if that was our will: serde's errors are text alone.
pub(crate) type Exceeded = Option<LimitExceeded>;

/// Stops reading at a limit.
pub(crate) fn stop<E: Error>(limit: LimitExceeded, exceeded: &mut Exceeded) -> E {
    *exceeded = Some(limit);
    E::custom(limit)
}

/// Reads a list and hands each element over as it comes, until one is refused.
pub(crate) fn each<'de, E, P>(exceeded: &mut Exceeded, push: P) -> impl DeserializeSeed<'de, Value = ()>
where
    E: Deserialize<'de>,
    P: FnMut(E) -> Result<(), LimitExceeded>,
{
    list(Each { push, exceeded, element: PhantomData })
}

struct Each<'read, E, P> {
    push: P,
    exceeded: &'read mut Exceeded,
    element: PhantomData<E>,
}

impl<'de, E, P> Elements<'de> for Each<'_, E, P>
where
    E: Deserialize<'de>,
    P: FnMut(E) -> Result<(), LimitExceeded>,
{
    fn read<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<E>()? {
            (self.push)(element).map_err(|limit| stop(limit, self.exceeded))?;
        }
        Ok(())
    }
}
