//! `v8::CpuProfiler` as the sampler of one isolate.

use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::Arc;

use selfprof_session::{Instant, Sampler, SamplerError};
use selfprof_trace::Micros;

use crate::cpu_times::CpuTimes;
use crate::profile::{AddonName, ProfileCell, Readings};
use crate::sample_labels::SampleLabels;
use crate::{Environment, Profile, ffi};

/// When V8 records the addresses of code, which it needs to name the functions of a sample. Corresponds to the document
/// policy `js-profiling-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LoggingMode {
    /// From the creation of the sampler on: starting a profile costs almost nothing, and functions that were optimised
    /// before are seen.
    #[default]
    Eager,
    /// While a profile is running: there is no cost before, but each start walks the heap, and loops that were already
    /// running optimised code have no name.
    Lazy,
}

/// V8's sampler thread and signal handler for one isolate. Belongs to the isolate's thread.
///
/// Must be dropped before the isolate ends. Dropping it ends all runs and frees all profiles; those that another thread
/// still holds can no longer be read.
pub struct CpuSampler {
    isolate: NonNull<ffi::Isolate>,
    profiler: NonNull<ffi::CpuProfiler>,
    /// Current runs, by V8's id. V8 aborts if its profiler is disposed before they have ended.
    running: Vec<Run>,
    /// Profiles that are not deleted yet, the oldest first. Only this thread may delete them, and only while no thread
    /// reads them.
    profiles: Vec<EndedRun>,
    retired: Option<RetiredRun>,
    addon_name: AddonName,
    /// `None` unless a recording wants CPU times.
    cpu_times: Option<CpuTimes>,
    /// `None` unless the program labels its work.
    labels: Option<SampleLabels>,
}

/// A run of V8's profiler.
#[derive(Clone, Copy)]
struct Run {
    id: u32,
    interval_us: i32,
    started: Instant,
}

/// The profile of a run that has ended or is about to.
struct EndedRun {
    cell: Arc<ProfileCell>,
    length: Micros,
}

/// A run that ends as soon as V8 has processed all samples that were taken before it was retired.
struct RetiredRun {
    id: u32,
    cell: Arc<ProfileCell>,
    /// A run that was started when this one was retired. A sample in it shows that V8 has processed all earlier ones,
    /// since it processes them in order.
    probe: u32,
}

/// All runs of a group are multiples of this; see [`CpuSampler::drain`].
const GROUP_BASE_US: i32 = 1_000;
/// V8's own base interval, finer than any run's.
const V8_BASE_US: i32 = GROUP_BASE_US / 2;
/// How many samples V8 may keep in one run, 32 bytes each. A group cuts runs long before that. The bound matters when
/// the JS thread is blocked in native code for a quarter of an hour.
const MAX_SAMPLES_PER_RUN: u32 = 1 << 20;

impl CpuSampler {
    /// The shortest interval. All others are multiples of it.
    pub const BASE: Micros = Micros(GROUP_BASE_US as u64);

    /// Makes the sampler of the environment's isolate.
    #[must_use]
    pub fn new(environment: &Environment, mode: LoggingMode) -> Self {
        let isolate = environment.isolate();
        let lazy = i32::from(mode == LoggingMode::Lazy);
        // SAFETY: the isolate is this thread's and lives as long as its environment.
        let profiler = unsafe { ffi::selfprof_profiler_new(isolate.as_ptr(), lazy, V8_BASE_US) };
        let profiler = NonNull::new(profiler).expect("v8::CpuProfiler::New does not return null");
        Self {
            isolate,
            profiler,
            running: Vec::new(),
            profiles: Vec::new(),
            retired: None,
            addon_name: AddonName::default(),
            cpu_times: None,
            labels: None,
        }
    }

    /// Deletes the profiles that have been read, which V8 allows on this thread only.
    pub fn release_read_profiles(&mut self) {
        self.profiles.retain(|run| !run.cell.delete_if_read());
    }

    /// Deletes the oldest profile if it has been read. Returns how long its run was.
    pub fn release_oldest_profile(&mut self) -> Option<Micros> {
        let deleted = self.profiles.first()?.cell.delete_if_read();
        deleted.then(|| self.profiles.remove(0).length)
    }

    /// How many profiles are not deleted yet.
    #[must_use]
    pub fn held_profiles(&self) -> usize {
        self.profiles.len()
    }

    /// Ends the retired run, if there is one. With `at_once`, V8 is made to process its samples; otherwise nothing
    /// happens before it has. Returns whether no retired run is left.
    pub fn end_retired_run(&mut self, at_once: bool) -> bool {
        let Some(RetiredRun { id, cell, probe }) = self.retired.take() else { return true };
        if !self.has_samples(probe) {
            let next = (!at_once).then(|| self.start_probe().ok()).flatten();
            if let Some(probe) = next {
                self.retired = Some(RetiredRun { id, cell, probe });
                return false;
            }
            self.drain();
        }
        self.end_run(id, &cell);
        true
    }

    /// Starts a run with the interval of the others, so that V8 does not restart its sampling thread.
    fn start_probe(&mut self) -> Result<u32, SamplerError> {
        let interval = self.running.iter().map(|run| run.interval_us).min().unwrap_or(GROUP_BASE_US);
        self.start_run(interval)
    }

    /// Stops a run. Returns whether V8 has processed a sample of its thread since it was started.
    fn has_samples(&mut self, run: u32) -> bool {
        let Some(profile) = self.stop_run(run) else { return false };
        // SAFETY: this profile has not been shared with other code.
        unsafe {
            // The first is the sample that V8 takes when a run is started.
            let has_samples = ffi::selfprof_profile_sample_count(profile.as_ptr()) > 1;
            ffi::selfprof_profile_delete(profile.as_ptr());
            has_samples
        }
    }

    /// Ends a run, whose profile can be read then.
    fn end_run(&mut self, id: u32, cell: &ProfileCell) {
        let profile = self.stop_run(id);
        let labels = self.labels.as_mut();
        let (labels, table) = labels.map(|labels| (labels.take(), labels.table())).unzip();
        let cpu_times = self.cpu_times.as_mut().map(CpuTimes::take);
        cell.set_profile(profile, Readings { cpu_times, labels: labels.unwrap_or_default(), table });
    }

    /// Prepares the profile of a run that ends now or soon.
    fn prepare_end(&mut self, id: u32) -> Arc<ProfileCell> {
        let run = self.running.iter().find(|run| run.id == id);
        let length = run.map_or(Micros::ZERO, |run| crate::now().since(run.started));
        let cell = Arc::new(ProfileCell::new(MAX_SAMPLES_PER_RUN, Arc::clone(&self.addon_name)));
        self.profiles.push(EndedRun { cell: Arc::clone(&cell), length });
        cell
    }

    /// Whether the segments have the CPU times of the thread.
    pub fn set_cpu_times(&mut self, are_wanted: bool) {
        if are_wanted && self.cpu_times.is_none() {
            self.cpu_times = CpuTimes::new();
            self.update_cpu_interval();
        } else if !are_wanted {
            self.cpu_times = None;
        }
    }

    /// Segments have the labels of the sampled code from now on, as long as they have CPU times. Without `labels`, they
    /// have none.
    pub fn set_labels(&mut self, labels: Option<SampleLabels>) {
        self.labels = labels;
        self.update_cpu_interval();
    }

    fn start_run(&mut self, interval_us: i32) -> Result<u32, SamplerError> {
        self.read_labels();
        let mut id = 0;
        // SAFETY: isolate and profiler are this thread's and alive; `id` is written before the call returns.
        let started = unsafe {
            ffi::selfprof_profiler_start(
                self.isolate.as_ptr(),
                self.profiler.as_ptr(),
                interval_us,
                MAX_SAMPLES_PER_RUN,
                &mut id,
            )
        };
        if !started {
            return Err(SamplerError { reason: "V8 allows no more than 100 runs at once" });
        }
        self.running.push(Run { id, interval_us, started: crate::now() });
        self.update_cpu_interval();
        if let Some(times) = &mut self.cpu_times {
            times.install_handler();
        }
        Ok(id)
    }

    fn read_labels(&mut self) {
        if let Some(labels) = &mut self.labels {
            labels.read();
        }
    }

    fn stop_run(&mut self, id: u32) -> Option<NonNull<ffi::CpuProfile>> {
        self.running.retain(|run| run.id != id);
        self.update_cpu_interval();
        // SAFETY: isolate and profiler are this thread's and alive; V8 returns null for an id it does not know.
        NonNull::new(unsafe {
            ffi::selfprof_profiler_stop(self.isolate.as_ptr(), self.profiler.as_ptr(), id)
        })
    }

    /// The longest interval counts: a run with a shorter one may last for a moment only, as in [`CpuSampler::drain`].
    fn update_cpu_interval(&mut self) {
        let Some(longest_us) = self.running.iter().map(|run| run.interval_us).max() else { return };
        let longest = Micros(longest_us.unsigned_abs().into());
        if let Some(times) = &mut self.cpu_times {
            times.set_interval(longest);
        }
        if let Some(labels) = &mut self.labels {
            // As for CPU times: samples may be late on a busy machine.
            labels.set_longest(longest.saturating_mul(10).saturating_add(Micros(100_000)));
        }
    }

    /// Makes V8 process every sample that it has taken, while other runs continue.
    ///
    /// V8 processes the samples of its signal handler when its next interval begins, and stopping one of several runs
    /// does not wait for that. But when the common interval of its runs changes, V8 joins its sampling thread, which
    /// processes everything first. So a run is started and stopped that has an interval of its own.
    fn drain(&mut self) {
        if let Ok(id) = self.start_run(V8_BASE_US)
            && let Some(profile) = self.stop_run(id)
        {
            // SAFETY: this profile has not been shared with other code.
            unsafe { ffi::selfprof_profile_delete(profile.as_ptr()) };
        }
    }
}

impl Sampler for CpuSampler {
    type Running = u32;
    type Profile = Profile;

    fn start(&mut self, interval: Micros) -> Result<u32, SamplerError> {
        self.release_read_profiles();
        self.start_run(i32::try_from(interval.0).unwrap_or(i32::MAX))
    }

    fn stop(&mut self, running: u32) -> Profile {
        self.end_retired_run(true);
        if self.running.len() > 1 {
            self.drain();
        }
        let cell = self.prepare_end(running);
        self.end_run(running, &cell);
        Profile::new(cell)
    }

    fn retire(&mut self, running: u32) -> Profile {
        self.end_retired_run(true);
        match self.start_probe() {
            Ok(probe) => {
                let cell = self.prepare_end(running);
                self.retired = Some(RetiredRun { id: running, cell: Arc::clone(&cell), probe });
                Profile::new(cell)
            }
            Err(_) => self.stop(running),
        }
    }

    fn sample_now(&mut self) {
        self.read_labels();
        // SAFETY: the isolate is this thread's and alive.
        unsafe { ffi::selfprof_collect_sample(self.isolate.as_ptr()) };
    }

    fn sample_alone(&mut self) -> RangeInclusive<Instant> {
        self.read_labels();
        let (mut from, mut to) = (0, 0);
        // SAFETY: as above; both are written before the call returns.
        unsafe { ffi::selfprof_collect_sample_alone(self.isolate.as_ptr(), &mut from, &mut to) };
        Instant(from)..=Instant(to)
    }
}

impl Drop for CpuSampler {
    fn drop(&mut self) {
        for run in std::mem::take(&mut self.running) {
            if let Some(profile) = self.stop_run(run.id) {
                // SAFETY: this profile has not been shared with other code.
                unsafe { ffi::selfprof_profile_delete(profile.as_ptr()) };
            }
        }
        for run in self.profiles.drain(..) {
            run.cell.delete();
        }
        // SAFETY: no run is going and every profile is deleted.
        unsafe { ffi::selfprof_profiler_dispose(self.profiler.as_ptr()) };
    }
}
