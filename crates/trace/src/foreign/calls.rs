//! Calls as they were read.

use super::elements::whole;
use super::problem::{Location, Problem, ProblemKind, Problems, Remedy};
use crate::calls::{CallEvent, CallEventType, Calls, Misfit};
use crate::id::FrameId;
use crate::micros::Micros;

/// The lists of a trace's calls. Those that are shorter than `types` have lost elements, which are then invalid.
#[derive(Clone, Debug, Default)]
pub struct ForeignCalls {
    /// When recording began, in milliseconds.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// Whether events were lost.
    pub is_truncated: bool,
    /// The numbers of [`CallEventType::ALL`].
    pub types: Vec<f64>,
    /// Indexes of `frames`.
    pub frame_ids: Vec<f64>,
    /// Times, in milliseconds.
    pub timestamps: Vec<f64>,
}

impl ForeignCalls {
    /// The calls of these frames, by their foreign ids. `None` if it is not known when recording began.
    pub(super) fn validate(self, frames: &[Option<FrameId>], problems: &mut Problems) -> Option<Calls> {
        let Some(start) = Micros::from_millis_f64(self.start) else {
            let (location, value) = (Location::Member("calls.start"), Some(self.start));
            let (kind, remedy) = (ProblemKind::Timestamp, Remedy::NoCalls);
            problems.push(Problem { location, value, kind, remedy });
            return None;
        };
        let mut calls = Calls::new(start);
        let columns = self.frame_ids.iter().zip(&self.timestamps);
        for (index, (&event_type, (&frame_id, &time))) in self.types.iter().zip(columns).enumerate() {
            let mut report = |list, value, kind, remedy| {
                let location = Location::Element { list, index, member: "" };
                problems.push(Problem { location, value: Some(value), kind, remedy });
            };
            let Some(known) = whole(event_type).and_then(|index| CallEventType::ALL.get(index)) else {
                report("calls.types", event_type, ProblemKind::CallEventType, Remedy::NoEvent);
                continue;
            };
            let Some(frame) = whole(frame_id).and_then(|id| *frames.get(id)?) else {
                report("calls.frameIds", frame_id, ProblemKind::Dangling, Remedy::NoEvent);
                continue;
            };
            let Some(timestamp) = Micros::from_millis_f64(time) else {
                report("calls.timestamps", time, ProblemKind::Timestamp, Remedy::NoEvent);
                continue;
            };
            match calls.push(CallEvent { event_type: *known, frame, timestamp }) {
                Ok(()) => {}
                Err(Misfit::Earlier) => {
                    report("calls.timestamps", time, ProblemKind::Order, Remedy::SameEventTime)
                }
                Err(Misfit::CalledOthers) => {
                    report("calls.frameIds", frame_id, ProblemKind::CalledOthers, Remedy::EndTogether)
                }
                Err(Misfit::NotRunning) => {
                    report("calls.frameIds", frame_id, ProblemKind::NotRunning, Remedy::NoEvent)
                }
            }
        }
        let end = Micros::from_millis_f64(self.end);
        if !calls.finish(end.unwrap_or(Micros::ZERO), self.is_truncated) {
            let kind = if end.is_none() { ProblemKind::Timestamp } else { ProblemKind::Order };
            let (location, value) = (Location::Member("calls.end"), Some(self.end));
            problems.push(Problem { location, value, kind, remedy: Remedy::SameEventTime });
        }
        Some(calls)
    }
}
