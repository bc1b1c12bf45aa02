//! Complete and truncated journals.

use selfprof_formats::journal::{Journal, JournalWriter, read_with};
use selfprof_trace::{Micros, Sample, Trace};

use crate::comparable::{assert_sound, entries, spelled};
use crate::profiles::checked;

/// A line of an input may stand for many samples.
const MAX_RUN_SAMPLES: u64 = 1 << 14;

/// A journal can be written and read again, and a truncated journal reads as a prefix.
pub fn journal(input: &[u8]) {
    let Some(journal) = checked(read_with(input, MAX_RUN_SAMPLES)) else { return };
    assert_sound(&journal.trace);
    let again = rewritten(&journal);
    assert_eq!(again.header, journal.header);
    assert_eq!(times(&again.trace), times(&journal.trace));
    assert_eq!(stacks(&again.trace), stacks(&journal.trace));
    assert_eq!((again.lost, again.torn), (journal.lost, false));
    assert_eq!(
        (&again.source_maps, again.left_out_source_maps),
        (&journal.source_maps, journal.left_out_source_maps)
    );
    assert_eq!(again.trace.waiting(), journal.trace.waiting());
    if journal.header.entries {
        let named = |trace: &Trace| {
            let (list, dropped) = entries(trace).unwrap_or_default();
            let shown = |(name, entry): (String, selfprof_trace::Entry)| {
                (name, entry.entry_type, entry.start_time, entry.duration)
            };
            (list.into_iter().map(shown).collect::<Vec<_>>(), dropped)
        };
        assert_eq!(named(&again.trace), named(&journal.trace));
    }
    // Truncating a torn journal may change which lines parse.
    if journal.torn {
        return;
    }
    let Some(header) = input.iter().position(|&byte| byte == b'\n') else { return };
    // Some positions, which depend on the length and on the last byte.
    let (body, seed) = (input.len() - header, usize::from(input[input.len() - 1]));
    for step in 1..4 {
        let end = header + 1 + (seed * 31 + step * 257) % body;
        let Some(beginning) = checked(read_with(&input[..end], MAX_RUN_SAMPLES)) else {
            panic!("truncated at {end}, it is not a journal")
        };
        let samples = beginning.trace.samples();
        let whole = &journal.trace.samples()[..samples.len()];
        let kept = |sample: &Sample| (sample.timestamp, sample.marker, sample.stack.is_some());
        assert!(samples.iter().map(kept).eq(whole.iter().map(kept)));
    }
}

/// The times of all samples but those between two idle ones, which a journal does not hold.
fn times(trace: &Trace) -> Vec<Micros> {
    let samples = trace.samples();
    let is_in_run = |index: usize| {
        index > 0 && samples.get(index - 1..=index + 1).is_some_and(|three| three.iter().all(Sample::is_idle))
    };
    (0..samples.len()).filter(|&index| !is_in_run(index)).map(|index| samples[index].timestamp).collect()
}

/// The markers and stacks of all samples.
fn stacks(trace: &Trace) -> Vec<impl PartialEq + std::fmt::Debug> {
    spelled(trace).into_iter().map(|(_, marker, path)| (marker, path)).collect()
}

fn rewritten(journal: &Journal) -> Journal {
    let write = || {
        let mut writer = JournalWriter::create(Vec::new(), &journal.header)?;
        let samples = journal.trace.samples();
        let (early, late) = samples.split_at(samples.len() / 2);
        writer.append(&journal.trace, early, journal.lost)?;
        if let Some(entries) = journal.trace.entries() {
            writer.append_entries(entries)?;
        }
        if let Some(waiting) = journal.trace.waiting() {
            writer.append_waiting(waiting.points())?;
        }
        for (script, url) in &journal.source_maps {
            writer.append_source_map(script, url)?;
        }
        writer.append_left_out_source_maps(journal.left_out_source_maps)?;
        writer.append(&journal.trace, late, 0)?;
        match journal.end.clone() {
            Some(end) => writer.finish(end),
            None => writer.finish(selfprof_formats::journal::End { reason: String::new(), full: false }),
        }
    };
    let bytes: Vec<u8> = match write() {
        Ok(bytes) => bytes,
        Err(error) => panic!("writing to memory: {error}"),
    };
    match read_with(&bytes[..], MAX_RUN_SAMPLES) {
        Ok(journal) => journal,
        Err(error) => panic!("{error}: {}", String::from_utf8_lossy(&bytes)),
    }
}
