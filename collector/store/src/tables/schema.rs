//! The columns of the tables. `docs/collector.md` says what they mean to those who read them with another engine.

use std::sync::Arc;

use deltalake::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableName {
    /// A row for each profile, with its trace.
    Profiles,
    /// The samples of each profile, added up by stack, marker and spans.
    Samples,
    /// The samples of whole hours, added up over profiles. Each file has the sums of the file of `samples` with the
    /// same name.
    Hours,
    /// The measures, marks, long tasks and interactions of each profile.
    Spans,
    /// The frames of each stack. A stack may have several equal rows.
    Stacks,
    /// The functions of generated code. A frame may have several equal rows.
    Frames,
}

impl TableName {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Frames, Self::Stacks, Self::Spans, Self::Samples, Self::Hours, Self::Profiles];

    /// Those to which profiles are written, in this order: what others refer to comes first.
    pub const WRITTEN: [Self; 5] = [Self::Frames, Self::Stacks, Self::Spans, Self::Samples, Self::Profiles];

    /// Its name in SQL, and that of its folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Profiles => "profiles",
            Self::Samples => "samples",
            Self::Hours => "hours",
            Self::Spans => "spans",
            Self::Stacks => "stacks",
            Self::Frames => "frames",
        }
    }

    /// Its columns, without those of [`PARTITIONS`].
    pub fn schema(self) -> SchemaRef {
        let mut fields = Vec::new();
        if matches!(self, Self::Profiles | Self::Samples | Self::Spans) {
            fields.push(Field::new("time", timestamp(), false));
            fields
                .extend(["profile", "batch", "session"].map(|name| Field::new(name, DataType::Int64, false)));
            fields.extend(LABELS.map(|name| Field::new(name, DataType::Utf8, false)));
        }
        if self == Self::Hours {
            fields.push(Field::new("hour", timestamp(), false));
            fields.extend(LABELS.map(|name| Field::new(name, DataType::Utf8, false)));
        }
        let text = |name| Field::new(name, DataType::Utf8, false);
        let number = |name| Field::new(name, DataType::Int64, false);
        match self {
            Self::Profiles => fields.extend([
                Field::new("rate", DataType::Float64, false),
                Field::new("interval", DataType::Int64, true),
                number("duration"),
                number("samples"),
                Field::new("spans", DataType::Binary, false),
                Field::new("trace", DataType::Binary, false),
            ]),
            Self::Samples | Self::Hours => fields.extend([
                Field::new("marker", DataType::Utf8, true),
                Field::new("spans", list(DataType::Utf8), false),
                Field::new("stack", DataType::Int64, true),
                number("weight"),
                number("count"),
            ]),
            Self::Spans => fields.extend([
                text("kind"),
                text("name"),
                number("start"),
                number("duration"),
                Field::new("rate", DataType::Float64, false),
            ]),
            Self::Stacks => {
                fields.extend([
                    number("stack"),
                    text("release"),
                    Field::new("frames", list(DataType::Int64), false),
                ]);
            }
            Self::Frames => {
                fields.extend([number("frame"), text("release"), text("name"), text("resource")]);
                fields.extend(["line", "column"].map(|name| Field::new(name, DataType::Int32, true)));
            }
        }
        Arc::new(Schema::new(fields))
    }
}

/// The columns by which each table is divided into folders: the application, and the day in UTC, such as `2026-11-23`.
pub const PARTITIONS: [&str; 2] = ["app", "day"];

/// The columns that profiles are selected by.
pub const LABELS: [&str; 5] = ["release", "page", "environment", "browser", "device"];

/// A point in time, in microseconds, UTC.
pub fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("element", item, true)))
}
