//! The types of functions and objects that pages have made with WebAssembly.
//!
//! V8 keeps each type once for the whole process, and for good. When there are more than a million (Node 24; two million in Node 26), it ends the
//! process. So this counts the different types of all pages. A type that refers to others counts as known when all of its section up to it is.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

use wasmparser::{
    BinaryReaderError, CompositeInnerType, Parser, Payload, RecGroup, SubType, TypeSectionReader, ValType,
};

/// How many types all pages of the process may make together. The rest are for the program's own modules.
const MAX_TYPES: usize = 400_000;

/// The types of all pages, by their hashes. Threads of pages add to it, and nothing is ever taken away, as in V8. A page does not know the hash
/// function, so it cannot choose types that hide each other.
static KNOWN: LazyLock<Mutex<HashSet<u64>>> = LazyLock::new(Mutex::default);
static HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Notes the types of a module, and returns how many of them are new. Notes none when these are more than `room`, or than there is room for in
/// the process.
///
/// # Errors
///
/// A section of types that cannot be read.
pub fn note_module(module: &[u8], room: u32) -> Result<Option<u32>, BinaryReaderError> {
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::Version { .. } | Payload::CustomSection(_) => {}
            Payload::TypeSection(section) => return Ok(note(&hashes_of(module, section)?, room)),
            // The types come first.
            _ => break,
        }
    }
    Ok(Some(0))
}

/// The same for a type that has a name: that of a tag, for which a page has given the names of its parameters.
pub fn note_named(name: &str, room: u32) -> Option<u32> {
    note(&[HASHES.hash_one(name)], room)
}

fn note(hashes: &[u64], room: u32) -> Option<u32> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let new: HashSet<u64> = hashes.iter().copied().filter(|hash| !known.contains(hash)).collect();
    let count = u32::try_from(new.len()).ok()?;
    if count > room || known.len() + new.len() > MAX_TYPES {
        return None;
    }
    known.extend(new);
    Some(count)
}

/// One hash for each type.
fn hashes_of(module: &[u8], section: TypeSectionReader<'_>) -> Result<Vec<u64>, BinaryReaderError> {
    let end = section.range().end;
    let mut groups = section.into_iter_with_offsets().peekable();
    let mut hashes = Vec::new();
    let mut section_so_far = HASHES.build_hasher();
    while let Some(group) = groups.next() {
        let (start, group) = group?;
        let end = match groups.peek() {
            Some(Ok((next, _))) => *next,
            _ => end,
        };
        section_so_far.write(bytes_between(module, start, end));
        if let Some(kind) = refers_to_none(&group) {
            hashes.push(HASHES.hash_one(kind));
            continue;
        }
        for index in 0..group.types().len() {
            let mut hasher = section_so_far.clone();
            hasher.write_usize(index);
            hashes.push(hasher.finish());
        }
    }
    Ok(hashes)
}

fn bytes_between(module: &[u8], start: u64, end: u64) -> &[u8] {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    module.get(at(start)..at(end)).unwrap_or_default()
}

/// The type of a group that has one alone, which is of a function, and names no other type.
fn refers_to_none(group: &RecGroup) -> Option<&SubType> {
    let mut types = group.types();
    let (Some(kind), None) = (types.next(), types.next()) else { return None };
    let CompositeInnerType::Func(function) = &kind.composite_type.inner else { return None };
    let names_none =
        |value: &ValType| value.as_reference_type().is_none_or(|kind| kind.type_index().is_none());
    let is_alone = kind.supertype_idxs.is_empty()
        && kind.composite_type.descriptor_idx.is_none()
        && kind.composite_type.describes_idx.is_none()
        && function.params().iter().chain(function.results()).all(names_none);
    is_alone.then_some(kind)
}
