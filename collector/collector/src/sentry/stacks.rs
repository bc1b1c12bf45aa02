//! The stacks of a profile: lists of frames, the innermost first. Many begin with the same callers, and each sample may
//! have a list of its own, so they are read into a tree.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use crate::upload::{LIMITS, MAX_DEPTH};

/// A tree of stacks.
#[derive(Debug, Default)]
pub struct Stacks {
    /// The caller and the frame of each node. Callers come first.
    pub nodes: Vec<(Option<u32>, u32)>,
    /// The innermost node of each list; `None` for an empty one.
    pub ids: Vec<Option<u32>>,
    known: HashMap<(Option<u32>, u32), u32>,
}

impl Stacks {
    /// Adds the next list.
    fn push<E: Error>(&mut self, innermost_first: &[u32]) -> Result<(), E> {
        if self.ids.len() == LIMITS.stacks {
            return Err(E::custom(format!("more than {} stacks", LIMITS.stacks)));
        }
        let mut id = None;
        for &frame in innermost_first.iter().rev() {
            let next = self.nodes.len();
            let node = *self.known.entry((id, frame)).or_insert(next as u32);
            if node as usize == next {
                if next == LIMITS.stacks {
                    return Err(E::custom(format!("more than {} different stacks", LIMITS.stacks)));
                }
                self.nodes.push((id, frame));
            }
            id = Some(node);
        }
        self.ids.push(id);
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Stacks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Lists)
    }
}

struct Lists;

impl<'de> Visitor<'de> for Lists {
    type Value = Stacks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of stacks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> Result<Stacks, A::Error> {
        let mut stacks = Stacks::default();
        let mut frames = Vec::new();
        while let Some(()) = lists.next_element_seed(List { frames: &mut frames })? {
            stacks.push(&frames)?;
        }
        Ok(stacks)
    }
}

/// Reads the frames of one stack. `null` is a gap in the list, which no sample uses.
struct List<'a> {
    frames: &'a mut Vec<u32>,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.frames.clear();
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of frames")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(frame) = list.next_element()? {
            if self.frames.len() == MAX_DEPTH {
                return Err(A::Error::custom(format!("a stack of more than {MAX_DEPTH} frames")));
            }
            self.frames.push(frame);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_callers_are_shared() {
        let stacks: Stacks = serde_json::from_str("[[2,1,0],[],null,[3,1,0],[2,1,0]]").unwrap();
        assert_eq!(stacks.nodes, [(None, 0), (Some(0), 1), (Some(1), 2), (Some(1), 3)]);
        assert_eq!(stacks.ids, [Some(2), None, None, Some(3), Some(2)]);
    }

    #[test]
    fn too_much_is_an_error() {
        #[track_caller]
        fn check(json: &str, expected: &str) {
            let error = serde_json::from_str::<Stacks>(json).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        check("5", "a list of stacks");
        check("[5]", "a list of frames");
        check("[[-1]]", "u32");
        check("[[\"a\"]]", "u32");
        check(&format!("[[{}0]]", "0,".repeat(1_024)), "more than 1024 frames");
        check(&format!("[{}[]]", "[],".repeat(200_000)), "more than 200000 stacks");
    }
}
