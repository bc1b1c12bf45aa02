//! How long the ticks of an agent held up its thread.

use std::time::Duration;

use selfprof_trace::Micros;

/// The ticks of an agent so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct TickTimes {
    /// How many there were.
    pub count: u32,
    /// The longest, in wall-clock time: with waits for V8's sampling thread, and for other programs on a busy machine.
    pub longest: Micros,
    /// The longest in which no other thread got the processor, in wall-clock time.
    pub longest_alone: Micros,
    /// The longest, in CPU time.
    pub longest_cpu: Duration,
    /// The CPU time of all.
    pub cpu: Duration,
}

impl TickTimes {
    /// Adds a tick. `is_alone` if no other thread got the processor.
    pub fn add(&mut self, wall: Micros, cpu: Duration, is_alone: bool) {
        self.count = self.count.saturating_add(1);
        self.longest = self.longest.max(wall);
        if is_alone {
            self.longest_alone = self.longest_alone.max(wall);
        }
        self.longest_cpu = self.longest_cpu.max(cpu);
        self.cpu += cpu;
    }
}
