//! Arguments and errors of the functions that JavaScript calls.

use napi::{Error, JsValue, Result, Status, Unknown};
use selfprof_trace::Marker;
use selfprof_v8::Value;

use crate::agent::current::AgentError;

/// The error to throw when the agent failed.
pub fn agent_error(error: AgentError) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}

/// The marker with this name.
pub fn to_marker(name: &str) -> Result<Marker> {
    name.parse().map_err(|error| Error::new(Status::InvalidArg, format!("'{name}' is {error}")))
}

/// An argument as the shim takes it.
pub fn to_value(argument: Unknown) -> Result<Value> {
    // SAFETY: it is an argument of the native function that is running, and is not used after it.
    let value = unsafe { Value::from_raw(argument.raw()) };
    value.ok_or_else(|| Error::new(Status::InvalidArg, "an argument is missing"))
}
