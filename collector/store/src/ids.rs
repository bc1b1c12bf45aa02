//! Numbers that any number of writers agree on without talking: hashes of what they number.
//!
//! A number has 64 bits of BLAKE3, so of a hundred million things of one kind two have the same number with a
//! probability of 0.03%. Numbers of frames and stacks include the application, so that no sender can disturb those of
//! another one.

use selfprof_trace::{Frame, Trace};
use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub i64);
    };
}

number! {
    /// The number of a profile.
    ProfileId
}
number! {
    /// The number of a session.
    SessionId
}
number! {
    /// The number of a release of an application.
    ReleaseId
}
number! {
    /// The number of a function of one release of an application.
    FrameHash
}
number! {
    /// The number of a stack of one release of an application.
    StackHash
}
number! {
    /// The number of a part of a log: of what was written to the tables together.
    BatchId
}

impl ProfileId {
    /// Its sixteen hexadecimal digits.
    pub fn to_hex(self) -> String {
        format!("{:016x}", self.0)
    }

    /// Reads what [`to_hex`](Self::to_hex) gives.
    pub fn from_hex(digits: &str) -> Option<Self> {
        let is_hex = digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten().map(|id| Self(id.cast_signed()))
    }
}

/// Texts with their lengths before them, so that `a, bc` differs from `ab, c`.
struct Hasher(blake3::Hasher);

impl Hasher {
    fn new(kind: &str) -> Self {
        let mut hasher = Self(blake3::Hasher::new());
        hasher.text(kind);
        hasher
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        self
    }

    fn number(&mut self, number: i64) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    fn finish(&self) -> i64 {
        let hash = self.0.finalize();
        let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        i64::from_le_bytes(*first)
    }
}

/// The number of a profile that its sender has given an id.
pub fn profile(app: &str, id: &str) -> ProfileId {
    ProfileId(Hasher::new("profile").text(app).text(id).finish())
}

/// The number of a profile without an id: of everything that it says.
pub fn content(texts: &[&str], trace: &[u8]) -> ProfileId {
    let mut hasher = Hasher::new("content");
    texts.iter().for_each(|text| {
        hasher.text(text);
    });
    ProfileId(hasher.bytes(trace).finish())
}

/// The number of a session.
pub fn session(app: &str, session: &str) -> SessionId {
    SessionId(Hasher::new("session").text(app).text(session).finish())
}

/// The number of a release.
pub fn release(app: &str, release: &str) -> ReleaseId {
    ReleaseId(Hasher::new("release").text(app).text(release).finish())
}

/// The number of what a collector writes together.
pub fn batch(collector: &str, segment: u64) -> BatchId {
    BatchId(Hasher::new("batch").text(collector).bytes(&segment.to_le_bytes()).finish())
}

/// The numbers of all frames of a trace of a release, in their order.
pub fn frames(app: &str, release: &str, trace: &Trace) -> Vec<FrameHash> {
    let number = |number: Option<std::num::NonZeroU32>| i64::from(number.map_or(0, |number| number.get()));
    let release = self::release(app, release);
    let hash = |frame: Frame| {
        let mut hasher = Hasher::new("frame");
        hasher.number(release.0).text(&trace.names()[frame.name]);
        hasher.text(frame.resource.map_or("", |resource| &trace.resources()[resource]));
        FrameHash(hasher.number(number(frame.line)).number(number(frame.column)).finish())
    };
    trace.frames().iter().map(|(_, frame)| hash(frame)).collect()
}

/// The number of a stack: of its frame, and of the stack that called it.
pub fn stack(parent: Option<StackHash>, frame: FrameHash) -> StackHash {
    let mut bytes = [0; 17];
    bytes[0] = u8::from(parent.is_some());
    bytes[1..9].copy_from_slice(&parent.map_or(0, |parent| parent.0).to_le_bytes());
    bytes[9..].copy_from_slice(&frame.0.to_le_bytes());
    StackHash(Hasher::new("stack").bytes(&bytes).finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_different_has_another_number() {
        assert_eq!(profile("shop", "1"), profile("shop", "1"));
        assert_ne!(profile("shop", "1"), profile("shop", "2"));
        assert_ne!(profile("shop", "1"), profile("sho", "p1"));
        assert_ne!(profile("shop", "1").0, session("shop", "1").0);
        let leaf = FrameHash(5);
        assert_ne!(stack(None, leaf), stack(Some(StackHash(0)), leaf));
        assert_ne!(batch("a", 1), batch("a", 2));
        let id = ProfileId(-5);
        assert_eq!(ProfileId::from_hex(&id.to_hex()), Some(id));
        assert_eq!(ProfileId::from_hex("+00000000000000a"), None);
    }
}
