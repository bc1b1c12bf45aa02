//! Profiles as tables.
