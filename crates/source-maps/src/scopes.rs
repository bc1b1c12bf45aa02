//! The functions in the `scopes` of a map, from the [proposal] for ECMA-426.
//!
//! Original scopes have the names of a source's functions; generated ranges say where they are in the generated code.
//! Looking up a trace's functions only needs the function defined at a position, so variables, bindings and inlined
//! calls are ignored. A trace has the positions of function definitions, not of the executing code, so inlined
//! functions cannot be distinguished.
//!
//! [proposal]: https://github.com/tc39/ecma426/blob/main/proposals/scopes.md

mod decode;
mod functions;

pub use decode::BadScopes;
pub(crate) use decode::decode;
pub(crate) use functions::{Function, Functions, MAX_HEAD, Position};

#[cfg(test)]
mod tests;
