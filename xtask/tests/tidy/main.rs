//! The rules of the house that no compiler checks: which crate and which folder may use which, where `unsafe` may
//! stand, how files are named, and that what is written about the code is so. A failure names the file and the rule.

mod checkout;
mod comments;
mod crates;
mod graph;
mod names;
mod pages;
mod rust_modules;
mod scripts;

#[track_caller]
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "{} broken rules:\n  {}\n", problems.len(), problems.join("\n  "));
}
