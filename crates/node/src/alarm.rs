//! A clock that interrupts JS threads when their groups have something due.
//!
//! A JS thread may be deep in a loop for minutes, or asleep in its event loop; a timer of its own would fire in neither.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use selfprof_session::Instant;
use selfprof_v8::Interrupter;

use crate::agent::{self, AgentKey};
use crate::locks::lock;

/// The process's one alarm. It lives until the process ends; its thread sleeps while nothing is set.
struct Alarm {
    /// What is set, by agent. Touched by JS threads, the building thread and the alarm's own.
    set: Mutex<HashMap<AgentKey, (Instant, Interrupter)>>,
    changed: Condvar,
}

fn alarm() -> &'static Alarm {
    static ALARM: OnceLock<Alarm> = OnceLock::new();
    static THREAD: OnceLock<()> = OnceLock::new();
    let alarm = ALARM.get_or_init(|| Alarm { set: Mutex::new(HashMap::new()), changed: Condvar::new() });
    THREAD.get_or_init(|| {
        // Without the thread nothing is cut in time, but stop() still delivers everything.
        let _ = thread::Builder::new().name("selfprof-alarm".into()).spawn(|| alarm.run());
    });
    alarm
}

/// Has the agent's thread tick at `at`. An earlier time that is already set stays.
pub fn set(agent: AgentKey, interrupter: &Interrupter, at: Instant) {
    if at == Instant::NEVER {
        return;
    }
    let alarm = alarm();
    let mut set = lock(&alarm.set);
    let entry = set.entry(agent).or_insert_with(|| (at, interrupter.clone()));
    entry.0 = entry.0.min(at);
    alarm.changed.notify_one();
}

/// Forgets the agent, because it ends.
pub fn forget(agent: AgentKey) {
    lock(&alarm().set).remove(&agent);
}

impl Alarm {
    fn run(&self) {
        let mut set = lock(&self.set);
        loop {
            let earliest = set.iter().min_by_key(|(_, (at, _))| *at).map(|(&key, (at, _))| (key, *at));
            set = match earliest {
                None => self.changed.wait(set).unwrap_or_else(std::sync::PoisonError::into_inner),
                Some((key, at)) if at <= selfprof_v8::now() => {
                    let due = set.remove(&key);
                    // The interrupter takes a lock of Node's; ours is not held meanwhile.
                    drop(set);
                    if let Some((_, interrupter)) = due {
                        interrupter.interrupt(agent::on_tick);
                    }
                    lock(&self.set)
                }
                Some((_, at)) => {
                    let wait = Duration::from_micros(at.since(selfprof_v8::now()).0);
                    self.changed.wait_timeout(set, wait).unwrap_or_else(std::sync::PoisonError::into_inner).0
                }
            };
        }
    }
}
