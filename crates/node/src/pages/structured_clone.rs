//! Structured clone between realms. <https://html.spec.whatwg.org/multipage/structured-data.html>

use napi::{Result, Unknown, sys};
use napi_derive::napi;
use selfprof_v8::Value;
use selfprof_v8::pages::{CloneReader, CloneWriter};

use crate::api::arguments::to_value;

/// How a value is serialized. All values belong to the realm of `anchor`.
#[napi(object, object_to_js = false)]
pub struct CloneWriterOptions<'env> {
    /// Any object of the realm.
    pub anchor: Unknown<'env>,
    /// `(object) => boolean`: whether it is an object of the host, which V8 cannot serialize. Called for plain objects.
    pub is_host_object: Unknown<'env>,
    /// `(object) => number`, its index in `hostObjects`.
    pub write_host_object: Unknown<'env>,
    /// `(SharedArrayBuffer)`: throws when the memory must not be shared. Otherwise `shared` of the reader has the
    /// buffer next.
    pub share_memory: Unknown<'env>,
    /// `(message)`: throws a `DataCloneError`.
    pub data_clone_error: Unknown<'env>,
    /// An array of the ArrayBuffers to transfer.
    pub transferred: Unknown<'env>,
}

/// Serializes a value. Returns an array of the realm: the bytes as an ArrayBuffer, and then the transferred buffers;
/// the original ones are detached. Throws what a getter of the value or a function of the options throws. Recognises
/// objects of the host on Node 22 and newer.
#[napi(catch_unwind)]
pub fn serialize_value(value: Unknown, options: CloneWriterOptions) -> Result<sys::napi_value> {
    let writer = CloneWriter {
        anchor: to_value(options.anchor)?,
        is_host_object: to_value(options.is_host_object)?,
        write_host_object: to_value(options.write_host_object)?,
        share_memory: to_value(options.share_memory)?,
        data_clone_error: to_value(options.data_clone_error)?,
        transferred: to_value(options.transferred)?,
    };
    Ok(writer.write(to_value(value)?).map_or(std::ptr::null_mut(), Value::as_raw))
}

/// How a value is deserialized.
#[napi(object, object_to_js = false)]
pub struct CloneReaderOptions<'env> {
    /// Any object of the realm that gets the value.
    pub anchor: Unknown<'env>,
    /// An array of the objects of the host, in the realm.
    pub host_objects: Unknown<'env>,
    /// An array of the SharedArrayBuffers, of any realm, in the order in which they were written.
    pub shared: Unknown<'env>,
    /// An array of the transferred ArrayBuffers, of any realm. They are detached.
    pub transferred: Unknown<'env>,
}

/// Deserializes the bytes of a value into a value of the realm. Throws a `TypeError` of the realm when they are
/// damaged.
#[napi(catch_unwind)]
pub fn deserialize_value(bytes: Unknown, options: CloneReaderOptions) -> Result<sys::napi_value> {
    let reader = CloneReader {
        anchor: to_value(options.anchor)?,
        host_objects: to_value(options.host_objects)?,
        shared: to_value(options.shared)?,
        transferred: to_value(options.transferred)?,
    };
    Ok(reader.read(to_value(bytes)?).map_or(std::ptr::null_mut(), Value::as_raw))
}
