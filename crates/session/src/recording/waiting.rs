//! How long the thread waited while it was busy, from its CPU times and its samples.
//!
//! A busy thread that does not run waits: for a child process or a file, for a lock, or for a processor. But between
//! two samples, a thread may also be idle for a moment. A program with many short tasks is found busy by a sample now
//! and then, and each of these samples stands for a time in which the thread mostly was idle. On the other hand, such a
//! program also runs before samples that find it idle. This CPU time is as long, on average, as the idle time before
//! busy samples, so that much of it is not waiting.
//!
//! Time between an idle sample and a busy one never counts as waiting, since it is not known when the thread began to
//! be busy.

use selfprof_trace::{Micros, Sample, WaitingPoint};

use crate::{CpuTime, Instant};

/// How much the line through the points may differ from the waiting time.
const TOLERANCE: Micros = Micros(50);

/// Being sampled takes an idle or waiting thread this share of the time at most, in percent. That is no work of the
/// program.
const SAMPLING_CPU_PERCENT: u64 = 5;

/// How much CPU time before idle samples is carried into the next segment at most. Chance makes it differ from the idle
/// time before busy samples.
const LONGEST_CARRIED: Micros = Micros(50_000);

/// Computes the waiting time of a recording.
#[derive(Debug, Default)]
pub(super) struct WaitingRecorder {
    /// The CPU times, on the time axis of the trace, from the last one that is not after the last sample.
    cpu_times: CpuLine,
    /// The last sample.
    last: Option<Sample>,
    /// The CPU time before idle samples that no idle time before busy samples has made up for.
    cpu_before_idle: Micros,
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
    kind: Kind,
}

/// Why the thread did not run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It waited: it hardly ran between two busy samples.
    Waiting,
    /// It waited, or it was idle between two busy samples.
    BetweenBusy,
    /// It was idle, until some time before the busy sample.
    AfterIdle,
}

impl WaitingRecorder {
    /// Adds the CPU times of a segment and those of its samples that were recorded, in time order.
    pub(super) fn append(&mut self, cpu_times: &[CpuTime], origin: Instant, samples: &[Sample]) {
        self.cpu_times.points.extend(cpu_times.iter().map(|&CpuTime { at, cpu, is_after_gap }| CpuPoint {
            time: at.since(origin),
            cpu,
            is_after_gap,
        }));
        let mut intervals = Vec::new();
        let mut position = 0;
        for sample in samples {
            let Some(last) = self.last.replace(*sample) else {
                // The first point says that the waiting time is known.
                self.line.add(WaitingPoint { timestamp: sample.timestamp, waited: Micros::ZERO });
                continue;
            };
            let (from, to) = (last.timestamp, sample.timestamp);
            let Some(cpu) = self.cpu_times.between(&mut position, from, to) else { continue };
            let length = to.saturating_sub(from);
            let of_sampling = Micros(length.saturating_mul(SAMPLING_CPU_PERCENT).0 / 100);
            if sample.is_idle() {
                self.cpu_before_idle = self.cpu_before_idle.saturating_add(cpu.saturating_sub(of_sampling));
                continue;
            }
            let kind = match last.is_idle() {
                true => Kind::AfterIdle,
                false if cpu <= of_sampling => Kind::Waiting,
                false => Kind::BetweenBusy,
            };
            intervals.push(Interval { from, to, stopped: length.saturating_sub(cpu), kind });
        }
        self.add(&intervals);
        if let Some(last) = self.last {
            self.cpu_times.forget_before(last.timestamp);
        }
    }

    fn add(&mut self, intervals: &[Interval]) {
        let stopped = |kind: Kind| {
            let those = intervals.iter().filter(|interval| interval.kind == kind);
            those.fold(Micros::ZERO, |sum, interval| sum.saturating_add(interval.stopped))
        };
        // How much of a time was not idle time.
        let mut without_idle = |time: Micros| {
            let idle = time.min(self.cpu_before_idle);
            self.cpu_before_idle = self.cpu_before_idle.saturating_sub(idle);
            time.saturating_sub(idle)
        };
        without_idle(stopped(Kind::AfterIdle));
        let between_busy = stopped(Kind::BetweenBusy);
        let waited = without_idle(between_busy);
        self.cpu_before_idle = self.cpu_before_idle.min(LONGEST_CARRIED);
        for interval in intervals {
            let time = match interval.kind {
                Kind::Waiting => interval.stopped,
                Kind::BetweenBusy => share(interval.stopped, waited, between_busy),
                Kind::AfterIdle => Micros::ZERO,
            };
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
    /// The CPU time between two moments; `None` if it is not known. `position` is where to look first, and moves on:
    /// the moments must be in order.
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
