//! Writing a journal while the program runs.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};

use selfprof_trace::{Entries, Entry, Frame, LabelSet, Micros, Sample, Stack, TableId, Trace, WaitingPoint};
use serde::Serialize;

use super::header::{End, EndLine, Header, HeaderLine};
use crate::json::{string, write_list, write_strings};

/// How many bytes are reserved for the reason why the journal could not be written further.
const REASON_BYTES: usize = 128;

/// Writes a journal, one record at a time.
///
/// Every record is written by one `write_all` and one `flush` on the calling thread, so `W` should be the file itself
/// rather than a buffer. After a failed write the last line may be incomplete, so all later calls fail, too.
#[derive(Debug)]
pub struct JournalWriter<W> {
    out: W,
    /// The current record, kept to reuse its memory.
    line: Vec<u8>,
    written: Written,
    /// Whether the next segment clears the tables.
    fresh: bool,
    /// The time of the last sample that was written.
    last: Micros,
    /// The last point of the waiting times that was written.
    last_waiting: WaitingPoint,
    broken: bool,
    /// The offset of the bytes that are reserved for a reason.
    reason_at: u64,
}

/// The number of entries of each table that are in the journal already.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    names: usize,
    resources: usize,
    frames: usize,
    stacks: usize,
}

impl<W: Write> JournalWriter<W> {
    /// Starts a journal with its header.
    pub fn create(out: W, header: &Header) -> io::Result<Self> {
        let (line, written, last) = (Vec::new(), Written::default(), Micros::ZERO);
        let last_waiting = WaitingPoint::default();
        let mut writer =
            Self { out, line, written, fresh: false, last, last_waiting, broken: false, reason_at: 0 };
        serde_json::to_writer(&mut writer.line, &HeaderLine::from(header))?;
        writer.line.extend_from_slice(b"\n{\"failed\":\"");
        writer.reason_at = writer.line.len() as u64;
        writer.line.resize(writer.line.len() + REASON_BYTES, b' ');
        writer.line.extend_from_slice(b"\"}");
        writer.write_line()?;
        Ok(writer)
    }

    /// Appends a segment: the entries of `tables` that the journal does not have yet, the samples, and the number of
    /// samples `lost` since the previous segment.
    ///
    /// `tables` must be the trace that the samples' stacks belong to, and the same trace each time, unless
    /// [`renew`](Self::renew) was called. Its own samples are ignored. A sample that is older than the previous one
    /// gets the time of that one.
    pub fn append(&mut self, tables: &Trace, samples: &[Sample], lost: u64) -> io::Result<()> {
        let written = self.written;
        let line = &mut self.line;
        line.clear();
        line.extend_from_slice(if self.fresh { b"{\"fresh\":true," } else { b"{" });
        write_list(line, "\"names\":[", tables.names().iter_from(written.names), |line, (_, name)| {
            string(line, name)
        })?;
        write_list(
            line,
            "],\"resources\":[",
            tables.resources().iter_from(written.resources),
            |line, (_, url)| string(line, url),
        )?;
        write_list(line, "],\"frames\":[", tables.frames().iter_from(written.frames), |line, (_, frame)| {
            let Frame { name, resource, line: row, column } = frame;
            let number = |position: Option<std::num::NonZeroU32>| position.map_or(0, |number| number.get());
            write!(line, "[{},{},{},{}]", name.index(), or_minus_one(resource), number(row), number(column))
        })?;
        write_list(line, "],\"stacks\":[", tables.stacks().iter_from(written.stacks), |line, (_, stack)| {
            let Stack { parent, frame } = stack;
            write!(line, "[{},{}]", or_minus_one(parent), frame.index())
        })?;
        let mut last = self.last;
        // An idle program has one idle sample after the other.
        let runs = samples.chunk_by(|sample, next| sample.is_idle() && next.is_idle());
        write_list(line, "],\"samples\":[", runs, |line, run| {
            let Some(first) = run.first() else { return Ok(()) };
            let since = first.timestamp.saturating_sub(last);
            let start = last.max(first.timestamp);
            last = run.iter().fold(start, |last, sample| last.max(sample.timestamp));
            let marker = first.marker.map_or(0, |marker| marker.index() + 1);
            write!(line, "[{},{},{marker}", since.0, or_minus_one(first.stack))?;
            if run.len() > 1 {
                write!(line, ",{},{}", run.len(), last.saturating_sub(start).0)?;
            }
            line.write_all(b"]")
        })?;
        write!(line, "],\"lost\":{lost}}}")?;
        self.write_line()?;
        self.last = last;
        self.fresh = false;
        self.written = Written {
            names: tables.names().len(),
            resources: tables.resources().len(),
            frames: tables.frames().len(),
            stacks: tables.stacks().len(),
        };
        Ok(())
    }

    /// Appends how long the thread has waited. The points must be in time order, and later than those before.
    pub fn append_waiting(&mut self, points: &[WaitingPoint]) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        let mut last = self.last_waiting;
        write_list(line, "{\"waiting\":[", points.iter(), |line, point| {
            let time = point.timestamp.saturating_sub(last.timestamp);
            let waited = point.waited.saturating_sub(last.waited);
            last = *point;
            write!(line, "[{},{}]", time.0, waited.0)
        })?;
        line.extend_from_slice(b"]}");
        self.last_waiting = last;
        self.write_line()
    }

    /// Appends the times from which on samples have these labels, or none. They must be in time order.
    pub fn append_labels<'a>(
        &mut self,
        changes: impl Iterator<Item = (Micros, Option<&'a LabelSet>)> + Clone,
    ) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        let mut numbers: HashMap<&LabelSet, usize> = HashMap::new();
        let mut sets = Vec::new();
        for (_, set) in changes.clone() {
            if let Some(set) = set
                && !numbers.contains_key(set)
            {
                numbers.insert(set, sets.len());
                sets.push(set);
            }
        }
        write_list(line, "{\"labelSets\":[", sets.iter(), |line, set| write_strings(line, set.iter()))?;
        write_list(line, "],\"labels\":[", changes, |line, (timestamp, set)| match set {
            Some(set) => write!(line, "[{},{}]", timestamp.0, numbers[set]),
            None => write!(line, "[{},-1]", timestamp.0),
        })?;
        line.extend_from_slice(b"]}");
        self.write_line()
    }

    /// Appends marks and measures in any order, and the number of entries dropped since the previous call.
    pub fn append_entries(&mut self, entries: &Entries) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        write_list(line, "{\"entryNames\":[", entries.names().iter(), |line, (_, name)| string(line, name))?;
        write_list(line, "],\"entries\":[", entries.list().iter(), |line, entry| {
            let Entry { entry_type, name, start_time, duration } = entry;
            write!(line, "[{},{},{start_time},{duration}]", entry_type.index(), name.index())
        })?;
        write!(line, "],\"droppedEntries\":{}}}", entries.dropped())?;
        self.write_line()
    }

    /// Appends the source mapping URL of the script with the URL `resource`.
    pub fn append_source_map(&mut self, resource: &str, mapping_url: &str) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        line.extend_from_slice(b"{\"sourceMaps\":[[");
        string(line, resource)?;
        line.push(b',');
        string(line, mapping_url)?;
        line.extend_from_slice(b"]]}");
        let result = self.write_line();
        // A source map may be much longer than any segment.
        self.line = Vec::new();
        result
    }

    /// Appends the number of scripts whose source maps are not recorded because there are too many, or because they are
    /// too long.
    pub fn append_left_out_source_maps(&mut self, count: u64) -> io::Result<()> {
        self.line.clear();
        write!(self.line, "{{\"leftOutSourceMaps\":{count}}}")?;
        self.write_line()
    }

    /// Prepares for new tables: the next segment clears the tables of the journal.
    pub fn renew(&mut self) {
        self.written = Written::default();
        self.fresh = true;
    }

    /// Writes the end and returns the file.
    pub fn finish(mut self, end: End) -> io::Result<W> {
        self.end(end)?;
        Ok(self.out)
    }

    /// Writes the end of a recording that seems to be over. If it goes on, a further segment revokes the end.
    pub fn end(&mut self, end: End) -> io::Result<()> {
        #[derive(Serialize)]
        struct LastLine {
            end: EndLine,
        }
        self.line.clear();
        let end = EndLine { reason: end.reason, full: end.full };
        serde_json::to_writer(&mut self.line, &LastLine { end })?;
        self.write_line()
    }

    /// Writes why the journal could not be written further into the bytes reserved for it, which a full disk still has.
    /// All later calls of other methods fail. A long reason is cut.
    pub fn fail(&mut self, reason: &str) -> io::Result<()>
    where
        W: Seek,
    {
        self.broken = true;
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
        let bytes: Vec<u8> = reason.bytes().filter(is_plain).take(REASON_BYTES).collect();
        self.out.seek(SeekFrom::Start(self.reason_at))?;
        self.out.write_all(&bytes)?;
        self.out.flush()
    }

    fn write_line(&mut self) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write to the journal failed"));
        }
        self.line.push(b'\n');
        let result = self.out.write_all(&self.line).and_then(|()| self.out.flush());
        self.broken = result.is_err();
        result
    }
}

fn or_minus_one(id: Option<impl TableId>) -> i64 {
    id.map_or(-1, |id| id.index() as i64)
}
