//! The messages of [profile.proto], with the fields that selfprof writes or reads.
//!
//! They are written by hand, because generating them would require `protoc` on the machine that builds.
//!
//! [profile.proto]: https://github.com/google/pprof/blob/main/proto/profile.proto

use prost::Message;

/// Defines a message: for each kind of field its type, and the tags and names of its fields.
macro_rules! message {
    ($(#[$attribute:meta])* $name:ident { $($kind:meta, $type:ty: $($tag:literal $field:ident),+;)+ }) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Message)]
        pub(super) struct $name {
            $($(#[$kind] #[prost(tag = $tag)] pub(super) $field: $type,)+)+
        }
    };
}

message! {
    /// The root message. Strings are indexes into its `string_table`.
    Profile {
        prost(message, repeated), Vec<ValueType>: "1" sample_type;
        prost(message, repeated), Vec<Sample>: "2" sample;
        prost(message, repeated), Vec<Location>: "4" location;
        prost(message, repeated), Vec<Function>: "5" function;
        prost(string, repeated), Vec<String>: "6" string_table;
        prost(int64), i64: "9" time_nanos, "10" duration_nanos, "12" period, "14" default_sample_type;
        prost(message, optional), Option<ValueType>: "11" period_type;
    }
}

message! {
    /// The kind and unit of a value.
    #[derive(Copy)]
    ValueType { prost(int64), i64: "1" r#type, "2" unit; }
}

message! {
    /// A stack, leaf first, with one value per sample type.
    Sample {
        prost(uint64, repeated), Vec<u64>: "1" location_id;
        prost(int64, repeated), Vec<i64>: "2" value;
        prost(message, repeated), Vec<Label>: "3" label;
    }
}

message! {
    /// A label of a sample.
    #[derive(Copy, Eq, Hash)]
    Label { prost(int64), i64: "1" key, "2" str, "3" num, "4" num_unit; }
}

message! {
    /// A location in a function.
    Location { prost(uint64), u64: "1" id, "3" address; prost(message, repeated), Vec<Line>: "4" line; }
}

message! {
    /// A line of a function.
    #[derive(Copy)]
    Line { prost(uint64), u64: "1" function_id; prost(int64), i64: "2" line, "3" column; }
}

message! {
    /// A function and the location of its definition.
    #[derive(Copy)]
    Function {
        prost(uint64), u64: "1" id;
        prost(int64), i64: "2" name, "3" system_name, "4" filename, "5" start_line;
    }
}
