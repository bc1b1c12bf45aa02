//! Calls: each entry and exit of traced functions, instead of samples.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::id::FrameId;
use crate::micros::Micros;

/// What happens to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallEventType {
    /// It is called.
    Enter,
    /// It returns or throws.
    Exit,
    /// It is suspended, by `await` or `yield`.
    Suspend,
    /// It is resumed.
    Resume,
}

impl CallEventType {
    /// In the order of their numbers in the W3C format's extension.
    pub const ALL: [Self; 4] = [Self::Enter, Self::Exit, Self::Suspend, Self::Resume];

    /// The number.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Whether the function begins to run, and does not end to.
    pub fn begins(self) -> bool {
        matches!(self, Self::Enter | Self::Resume)
    }
}

/// An entry or exit of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEvent {
    /// What happens.
    pub event_type: CallEventType,
    /// The function.
    pub frame: FrameId,
    /// The time since the trace's time origin.
    pub timestamp: Micros,
}

/// The time from when a function began to run, or to run again, until it ended or was suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSpan {
    /// The function.
    pub frame: FrameId,
    /// When it began, or the start of the period if it began before.
    pub start: Micros,
    /// When it ended, or the end of the period if it ran on.
    pub end: Micros,
    /// What it began with; `None` if it began before the period.
    pub began: Option<CallEventType>,
    /// What it ended with; `None` if it ran on.
    pub ended: Option<CallEventType>,
}

/// How an event did not fit to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It is earlier than the one before, and got its time.
    Earlier,
    /// A function ended that had called others which had not. They have ended with it.
    CalledOthers,
    /// A function ended that was not running. The event was dropped.
    NotRunning,
}

/// The calls of functions in a period, in time order.
///
/// Invariant: events nest. A function that ends is the one that began last of those that have not ended, or none is
/// left: it began before the period.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    start: Micros,
    end: Micros,
    is_truncated: bool,
    events: Vec<CallEvent>,
    /// Functions that run, outermost first.
    running: Vec<FrameId>,
    /// How often each is in `running`.
    counts: HashMap<FrameId, u32, BuildHasherDefault<std::hash::DefaultHasher>>,
}

impl Calls {
    /// No calls since `start`.
    pub fn new(start: Micros) -> Self {
        Self { start, end: start, ..Self::default() }
    }

    /// Adds an event, or what is right of it.
    pub fn push(&mut self, event: CallEvent) -> Result<(), Misfit> {
        let timestamp = event.timestamp.max(self.end);
        let result = self.fit(CallEvent { timestamp, ..event });
        match result {
            Ok(()) if timestamp != event.timestamp => Err(Misfit::Earlier),
            other => other,
        }
    }

    fn fit(&mut self, event: CallEvent) -> Result<(), Misfit> {
        let CallEvent { event_type, frame, timestamp } = event;
        let mut result = Ok(());
        if event_type.begins() {
            self.running.push(frame);
            *self.counts.entry(frame).or_default() += 1;
        } else if !self.running.is_empty() {
            if self.counts.get(&frame).is_none_or(|count| *count == 0) {
                return Err(Misfit::NotRunning);
            }
            while let Some(ended) = self.running.pop() {
                *self.counts.entry(ended).or_insert(1) -= 1;
                if ended == frame {
                    break;
                }
                let event_type = CallEventType::Exit;
                self.events.push(CallEvent { event_type, frame: ended, timestamp });
                result = Err(Misfit::CalledOthers);
            }
        }
        self.events.push(event);
        self.end = timestamp;
        result
    }

    /// Ends the period. Returns `false` if that is before the last event, whose time is then used.
    pub fn finish(&mut self, end: Micros, is_truncated: bool) -> bool {
        let is_possible = end >= self.end;
        self.end = self.end.max(end);
        self.is_truncated = is_truncated;
        is_possible
    }

    /// The events, in order.
    pub fn events(&self) -> &[CallEvent] {
        &self.events
    }

    /// When the period began.
    pub fn start(&self) -> Micros {
        self.start
    }

    /// When it ended.
    pub fn end(&self) -> Micros {
        self.end
    }

    /// Whether it ended with the first event that was lost.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// The functions that began before the period and ended in it, outermost first.
    pub fn running_at_start(&self) -> Vec<FrameId> {
        let mut depth = 0_usize;
        let mut running = Vec::new();
        for event in &self.events {
            if event.event_type.begins() {
                depth += 1;
            } else if depth > 0 {
                depth -= 1;
            } else {
                running.push(event.frame);
            }
        }
        running.reverse();
        running
    }

    /// The spans of all functions, in the order in which they began.
    pub fn spans(&self) -> Vec<CallSpan> {
        let span = |frame, start, began| CallSpan { frame, start, end: self.end, began, ended: None };
        let running = self.running_at_start();
        let mut open: Vec<usize> = (0..running.len()).collect();
        let mut spans: Vec<CallSpan> =
            running.into_iter().map(|frame| span(frame, self.start, None)).collect();
        for event in &self.events {
            if event.event_type.begins() {
                open.push(spans.len());
                spans.push(span(event.frame, event.timestamp, Some(event.event_type)));
            } else if let Some(index) = open.pop() {
                spans[index].end = event.timestamp;
                spans[index].ended = Some(event.event_type);
            }
        }
        spans
    }

    /// The functions that run at the end, outermost first.
    pub fn running_at_end(&self) -> &[FrameId] {
        &self.running
    }

    /// The number of calls and of resumptions of each function.
    pub fn counts(&self, frames: usize) -> Vec<CallCounts> {
        let mut counts = vec![CallCounts::default(); frames];
        for event in &self.events {
            let Some(count) = counts.get_mut(event.frame.index()) else { continue };
            match event.event_type {
                CallEventType::Enter => count.calls += 1,
                CallEventType::Resume => count.resumptions += 1,
                CallEventType::Exit | CallEventType::Suspend => {}
            }
        }
        counts
    }

    /// The same calls of other functions. Events of functions without a new id are left out, so that their time is
    /// their callers'.
    pub fn with_frames(&self, new: impl Fn(FrameId) -> Option<FrameId>) -> Self {
        let renumbered = |event: &CallEvent| Some(CallEvent { frame: new(event.frame)?, ..*event });
        let running: Vec<FrameId> = self.running.iter().filter_map(|&frame| new(frame)).collect();
        let mut counts = HashMap::default();
        running.iter().for_each(|&frame| *counts.entry(frame).or_default() += 1);
        Self { events: self.events.iter().filter_map(renumbered).collect(), running, counts, ..*self }
    }

    /// Appends the calls of another thread. Only the counts have a meaning then.
    pub(crate) fn append(&mut self, other: Self) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.is_truncated |= other.is_truncated;
        self.events.extend(other.events);
    }

    pub(crate) fn shift(&mut self, offset: Micros) {
        let shifted = |time: Micros| time.saturating_add(offset);
        (self.start, self.end) = (shifted(self.start), shifted(self.end));
        self.events.iter_mut().for_each(|event| event.timestamp = shifted(event.timestamp));
    }
}

/// How often a function was called, and how often it went on after it was suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls that began in the period.
    pub calls: u64,
    /// Resumptions.
    pub resumptions: u64,
}
