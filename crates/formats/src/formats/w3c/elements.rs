//! The dictionaries of the API, and of selfprof's extension, in JSON.
//!
//! Optional members may be absent or `null`. So may required numbers, because `JSON.stringify` writes NaN as `null`:
//! they become NaN again, and validation repairs the element.
use selfprof_trace::foreign::{
    ForeignEntry, ForeignFrame, ForeignSample, ForeignStack, ForeignTrace, LimitExceeded,
};
use selfprof_trace::{Marker, UnknownMarker};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::value::RawValue;

use super::labels::ForeignLabels;
use crate::json::{Text, read_wtf8};

/// An element of one of the lists.
pub(super) trait Element: for<'de> Deserialize<'de> {
    /// Adds the element to the trace that is validated.
    fn push_to(self, trace: &mut ForeignTrace, labels: &mut ForeignLabels) -> Result<(), LimitExceeded>;
}

impl Element for Text {
    fn push_to(self, trace: &mut ForeignTrace, _: &mut ForeignLabels) -> Result<(), LimitExceeded> {
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
    fn push_to(self, trace: &mut ForeignTrace, _: &mut ForeignLabels) -> Result<(), LimitExceeded> {
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
    fn push_to(self, trace: &mut ForeignTrace, _: &mut ForeignLabels) -> Result<(), LimitExceeded> {
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
    labels_id: Option<Number>,
}

impl Element for Sample {
    fn push_to(self, trace: &mut ForeignTrace, labels: &mut ForeignLabels) -> Result<(), LimitExceeded> {
        labels.push_sample(self.timestamp, self.labels_id.and_then(|Number(id)| id));
        let timestamp = self.timestamp.unwrap_or(f64::NAN);
        let marker = self.marker.map(|text| text.0);
        trace.push_sample(ForeignSample { timestamp, stack_id: self.stack_id, marker })
    }
}

/// A mark or a measure. The specification has no such list, so a foreign list of this name may contain anything. An
/// element is therefore read in two steps: first as raw JSON, then each member that has the right type.
#[derive(serde::Deserialize)]
pub(super) struct Entry(Box<RawValue>);

impl Element for Entry {
    fn push_to(self, trace: &mut ForeignTrace, _: &mut ForeignLabels) -> Result<(), LimitExceeded> {
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

/// A number, or `None` if the JSON is something else.
pub(super) struct Number(pub(super) Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(parse(Some(&json))))
    }
}

/// Parses a member; `None` if it is absent or has another type.
pub(super) fn parse<T: DeserializeOwned>(json: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(json?.get()).ok()
}

/// A marker, parsed without a `String` per sample.
struct MarkerText(Result<Marker, UnknownMarker>);

impl<'de> Deserialize<'de> for MarkerText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_wtf8(deserializer, "the name of a marker", |bytes| {
            Self(std::str::from_utf8(bytes).map_err(|_| UnknownMarker).and_then(str::parse))
        })
    }
}
