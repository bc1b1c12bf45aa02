//! Regressions that the collector finds: it compares each new release with the one before, route by route.
//!
//! Data grow, and who looks at them again and again finds something at last, even if nothing changed. So the looks are
//! counted before the first one: a page is looked at when both releases have `min_sessions` sessions on it, twice as
//! many, four times as many, up to [`LOOKS`](decisions::LOOKS) times. The pages are fixed before the first look, too.
//! All looks at all pages share an error rate of 5% in equal parts (Bonferroni), so a release in which nothing changed
//! causes an alert with a probability of 5% at most.

mod counts;
mod decisions;
mod message;
mod watch;
mod webhook;

pub use message::AlertAnswer;
pub use watch::{Waiting, Watch};
