//! How much address space the process has left for objects that reserve gigabytes of it, although they use little memory: resizable
//! buffers and the memories of WebAssembly. V8 ends the process when the system gives it no more addresses or no more mappings.
//!
//! It is measured and not counted, because such objects come and go in ways that no one sees: in clones of values, and as parts of instances
//! that functions keep alive.

use std::fs::{self, File};
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

/// What may be used of the system's limits: half. Other threads may be making objects, too.
const MAX_BYTES: u64 = 1 << 46;

/// What Linux allows, unless it is configured to allow something else.
const DEFAULT_MAX_MAPPINGS: u64 = 65_530;

/// What an object takes at most.
const BYTES: u64 = 16 << 30;
const MAPPINGS: u64 = 3;

/// How many objects may be made in any case between two measurements. Where more is left, a sixteenth of that may be made.
const MIN_INTERVAL: u64 = 16;

/// Objects that all threads may make before the next measurement.
static UNMEASURED: AtomicU64 = AtomicU64::new(0);

/// Whether there is room for `count` more objects. To be called inside a native function that JavaScript called.
pub fn reserve(count: u32) -> bool {
    let count = u64::from(count);
    let taken = UNMEASURED
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |unmeasured| unmeasured.checked_sub(count));
    if taken.is_ok() {
        return true;
    }
    let mut room = room();
    if room < count {
        selfprof_v8::collect_garbage();
        room = self::room();
    }
    if room < count {
        return false;
    }
    let room = room - count;
    UNMEASURED.store((room / 16).max(MIN_INTERVAL), Ordering::Relaxed);
    true
}

/// For how many objects there is room. Where the system does not say, for any number.
fn room() -> u64 {
    let bytes = fs::read_to_string("/proc/self/status").ok().and_then(|status| virtual_size(&status));
    let max_mappings = fs::read_to_string("/proc/sys/vm/max_map_count")
        .ok()
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(DEFAULT_MAX_MAPPINGS);
    let by_bytes = bytes.map_or(u64::MAX, |bytes| MAX_BYTES.saturating_sub(bytes) / BYTES);
    let by_mappings =
        count_mappings().map_or(u64::MAX, |count| (max_mappings / 2).saturating_sub(count) / MAPPINGS);
    by_bytes.min(by_mappings)
}

/// The size of a process in bytes, as `/proc/PID/status` has it.
fn virtual_size(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Each mapping is a line.
fn count_mappings() -> Option<u64> {
    let mut file = File::open("/proc/self/maps").ok()?;
    let mut buffer = [0; 16 << 10];
    let mut count = 0;
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(count),
            length => count += buffer[..length].iter().filter(|byte| **byte == b'\n').count() as u64,
        }
    }
}
