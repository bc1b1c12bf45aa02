//! The life sign of the process, for `selfprof/agent`.

use std::path::Path;

use napi::{Error, Result, Status};
use napi_derive::napi;

use crate::life_sign;

/// Creates a file that is locked as long as this process lives.
#[napi(catch_unwind)]
pub fn begin_life_sign(path: String, content: String) -> Result<()> {
    life_sign::begin(Path::new(&path), &content)
        .map_err(|error| Error::new(Status::GenericFailure, format!("{path}: {error}")))
}

/// Unlocks the file, since the process is about to end.
#[napi(catch_unwind)]
pub fn end_life_sign() {
    life_sign::end();
}
