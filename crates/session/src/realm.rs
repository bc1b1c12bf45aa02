//! Realms that share a thread: which realm a script belongs to, and what a session of a realm may show.

mod admission;
mod registry;

pub use self::admission::AdmitRealm;
pub use self::registry::{Reach, RealmError, RealmId, Realms};
