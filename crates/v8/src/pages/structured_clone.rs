//! Structured clone by V8's own serializer, in the context of any realm.

use std::ptr::NonNull;

use crate::ffi;
use crate::value::Value;

/// How a value is serialized. All values belong to the realm of `anchor`.
#[derive(Clone, Copy, Debug)]
pub struct CloneWriter {
    /// Any object of the realm.
    pub anchor: Value,
    /// `(object) -> boolean`: whether it is an object of the host, which V8 cannot serialize. Called for plain objects.
    pub is_host_object: Value,
    /// `(object) -> number`, its index in [`CloneReader::host_objects`].
    pub write_host_object: Value,
    /// `(SharedArrayBuffer)`: throws when the memory must not be shared. Otherwise [`CloneReader::shared`] has the
    /// buffer next.
    pub share_memory: Value,
    /// `(message)`: throws a `DataCloneError`.
    pub data_clone_error: Value,
    /// An array of the `ArrayBuffer`s to transfer.
    pub transferred: Value,
}

impl CloneWriter {
    /// Serializes a value, which runs getters and the functions above. Returns an array of the realm with the bytes as
    /// an `ArrayBuffer`, and then the transferred buffers; the original ones are detached. `None` when an exception is
    /// pending.
    #[must_use]
    pub fn write(&self, value: Value) -> Option<Value> {
        let options = ffi::CloneWriter {
            anchor: self.anchor.as_raw(),
            is_host_object: self.is_host_object.as_raw(),
            write_host_object: self.write_host_object.as_raw(),
            share_memory: self.share_memory.as_raw(),
            data_clone_error: self.data_clone_error.as_raw(),
            transferred: self.transferred.as_raw(),
        };
        // SAFETY: the values are alive, see `Value::from_raw`, so this is inside an isolate.
        let written = unsafe { ffi::selfprof_clone_write(ffi::selfprof_isolate(), value.as_raw(), &options) };
        NonNull::new(written).map(Value::from_pointer)
    }
}

/// How a value is deserialized.
#[derive(Clone, Copy, Debug)]
pub struct CloneReader {
    /// Any object of the realm that gets the value.
    pub anchor: Value,
    /// An array of the objects of the host.
    pub host_objects: Value,
    /// An array of the `SharedArrayBuffer`s, of any realm, in the order in which they were written.
    pub shared: Value,
    /// An array of the transferred `ArrayBuffer`s, of any realm. They are detached.
    pub transferred: Value,
}

impl CloneReader {
    /// Deserializes bytes that [`CloneWriter::write`] has returned. `None` when an exception is pending.
    #[must_use]
    pub fn read(&self, bytes: Value) -> Option<Value> {
        let options = ffi::CloneReader {
            anchor: self.anchor.as_raw(),
            host_objects: self.host_objects.as_raw(),
            shared: self.shared.as_raw(),
            transferred: self.transferred.as_raw(),
        };
        // SAFETY: as in `CloneWriter::write`.
        let value = unsafe { ffi::selfprof_clone_read(ffi::selfprof_isolate(), bytes.as_raw(), &options) };
        NonNull::new(value).map(Value::from_pointer)
    }
}
