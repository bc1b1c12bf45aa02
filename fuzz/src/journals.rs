//! Complete and truncated journals.

use selfprof_formats::journal::{Journal, JournalWriter, read};
use selfprof_trace::{Sample, Trace};

use crate::comparable::{assert_sound, entries, spelled};
use crate::profiles::checked;

/// A journal can be written and read again, and a truncated journal reads as a prefix.
pub fn journal(input: &[u8]) {
    let Some(journal) = checked(read(input)) else { return };
    assert_sound(&journal.trace);
    let again = rewritten(&journal);
    assert_eq!(again.header, journal.header);
    assert_eq!(spelled(&again.trace), spelled(&journal.trace));
    assert_eq!((again.lost, again.torn), (journal.lost, false));
    assert_eq!(
        (&again.source_maps, again.left_out_source_maps),
        (&journal.source_maps, journal.left_out_source_maps)
    );
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
        let Some(beginning) = checked(read(&input[..end])) else {
            panic!("truncated at {end}, it is not a journal")
        };
        let samples = beginning.trace.samples();
        let whole = &journal.trace.samples()[..samples.len()];
        let kept = |sample: &Sample| (sample.timestamp, sample.marker, sample.stack.is_some());
        assert!(samples.iter().map(kept).eq(whole.iter().map(kept)));
    }
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
    match read(&bytes[..]) {
        Ok(journal) => journal,
        Err(error) => panic!("{error}: {}", String::from_utf8_lossy(&bytes)),
    }
}
