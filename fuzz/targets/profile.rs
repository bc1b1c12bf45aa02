//! Profiles of any format that is read: the first byte chooses which, or that it is to be recognised.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selfprof_formats::{Format, Hint, ReadOptions, Thread, WriteOptions, read, write};
use selfprof_trace::foreign::Limits;

fuzz_target!(|input: &[u8]| {
    let Some((&first, text)) = input.split_first() else { return };
    let format = Format::READABLE.get(usize::from(first) % (Format::READABLE.len() + 1)).copied();
    let limits = Limits { stacks: 10_000, frames: 10_000, samples: 10_000, ..Limits::default() };
    let options = ReadOptions { max_bytes: 1 << 20, limits };
    let Ok(profile) = read(text, Hint { format, name: None }, &options) else { return };
    let threads: Vec<Thread> = profile.threads.into_iter().map(|(thread, _)| thread).collect();
    for Thread { trace, .. } in &threads {
        assert!(trace.stacks().iter().all(|(id, stack)| stack.parent < Some(id)));
        assert!(trace.samples().is_sorted_by_key(|sample| sample.timestamp));
    }
    // What was read can be written in every format.
    for format in Format::ALL {
        let written = write(format, &threads, std::io::sink(), WriteOptions::default());
        assert!(written.is_ok(), "{format}: {written:?}");
    }
});
