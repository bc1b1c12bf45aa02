//! How long the thread waited while it was busy: from its CPU times, its samples, and the time that its event loop waited for events.
//!
//! A busy thread that does not run waits: for a child process or a file, for a lock, or for a processor. But between two samples, a
//! thread may also be idle for a moment. So the time that it did not run before a busy sample only says where it may have waited.
//! How long it did altogether is known for each segment: what is left of its time without the CPU time and without the time in which
//! the event loop waited for events.

use selfprof_trace::{Micros, Sample, WaitingPoint};

use crate::{CpuTime, Instant, RawCpuTimes};

/// How much the line through the points may differ from the waiting time.
const TOLERANCE: Micros = Micros(50);

/// Sampling an idle thread makes it run this share of the time at most, in percent. That is no work of the program.
const IDLE_CPU_PERCENT: u64 = 5;

/// Computes the waiting time of a recording.
#[derive(Debug, Default)]
pub(super) struct WaitingRecorder {
    /// The CPU times, on the time axis of the trace, from the last one that is not after the last sample.
    cpu_times: CpuLine,
    /// The end of the last segment.
    end: Option<CpuPoint>,
    /// The last sample.
    last: Option<Sample>,
    /// The waiting time so far.
    total: Micros,
    line: Line,
}

#[derive(Clone, Copy, Debug)]
struct CpuPoint {
    time: Micros,
    cpu: Micros,
    is_after_gap: bool,
}

/// The time before a busy sample.
#[derive(Clone, Copy)]
struct Interval {
    from: Micros,
    to: Micros,
    /// How long the thread did not run.
    stopped: Micros,
    /// Whether the sample before was idle, too: the thread was probably idle, rather than waiting.
    is_after_idle: bool,
}

impl WaitingRecorder {
    /// Adds a segment and those of its samples that were recorded, in time order.
    pub(super) fn append(&mut self, segment: &RawCpuTimes, origin: Instant, samples: &[Sample]) {
        let on_axis = |&CpuTime { at, cpu, is_after_gap }: &CpuTime| CpuPoint {
            time: at.since(origin),
            cpu,
            is_after_gap,
        };
        let start = self.end.or(segment.times.first().map(on_axis));
        self.cpu_times.points.extend(segment.times.iter().map(on_axis));
        self.end = self.cpu_times.points.last().copied();
        let (Some(start), Some(end)) = (start, self.end) else { return };

        let mut idle_cpu = Micros::ZERO;
        let mut intervals = Vec::new();
        let mut position = 0;
        for sample in samples {
            if let Some(last) = self.last.replace(*sample) {
                let (from, to) = (last.timestamp, sample.timestamp);
                let Some(cpu) = self.cpu_times.between(&mut position, from, to) else { continue };
                let length = to.saturating_sub(from);
                if !sample.is_idle() {
                    let (stopped, is_after_idle) = (length.saturating_sub(cpu), last.is_idle());
                    intervals.push(Interval { from, to, stopped, is_after_idle });
                } else if last.is_idle() {
                    idle_cpu = idle_cpu.saturating_add(cpu.min(Micros(length.0 * IDLE_CPU_PERCENT / 100)));
                }
            } else {
                // The first point says that the waiting time is known.
                self.line.add(WaitingPoint { timestamp: sample.timestamp, waited: Micros::ZERO });
            }
        }
        let cpu = end.cpu.saturating_sub(start.cpu).saturating_sub(idle_cpu);
        let waited =
            end.time.saturating_sub(start.time).saturating_sub(cpu).saturating_sub(segment.loop_idle);
        self.add(&intervals, waited);
        if let Some(last) = self.last {
            self.cpu_times.forget_before(last.timestamp);
        }
    }

    /// Distributes the waiting time of a segment among its intervals.
    fn add(&mut self, intervals: &[Interval], waited: Micros) {
        let stopped = |is_after_idle: bool| {
            let those = intervals.iter().filter(|interval| interval.is_after_idle == is_after_idle);
            those.fold(Micros::ZERO, |sum, interval| sum.saturating_add(interval.stopped))
        };
        let (while_busy, after_idle) = (stopped(false), stopped(true));
        let rest = waited.saturating_sub(while_busy);
        for interval in intervals {
            let (part, whole) =
                if interval.is_after_idle { (rest, after_idle) } else { (waited, while_busy) };
            let time = share(interval.stopped, part, whole);
            if time > Micros::ZERO {
                self.line.add(WaitingPoint { timestamp: interval.from, waited: self.total });
                self.total = self.total.saturating_add(time);
                self.line.add(WaitingPoint { timestamp: interval.to, waited: self.total });
            }
        }
        self.line.flush();
    }

    /// Removes and returns the points that are complete.
    pub(super) fn take(&mut self) -> Vec<WaitingPoint> {
        std::mem::take(&mut self.line.points)
    }
}

/// The part of `time` that it has if `part` of `whole` is distributed.
fn share(time: Micros, part: Micros, whole: Micros) -> Micros {
    if part >= whole {
        return time;
    }
    // Less than `time`, since `part` is less than `whole`.
    Micros((u128::from(time.0) * u128::from(part.0) / u128::from(whole.0)) as u64)
}

#[derive(Debug, Default)]
struct CpuLine {
    points: Vec<CpuPoint>,
}

impl CpuLine {
    /// The CPU time between two moments; `None` if it is not known. `position` is where to look first, and moves on: the moments
    /// must be in order.
    fn between(&self, position: &mut usize, from: Micros, to: Micros) -> Option<Micros> {
        let start = self.at(position, from)?;
        let first = *position;
        let end = self.at(position, to)?;
        let has_gap = self.points.get(first + 1..=*position + 1)?.iter().any(|point| point.is_after_gap);
        if has_gap { None } else { Some(end.saturating_sub(start)) }
    }

    /// The CPU time at a moment. Sets `position` to the last point before it that has another one after it.
    fn at(&self, position: &mut usize, time: Micros) -> Option<Micros> {
        while self.points.get(*position + 2).is_some() && self.points[*position + 1].time < time {
            *position += 1;
        }
        let (before, after) = (self.points.get(*position)?, self.points.get(*position + 1)?);
        if time < before.time || time > after.time {
            return None;
        }
        let whole = after.time.saturating_sub(before.time);
        Some(before.cpu.saturating_add(share(
            after.cpu.saturating_sub(before.cpu),
            time.saturating_sub(before.time),
            whole,
        )))
    }

    fn forget_before(&mut self, time: Micros) {
        let later = self.points.partition_point(|point| point.time <= time);
        self.points.drain(..later.saturating_sub(1));
    }
}

/// A line through as few points as possible.
#[derive(Debug, Default)]
struct Line {
    /// The points that are complete.
    points: Vec<WaitingPoint>,
    /// Where the line goes on.
    start: Option<WaitingPoint>,
    /// The last point, which is not complete yet.
    latest: Option<WaitingPoint>,
    /// The slopes of all lines from the start that pass the points since within the tolerance.
    slopes: (f64, f64),
}

impl Line {
    fn add(&mut self, point: WaitingPoint) {
        let Some(start) = self.start else { return self.begin_at(point) };
        if self.latest.is_some_and(|latest| point.timestamp <= latest.timestamp)
            || point.timestamp <= start.timestamp
        {
            return;
        }
        if let Some(latest) = self.latest
            && !(self.slopes.0..=self.slopes.1).contains(&slope(start, point, 0.0))
        {
            self.begin_at(latest);
        }
        let start = self.start.unwrap_or(start);
        let tolerance = TOLERANCE.0 as f64;
        let (low, high) = (slope(start, point, -tolerance), slope(start, point, tolerance));
        self.slopes = (self.slopes.0.max(low), self.slopes.1.min(high));
        self.latest = Some(point);
    }

    fn begin_at(&mut self, point: WaitingPoint) {
        self.points.push(point);
        self.start = Some(point);
        self.latest = None;
        self.slopes = (f64::NEG_INFINITY, f64::INFINITY);
    }

    /// Completes the last point if it matters.
    fn flush(&mut self) {
        let waited = |point: Option<WaitingPoint>| point.map_or(Micros::ZERO, |point| point.waited);
        if waited(self.latest).saturating_sub(waited(self.start)) > TOLERANCE
            && let Some(latest) = self.latest
        {
            self.begin_at(latest);
        }
    }
}

fn slope(from: WaitingPoint, to: WaitingPoint, offset: f64) -> f64 {
    let time = to.timestamp.saturating_sub(from.timestamp).0 as f64;
    (to.waited.saturating_sub(from.waited).0 as f64 + offset) / time
}
