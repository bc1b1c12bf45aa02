//! Marks and measures, on their way from JavaScript into a trace.
//!
//! A profiler collects the entries of its own session in JavaScript and hands them over when it is stopped
//! ([`collected_entries::EntryColumns`]). Entries that others record of a thread (a journal, a profile of all threads)
//! must be available when no JavaScript can run any more, so each comes here as it is made ([`recorder`]).

pub mod collected_entries;
pub mod recorder;
pub mod store;
