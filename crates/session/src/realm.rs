//! Pages share a thread, and none may see another: which script is whose, and what a session of a realm shows.

mod admission;
mod registry;

pub use self::admission::AdmitRealm;
pub use self::registry::{Reach, RealmError, RealmId, Realms};
