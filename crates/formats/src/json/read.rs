//! Reading JSON as a stream: objects member by member, lists element by element.

use std::fmt;
#[cfg(feature = "conversion")]
use std::marker::PhantomData;

use selfprof_trace::foreign::LimitExceeded;
#[cfg(feature = "conversion")]
use serde::de::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::{Read, SliceRead, StrRead};

/// Reads a text that consists of one object.
pub(crate) fn read<'de, M: Members<'de>>(text: &'de [u8], members: M) -> serde_json::Result<M::Value> {
    // If the whole text is UTF-8, its strings need not be checked one by one.
    match std::str::from_utf8(text) {
        Ok(text) => whole(serde_json::Deserializer::new(StrRead::new(text)), members),
        Err(_) => whole(serde_json::Deserializer::new(SliceRead::new(text)), members),
    }
}

/// Reads a text that consists of one object, with values at any depth: `members` must bound how deep it reads.
#[cfg(feature = "conversion")]
pub(crate) fn read_deep<'de, M: Members<'de>>(text: &'de [u8], members: M) -> serde_json::Result<M::Value> {
    match std::str::from_utf8(text) {
        Ok(text) => whole(deep(serde_json::Deserializer::new(StrRead::new(text))), members),
        Err(_) => whole(deep(serde_json::Deserializer::new(SliceRead::new(text))), members),
    }
}

#[cfg(feature = "conversion")]
fn deep<'de, R: Read<'de>>(mut json: serde_json::Deserializer<R>) -> serde_json::Deserializer<R> {
    json.disable_recursion_limit();
    json
}

/// Reads a text that consists of one list.
#[cfg(feature = "conversion")]
pub(crate) fn read_list<'de, E: Elements<'de>>(text: &'de str, elements: E) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    list(elements).deserialize(&mut json)?;
    json.end()
}

fn whole<'de, R: Read<'de>, M: Members<'de>>(
    mut json: serde_json::Deserializer<R>,
    members: M,
) -> serde_json::Result<M::Value> {
    let value = object(members).deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Reads the members of an object.
pub(crate) trait Members<'de>: Sized {
    type Value;
    /// What the object is called in error messages.
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

/// Reads the elements of a list.
pub(crate) trait Elements<'de>: Sized {
    /// What the list is called in error messages.
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

/// The limit that made reading stop, if any. It is kept beside serde's error, which can only hold text.
pub(crate) type Exceeded = Option<LimitExceeded>;

/// Stops reading at a limit.
pub(crate) fn stop<E: Error>(limit: LimitExceeded, exceeded: &mut Exceeded) -> E {
    *exceeded = Some(limit);
    E::custom(limit)
}

/// Reads a list and calls `push` with each element, until it fails.
#[cfg(feature = "conversion")]
pub(crate) fn each<'de, E, P>(exceeded: &mut Exceeded, push: P) -> impl DeserializeSeed<'de, Value = ()>
where
    E: Deserialize<'de>,
    P: FnMut(E) -> Result<(), LimitExceeded>,
{
    list(Each { push, exceeded, element: PhantomData })
}

#[cfg(feature = "conversion")]
struct Each<'read, E, P> {
    push: P,
    exceeded: &'read mut Exceeded,
    element: PhantomData<E>,
}

#[cfg(feature = "conversion")]
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
