//! Labels of samples, for `selfprof/agent`.

use napi::bindgen_prelude::Int32Array;
use napi::{Error, Result, Status, Unknown};
use napi_derive::napi;
use selfprof_trace::LabelSet;
use selfprof_v8::LabelNumbers;

use super::arguments::{agent_error, to_value};
use crate::agent::current;

/// Samples with the number `number` have these labels. Both lists have the same length.
#[napi(catch_unwind)]
pub fn define_labels(number: i32, names: Vec<String>, values: Vec<String>) -> Result<()> {
    let set = LabelSet::new(names.into_iter().zip(values));
    current::with(|agent| {
        agent.label_sets().add(number, set);
        Ok(())
    })
    .map_err(agent_error)
}

/// Has samples of this thread labelled with the numbers in the current value of `storage`, an AsyncLocalStorage. Its
/// value must be `value` during the call, an object whose first fields are the numbers `expected`. Returns false if
/// that is not possible with this Node, or if samples are labelled already.
#[napi(catch_unwind)]
pub fn read_labels_of_storage(storage: Unknown, value: Unknown, expected: Int32Array) -> Result<bool> {
    let expected: LabelNumbers =
        (&*expected).try_into().map_err(|_| Error::new(Status::InvalidArg, "there must be eight numbers"))?;
    let (storage, value) = (to_value(storage)?, to_value(value)?);
    current::with(|agent| Ok(agent.read_labels(|labels| labels.read_frames(storage, value, &expected))))
        .map_err(agent_error)
}

/// Has samples of this thread labelled with the numbers in an Int32Array. Returns false if samples are labelled
/// already.
#[napi(catch_unwind)]
pub fn read_labels_of_memory(memory: Unknown) -> Result<bool> {
    let memory = to_value(memory)?;
    current::with(|agent| Ok(agent.read_labels(|labels| labels.read_memory(memory)))).map_err(agent_error)
}
