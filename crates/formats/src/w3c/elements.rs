//! The dictionaries of the API and of selfprof's extension, as JSON has them.
//!
//! An optional member may be absent or `null`. So may a required number, since `JSON.stringify` writes `null`
//! for a NaN: it becomes one again, and validation deals with the element.

use std::fmt;

use selfprof_trace::foreign::{
    ForeignEntry, ForeignFrame, ForeignSample, ForeignStack, ForeignTrace, LimitExceeded,
};
use selfprof_trace::{Marker, UnknownMarker};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use crate::json::Text;

/// An element of one of the lists.
pub(super) trait Element: for<'de> Deserialize<'de> {
    /// Hands the element to validation.
    fn push_to(self, trace: &mut ForeignTrace) -> Result<(), LimitExceeded>;
}

impl Element for Text {
    fn push_to(self, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        trace.push_resource(&self.0)
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    name: Text,
    resource_id: Option<f64>,
    line: Option<f64>,
    column: Option<f64>,
}

impl Element for Frame {
    fn push_to(self, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        let Self { name, resource_id, line, column } = self;
        trace.push_frame(&ForeignFrame { name: &name.0, resource_id, line, column })
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stack {
    parent_id: Option<f64>,
    frame_id: Option<f64>,
}

impl Element for Stack {
    fn push_to(self, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        let frame_id = self.frame_id.unwrap_or(f64::NAN);
        trace.push_stack(ForeignStack { parent_id: self.parent_id, frame_id })
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sample {
    timestamp: Option<f64>,
    stack_id: Option<f64>,
    marker: Option<MarkerText>,
}

impl Element for Sample {
    fn push_to(self, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        let timestamp = self.timestamp.unwrap_or(f64::NAN);
        let marker = self.marker.map(|text| text.0);
        trace.push_sample(ForeignSample { timestamp, stack_id: self.stack_id, marker })
    }
}

/// A mark or a measure. The specification knows no such list, so what it holds may be anything, and is read in two steps:
/// first as a piece of JSON, then as far as its members are what they are called.
#[derive(serde::Deserialize)]
pub(super) struct Entry(Box<RawValue>);

impl Element for Entry {
    fn push_to(self, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Members<'json> {
            #[serde(borrow)]
            entry_type: Option<&'json RawValue>,
            #[serde(borrow)]
            name: Option<&'json RawValue>,
            #[serde(borrow)]
            start_time: Option<&'json RawValue>,
            #[serde(borrow)]
            duration: Option<&'json RawValue>,
        }
        let members: Members<'_> = serde_json::from_str(self.0.get()).unwrap_or_default();
        let entry_type: Option<Text> = parse(members.entry_type);
        let name: Option<Text> = parse(members.name);
        trace.push_entry(&ForeignEntry {
            entry_type: entry_type.map(|text| text.0.parse()),
            name: name.as_ref().map(|text| &*text.0),
            start_time: parse(members.start_time),
            duration: parse(members.duration),
        })
    }
}

/// A number of any kind, if it is one.
pub(super) struct Number(pub(super) Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(parse(Some(&json))))
    }
}

/// What the JSON means; `None` when it is absent or means something else.
fn parse<T: DeserializeOwned>(json: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(json?.get()).ok()
}

/// A marker, parsed at once so that no sample owns a string.
struct MarkerText(Result<Marker, UnknownMarker>);

impl<'de> Deserialize<'de> for MarkerText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MarkerVisitor;

        impl Visitor<'_> for MarkerVisitor {
            type Value = MarkerText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a marker")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<MarkerText, E> {
                Ok(MarkerText(text.parse()))
            }
        }

        deserializer.deserialize_str(MarkerVisitor)
    }
}
