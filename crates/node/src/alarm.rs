//! A clock that interrupts JS threads when something is due there.
//!
//! A JS thread may run a loop for minutes or sleep in its event loop; a timer of its own would fire in neither case.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use selfprof_session::Instant;
use selfprof_v8::Interrupter;

use crate::agent_key::AgentKey;
use crate::own_thread;

/// The one alarm of the process. It lives until the process ends; its thread sleeps while nothing is set.
struct Alarm {
    /// The next deadline of each agent. Touched by JS threads, the building thread and the alarm's own thread.
    deadlines: Mutex<HashMap<AgentKey, Deadline>>,
    changed: Condvar,
}

struct Deadline {
    at: Instant,
    interrupter: Interrupter,
    callback: fn(),
}

fn alarm() -> &'static Alarm {
    static ALARM: OnceLock<Alarm> = OnceLock::new();
    static THREAD: OnceLock<()> = OnceLock::new();
    let alarm = ALARM.get_or_init(|| Alarm { deadlines: Mutex::default(), changed: Condvar::new() });
    THREAD.get_or_init(|| {
        // Without the thread no segment is cut in time, but stop() still delivers everything.
        let _ = own_thread::start("selfprof-alarm", || alarm.run());
    });
    alarm
}

/// Runs `callback` on the agent's thread at `at`. If an earlier time is already set, it stays.
pub fn set(agent: AgentKey, interrupter: &Interrupter, callback: fn(), at: Instant) {
    if at == Instant::NEVER {
        return;
    }
    let alarm = alarm();
    let mut deadlines = alarm.deadlines.lock();
    let deadline =
        deadlines.entry(agent).or_insert_with(|| Deadline { at, interrupter: interrupter.clone(), callback });
    deadline.at = deadline.at.min(at);
    alarm.changed.notify_one();
}

/// Forgets an agent that ends.
pub fn forget(agent: AgentKey) {
    alarm().deadlines.lock().remove(&agent);
}

impl Alarm {
    fn run(&self) {
        let mut deadlines = self.deadlines.lock();
        loop {
            let earliest =
                deadlines.iter().min_by_key(|(_, due)| due.at).map(|(&agent, due)| (agent, due.at));
            match earliest {
                None => self.changed.wait(&mut deadlines),
                Some((agent, at)) if at <= selfprof_v8::now() => {
                    let due = deadlines.remove(&agent);
                    // Interrupting takes a lock of Node's, so this lock is released first.
                    drop(deadlines);
                    if let Some(Deadline { interrupter, callback, .. }) = due {
                        interrupter.interrupt(callback);
                    }
                    deadlines = self.deadlines.lock();
                }
                Some((_, at)) => {
                    let wait = Duration::from_micros(at.since(selfprof_v8::now()).0);
                    self.changed.wait_for(&mut deadlines, wait);
                }
            }
        }
    }
}
