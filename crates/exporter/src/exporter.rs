//! The exporter: looks at the folder, hands batches to the sender, keeps within bounds, and ends after the last
//! process.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::batch::FindMaps;
use crate::folder::Folder;
use crate::folder::lock::Lock;
use crate::folder::names::{EXPORTER_LOCK, Part};
use crate::messages::Messages;
use crate::outputs::{self, SendError};
use crate::sender::{self, Done, Job};
use crate::settings::{Settings, SettingsError};
use crate::source::Source;
use crate::spool;
use crate::watch::watch;

/// How often the exporter looks at the folder, if nothing happens.
const LOOK: Duration = Duration::from_secs(1);

/// It looks so long after a change: the lock of a process ends a moment after its files are closed.
const AFTER_CHANGE: Duration = Duration::from_millis(50);

/// How long the exporter waits for the first process.
const FIRST_PROCESS: Duration = Duration::from_secs(5);

/// How long it tries to send after the end of the last process, or after it was told to stop.
const LAST_ATTEMPTS: Duration = Duration::from_secs(10);

/// The longest delay between these attempts.
const LAST_DELAY: Duration = Duration::from_secs(2);

/// At most this many different reasons why profiles were refused are reported.
const MAX_REASONS: usize = 10;

/// An exporter, which holds the lock of its folder.
pub struct Exporter {
    /// The folder of the running processes, then those that were left behind.
    sources: Vec<Source>,
    messages: Messages,
    events: Receiver<Event>,
    stopper: Stopper,
    jobs: Sender<Job>,
    /// The source and the parts that the sender has.
    sending: Option<(usize, Vec<Part>)>,
    started: Instant,
    /// When it must end: it was told to stop, or the last process has ended.
    deadline: Option<Instant>,
    is_stopping: bool,
    dropped: Dropped,
    refusals_told: BTreeSet<String>,
}

/// What was dropped because too much waited.
#[derive(Default)]
struct Dropped {
    parts: u64,
    bytes: u64,
}

enum Event {
    Changed,
    Stop,
    Done(Box<Done>),
}

/// Stops an exporter.
#[derive(Clone)]
pub struct Stopper {
    events: Sender<Event>,
}

impl Stopper {
    /// Lets the exporter try once to send what is there, and end when the processes have ended, or after ten seconds.
    /// The second call ends it at once.
    pub fn stop(&self) {
        let _ = self.events.send(Event::Stop);
    }
}

/// Why there is no exporter.
#[derive(Debug)]
pub enum OpenError {
    /// The folder cannot be used.
    Folder(io::Error),
    /// Its settings cannot be used.
    Settings(SettingsError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(error) => write!(f, "cannot use the folder: {error}"),
            Self::Settings(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Folder(error)
    }
}

impl Exporter {
    /// The exporter of this folder; `None` if there is one already.
    pub fn open(folder: &Path, find_maps: Arc<FindMaps>) -> Result<Option<Self>, OpenError> {
        let folder = Folder::open(folder)?;
        let Some(lock) = Lock::try_create(&folder.file(EXPORTER_LOCK))? else { return Ok(None) };
        let settings = Arc::new(Settings::read(folder.path()).map_err(OpenError::Settings)?);
        let mut sources =
            vec![Source::new(folder, Arc::clone(&settings), outputs::open(&settings, &find_maps), lock)];
        if settings.spool {
            for left in spool::left_behind(sources[0].folder.path(), &settings) {
                let settings = Arc::new(left.settings);
                let output = outputs::open(&settings, &find_maps);
                sources.push(Source::new(left.folder, settings, output, left.lock));
            }
        }
        let (events, receiver) = channel();
        let done = events.clone();
        let jobs = sender::start(move |result| {
            let _ = done.send(Event::Done(Box::new(result)));
        })?;
        let changed = events.clone();
        // Without it, changes are noticed at the next look.
        let _ = watch(sources[0].folder.path(), move || changed.send(Event::Changed).is_ok());
        Ok(Some(Self {
            sources,
            messages: Messages::new(),
            events: receiver,
            stopper: Stopper { events },
            jobs,
            sending: None,
            started: Instant::now(),
            deadline: None,
            is_stopping: false,
            dropped: Dropped::default(),
            refusals_told: BTreeSet::new(),
        }))
    }

    /// Stops this exporter.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Exports until the last process has ended and everything is sent.
    pub fn run(mut self) {
        let mut next_look = Instant::now();
        loop {
            match self.events.recv_timeout(self.delay_until(next_look)) {
                Ok(Event::Changed) => next_look = next_look.min(Instant::now() + AFTER_CHANGE),
                Ok(Event::Stop) => {
                    self.stop();
                    next_look = Instant::now();
                }
                Ok(Event::Done(done)) => self.note(*done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if Instant::now() >= next_look {
                if let Err(error) = self.look() {
                    self.messages.say(format_args!("ends: cannot read its folder: {error}"));
                    return;
                }
                next_look = Instant::now() + LOOK;
            }
            self.send_next();
            if self.may_end() && self.end() {
                return;
            }
        }
    }

    /// How long nothing needs to be done, if nothing happens.
    fn delay_until(&self, next_look: Instant) -> Duration {
        let now = Instant::now();
        let look = next_look.saturating_duration_since(now);
        let failed = self.sources.iter().filter(|source| source.backoff.has_failed() && !source.is_sending());
        // A folder without parts has nothing to try again.
        let retry = failed.filter(|source| source.waiting() > 0).map(|source| source.backoff.wait(now)).min();
        match retry {
            Some(retry) if self.sending.is_none() => look.min(retry.max(Duration::from_millis(1))),
            _ => look,
        }
    }

    fn look(&mut self) -> io::Result<()> {
        let now = Instant::now();
        for (index, source) in self.sources.iter_mut().enumerate() {
            let result = source.look(now, &mut self.messages);
            if index == 0 {
                result?;
            }
        }
        self.drop_old();
        self.drop_excess();
        self.remove_left_behind();
        Ok(())
    }

    /// Drops what has waited in the spool folder for too long.
    fn drop_old(&mut self) {
        let Some(own) =
            self.sources.first().map(|source| Arc::clone(&source.settings)).filter(|own| own.spool)
        else {
            return;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let sending = self.sending.as_ref().map(|(_, parts)| parts.clone()).unwrap_or_default();
        let mut count = 0;
        for source in &mut self.sources {
            let is_old = |time: u64| time.saturating_add(own.spool_max_age) < now;
            while source.oldest().is_some_and(is_old) && source.drop_oldest(&sending).is_some() {
                count += 1;
            }
        }
        if count > 0 {
            self.messages.say(format_args!("{count} profiles were not sent in time and are dropped"));
        }
    }

    /// Drops the oldest parts if too many bytes wait.
    fn drop_excess(&mut self) {
        let Some(most) = self.sources.first().map(|source| source.settings.max_bytes) else { return };
        let sending = self.sending.as_ref().map(|(_, parts)| parts.clone()).unwrap_or_default();
        let mut bytes: u64 = self.sources.iter().map(Source::bytes).sum();
        // What was left behind is older.
        for source in self.sources.iter_mut().rev() {
            while bytes > most
                && let Some(dropped) = source.drop_oldest(&sending)
            {
                if self.dropped.parts == 0 {
                    self.messages.say(format_args!(
                        "more than {} wait to be sent; the oldest profiles are dropped",
                        size(most)
                    ));
                }
                bytes = bytes.saturating_sub(dropped);
                self.dropped.parts += 1;
                self.dropped.bytes += dropped;
            }
        }
    }

    fn remove_left_behind(&mut self) {
        let sending = self.sending.as_ref().map(|(source, _)| *source);
        // Only the last ones, so that the indexes of the others stay.
        while self.sources.len() > 1 && sending != Some(self.sources.len() - 1) {
            match self.sources.last_mut() {
                Some(last) if last.is_done() => {
                    last.remove();
                    self.sources.pop();
                }
                _ => break,
            }
        }
    }

    /// Hands the next batch to the sender, if it has none.
    fn send_next(&mut self) {
        if self.sending.is_some() {
            return;
        }
        let now = Instant::now();
        for (index, source) in self.sources.iter_mut().enumerate() {
            if !source.backoff.wait(now).is_zero() || (self.is_stopping && source.backoff.has_failed()) {
                continue;
            }
            let Some(output) = source.output.take() else { continue };
            let Some(batch) = source.next_batch(now, self.is_stopping) else {
                source.output = Some(output);
                continue;
            };
            let parts = batch.parts.clone();
            if self.jobs.send(Job { source: index, output, batch }).is_ok() {
                self.sending = Some((index, parts));
            }
            return;
        }
    }

    /// Takes note of what became of a batch.
    fn note(&mut self, done: Done) {
        self.sending = None;
        let Done { job: Job { source: index, output, batch }, result } = done;
        let Some(source) = self.sources.get_mut(index) else { return };
        source.end_sending(output);
        let to = source.settings.shown_output();
        let deleted = match result {
            Ok(receipt) => {
                if source.backoff.has_failed() {
                    self.messages.say(format_args!("sending to {to} works again"));
                }
                source.backoff.succeed();
                for (part, reason) in &receipt.corrupt {
                    let name = part.file_name();
                    self.messages.say(format_args!("{name} cannot be read and is deleted: {reason}"));
                }
                if let Some(remark) = receipt.remark {
                    Self::tell_once(&mut self.refusals_told, &mut self.messages, remark);
                }
                source.delete(&batch.parts)
            }
            Err(SendError::Never { reason }) => {
                source.backoff.succeed();
                let text = format!("{to} refuses profiles, which are dropped: {reason}");
                Self::tell_once(&mut self.refusals_told, &mut self.messages, text);
                source.delete(&batch.parts)
            }
            Err(SendError::Later { reason, after }) => {
                if !source.backoff.has_failed() {
                    self.messages.say(format_args!("cannot send to {to}, and tries again: {reason}"));
                }
                source.backoff.fail(Instant::now(), fastrand::f64(), after);
                source.last_failure = reason;
                Ok(())
            }
        };
        if let Err(error) = deleted {
            self.messages.say(format_args!("cannot delete what was sent: {error}"));
        }
        self.note_end_of_dropping();
    }

    fn note_end_of_dropping(&mut self) {
        let Some(most) = self.sources.first().map(|source| source.settings.max_bytes) else { return };
        let bytes: u64 = self.sources.iter().map(Source::bytes).sum();
        if self.dropped.parts > 0 && bytes <= most / 2 {
            self.tell_dropped();
        }
    }

    fn tell_dropped(&mut self) {
        let Dropped { parts, bytes } = std::mem::take(&mut self.dropped);
        if parts > 0 {
            let size = size(bytes);
            self.messages
                .say(format_args!("{parts} profiles ({size}) were dropped, because too many waited"));
        }
    }

    fn tell_once(told: &mut BTreeSet<String>, messages: &mut Messages, text: String) {
        // Numbers and names in an answer do not make another reason.
        let key: String = text.chars().filter(|character| !character.is_ascii_digit()).take(200).collect();
        if told.len() < MAX_REASONS && told.insert(key) {
            messages.say(text);
        }
    }

    fn stop(&mut self) {
        // The second time, it ends at once.
        let patience = if self.is_stopping { Duration::ZERO } else { LAST_ATTEMPTS };
        self.deadline = Some(Instant::now() + patience);
        if !self.is_stopping {
            self.is_stopping = true;
            // One attempt, whatever failed before.
            self.sources.iter_mut().for_each(|source| source.backoff.succeed());
        }
    }

    /// Whether there is nothing more to wait for.
    fn may_end(&mut self) -> bool {
        let now = Instant::now();
        let Some(own) = self.sources.first_mut() else { return true };
        if self.is_stopping {
            // A system that stops a service signals all its processes, and the others end with parts to send.
            let is_late = self.deadline.is_some_and(|deadline| now >= deadline);
            let may_send = |source: &Source| source.waiting() > 0 && !source.backoff.has_failed();
            let has_ended = own.has_ended();
            let is_idle = self.sending.is_none() && !self.sources.iter().any(may_send);
            return is_late || (is_idle && has_ended);
        }
        let is_expected = !own.has_seen_process && now.duration_since(self.started) < FIRST_PROCESS;
        if is_expected || !own.has_ended() {
            self.deadline = None;
            return false;
        }
        // The last process has ended.
        let deadline = *self.deadline.get_or_insert(now + LAST_ATTEMPTS);
        own.backoff.hurry(now, LAST_DELAY);
        let is_own_done = own.is_done() && !own.is_sending();
        let others = self.sources.iter().skip(1);
        let are_others_done = others.clone().all(|source| source.is_done() || source.backoff.has_failed());
        now >= deadline || (is_own_done && are_others_done && self.sending.is_none())
    }

    /// Says what was not sent, and deletes the folder if nobody needs it. Returns whether the exporter ends.
    fn end(&mut self) -> bool {
        self.remove_left_behind();
        let Some(own) = self.sources.first_mut() else { return true };
        let (count, bytes, reason) = (own.waiting(), own.bytes(), own.last_failure.clone());
        let keeps = self.is_stopping || own.settings.spool;
        let is_removed = own.has_ended() && (count == 0 || !keeps);
        if is_removed && own.remove() {
            self.deadline = None;
            return false;
        }
        if count > 0 {
            let folder = own.folder.path().display().to_string();
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            let what = if keeps { format!("stay in {folder}") } else { "are dropped".to_owned() };
            self.messages
                .say(format_args!("{count} profiles ({}) were not sent and {what}{why}", size(bytes)));
        }
        self.tell_dropped();
        true
    }
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes >> 20),
    }
}
