//! The files of one recording: one, the last two, or one for each period.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selfprof_trace::{LabelSet, Micros, Sample, Trace, WaitingPoint};

use super::{End, Header, JournalWriter};

/// The longest time between the first and the last of the samples that are appended together.
const LONGEST_SEGMENT: Micros = Micros(2_000_000);

/// How many finished files of earlier periods a thread leaves behind at most, if nobody takes them: two hours' worth at
/// a minute each.
const MAX_FINISHED_FILES: u64 = 120;

/// Which samples a journal keeps, and in which files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// All, in one file.
    Everything,
    /// At least the last ones of this time, and at most twice as much, in two files.
    Latest(Micros),
    /// All, with a file for each period of this length since the Unix epoch. A file whose period is over is renamed to
    /// `<name>.<number of the period>.finished`; whoever takes it deletes it.
    Periods(Micros),
}

/// Writes a recording to files. A write that fails ends it, since a full disk must not end the program that is being
/// profiled.
#[derive(Debug)]
pub struct JournalFiles {
    /// Where each new file is created.
    path: PathBuf,
    header: Header,
    retention: Retention,
    /// The time of the first sample in the file.
    start: Option<Micros>,
    /// The points of the waiting time that a new file begins with: from the last one that is not later than the last
    /// sample that was written. Empty if there is only one file.
    recent_waiting: Vec<WaitingPoint>,
    /// The labels of the last sample that was written.
    last_labels: Option<Arc<LabelSet>>,
    /// The file with the source maps, if it is another one.
    maps: Option<JournalWriter<File>>,
    /// `None` once writing failed.
    writer: Option<JournalWriter<File>>,
    /// Whether the last line says that the recording has ended.
    ended: bool,
    /// Is given the error when writing fails.
    report: fn(&io::Error),
}

impl JournalFiles {
    /// Creates the file and writes its header. `report` is called when a later write fails.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn create(
        path: &Path,
        header: &Header,
        retention: Retention,
        report: fn(&io::Error),
    ) -> io::Result<Self> {
        let writer = JournalWriter::create(File::create(path)?, header)?;
        Ok(Self {
            path: path.to_owned(),
            header: header.clone(),
            retention,
            start: None,
            recent_waiting: Vec::new(),
            last_labels: None,
            maps: None,
            writer: Some(writer),
            ended: false,
            report,
        })
    }

    /// Appends samples, whose stacks are in `tables`, to the file or to a new one. `lost` are those that could not be
    /// taken. Gives whether the next sample is probably in another file, which needs no entry of the tables any more.
    pub fn append(&mut self, tables: &Trace, samples: &[Sample], lost: u64) -> bool {
        self.begin_file_if_due(samples);
        self.write(|writer| writer.append(tables, samples, lost));
        self.ends_soon(samples.last())
    }

    /// The tables of the next samples are new ones.
    pub fn renew_tables(&mut self) {
        self.write(|writer| {
            writer.renew();
            Ok(())
        });
    }

    /// Appends what is known of the waiting time, up to the last of the samples that were appended before.
    pub fn append_waiting(&mut self, waiting: Vec<WaitingPoint>, last: Option<&Sample>) {
        if !waiting.is_empty() {
            self.write(|writer| writer.append_waiting(&waiting));
        }
        self.remember(waiting, last);
    }

    /// Appends the changes of labels: the time of each, and the labels from then on.
    pub fn append_labels<'a>(
        &mut self,
        changes: impl DoubleEndedIterator<Item = (Micros, Option<&'a Arc<LabelSet>>)> + Clone,
    ) {
        let Some((_, last)) = changes.clone().next_back() else { return };
        self.last_labels = last.cloned();
        self.write(|writer| {
            writer.append_labels(changes.map(|(time, labels)| (time, labels.map(|labels| &**labels))))
        });
    }

    /// Appends to the file with the source maps. If there are several files, that is one of its own, since scripts may
    /// have been compiled long before they are sampled.
    pub fn write_map(&mut self, write: impl FnOnce(&mut JournalWriter<File>) -> io::Result<()>) {
        if self.retention == Retention::Everything {
            return self.write(write);
        }
        if self.maps.is_none() && self.writer.is_some() {
            let path = self.path.with_extension("maps.journal");
            match File::create(path).and_then(|file| JournalWriter::create(file, &self.header)) {
                Ok(maps) => self.maps = Some(maps),
                Err(error) => return self.fail(&error),
            }
        }
        if let Some(maps) = &mut self.maps
            && let Err(error) = write(maps)
        {
            self.fail(&error);
        }
    }

    /// Appends to the file, possibly after an end that was not the last.
    pub fn write(&mut self, write: impl FnOnce(&mut JournalWriter<File>) -> io::Result<()>) {
        self.ended = false;
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = write(writer) {
            self.fail(&error);
        }
    }

    /// Writes that the recording has ended, unless the last line says so. If it goes on after all, what comes later is
    /// written after this end.
    pub fn end(&mut self, end: End) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if let Some(writer) = &mut self.writer {
            // The program is ending, so a failure cannot be reported.
            let _ = writer.end(end);
        }
    }

    /// Begins a new file if the current one holds enough. The one before it is deleted.
    fn begin_file_if_due(&mut self, samples: &[Sample]) {
        let Some(first) = samples.first() else { return };
        let start = *self.start.get_or_insert(first.timestamp);
        let is_due = match self.retention {
            Retention::Everything => false,
            Retention::Latest(keep) => first.timestamp.saturating_sub(start) > keep,
            Retention::Periods(period) => {
                self.period_of(first.timestamp, period) > self.period_of(start, period)
            }
        };
        if !is_due || self.writer.is_none() {
            return;
        }
        let old = match self.retention {
            Retention::Periods(period) => {
                let number = self.period_of(start, period);
                if let Some(oldest) = number.checked_sub(MAX_FINISHED_FILES) {
                    // It was taken long ago, unless nobody takes them.
                    let _ = fs::remove_file(self.finished_file(oldest));
                }
                if let Some(writer) = &mut self.writer {
                    // The next write reports a failure.
                    let _ = writer.end(End { reason: "period".to_owned(), full: false });
                }
                self.finished_file(number)
            }
            Retention::Everything | Retention::Latest(_) => self.path.with_extension("old.journal"),
        };
        let begun = fs::rename(&self.path, old)
            .and_then(|()| JournalWriter::create(File::create(&self.path)?, &self.header))
            .and_then(|mut writer| {
                if !self.recent_waiting.is_empty() {
                    writer.append_waiting(&self.recent_waiting)?;
                }
                if let Some(labels) = &self.last_labels {
                    writer.append_labels([(first.timestamp, Some(&**labels))].into_iter())?;
                }
                Ok(writer)
            });
        match begun {
            Ok(writer) => (self.writer, self.start) = (Some(writer), Some(first.timestamp)),
            Err(error) => self.fail(&error),
        }
    }

    /// The number of the period in which a sample was taken.
    fn period_of(&self, timestamp: Micros, period: Micros) -> u64 {
        let origin = Micros::from_millis_f64(self.header.time_origin_ms).unwrap_or_default();
        origin.saturating_add(timestamp).0 / period.0.max(1)
    }

    /// Where a finished file goes.
    fn finished_file(&self, number: u64) -> PathBuf {
        self.path.with_extension(format!("{number}.finished"))
    }

    /// Whether the sample after this one is probably in another file.
    fn ends_soon(&self, last: Option<&Sample>) -> bool {
        let (Retention::Periods(period), Some(last)) = (self.retention, last) else { return false };
        let next = last.timestamp.saturating_add(LONGEST_SEGMENT);
        self.period_of(next, period) > self.period_of(last.timestamp, period)
    }

    /// Keeps the waiting times that a new file needs: the line between two points may begin in the file before, and so
    /// may the line for samples that are written later.
    fn remember(&mut self, waiting: Vec<WaitingPoint>, last: Option<&Sample>) {
        if self.retention == Retention::Everything {
            return;
        }
        self.recent_waiting.extend(waiting);
        if let Some(last) = last {
            let passed = self.recent_waiting.partition_point(|point| point.timestamp <= last.timestamp);
            self.recent_waiting.drain(..passed.saturating_sub(1));
        }
    }

    fn fail(&mut self, error: &io::Error) {
        if let Some(mut writer) = self.writer.take() {
            let reason = match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                    error.kind().to_string()
                }
                _ => error.to_string(),
            };
            // What is printed below may not be seen, and the recorder reads the journal.
            let _ = writer.fail(&reason);
        }
        (self.report)(error);
    }
}
