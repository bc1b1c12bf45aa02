//! What all files of a run have in common.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use selfprof_instrument::{Goal, Instrumented, Names, Problem};

use crate::files::output_folder::OutputFolder;
use crate::scripts::instrumenter::Instrumenter;
use crate::summary::{Counts, Growth, Reason, Refusal};

/// So much plain text is compressed to tell how it grows; compressing takes longer than instrumenting.
const MAX_COMPRESSED: u64 = 4 << 20;

/// The settings of a run, and where it writes.
#[derive(Debug)]
pub struct Build {
    pub names: Names,
    pub instrumenter: Instrumenter,
    pub has_source_maps: bool,
    pub output: OutputFolder,
    /// Plain text that was compressed so far. Any thread adds to it; the sum decides nothing but when to stop.
    pub compressed: AtomicU64,
}

impl Build {
    /// Instruments a text, and counts what it contains. Adds how it grows. The functions have numbers from `first_id`
    /// on.
    pub fn instrument(
        &self,
        source: &str,
        goal: Goal,
        first_id: u32,
        counts: &mut Counts,
    ) -> Result<Instrumented, Refusal> {
        // The file of a parser's bug is copied as others that it cannot read.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.instrumenter.instrument(source, goal, &self.names, first_id)
        }));
        let instrumented = match result {
            Ok(result) => result.map_err(|problem| (reason_of(&problem), problem.to_string()))?,
            Err(_) => return Err((Reason::OtherProblem, "the parser panicked".to_owned())),
        };
        counts.functions += instrumented.functions.len() as u64 - 1;
        counts.checked_functions += instrumented.checked_functions() as u64;
        counts.loops += u64::from(instrumented.loops);
        counts.slow_calls += u64::from(instrumented.forced) + u64::from(instrumented.charged);
        counts
            .growth
            .add(Growth { plain: source.len() as u64, instrumented: instrumented.text.len() as u64 });
        self.compress(source, &instrumented.text, counts);
        Ok(instrumented)
    }

    /// Adds how the compressed text grows: of all of it, or of as many lines as may still be compressed.
    fn compress(&self, plain: &str, instrumented: &str, counts: &mut Counts) {
        let length = plain.len() as u64;
        let before = self.compressed.fetch_add(length, Ordering::Relaxed);
        let left = MAX_COMPRESSED.saturating_sub(before).min(length) as usize;
        let parts = if left == plain.len() {
            [plain.as_bytes(), instrumented.as_bytes()]
        } else {
            counts.is_gzip_partial = true;
            // Instrumenting adds no lines.
            let lines = plain.as_bytes()[..left].iter().filter(|byte| **byte == b'\n').count();
            [plain, instrumented].map(|text| first_lines(text, lines))
        };
        let [plain, instrumented] = parts.map(compressed_length);
        counts.gzip.add(Growth { plain, instrumented });
    }
}

fn first_lines(text: &str, lines: usize) -> &[u8] {
    let mut ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    &text.as_bytes()[..lines.checked_sub(1).and_then(|last| ends.nth(last)).unwrap_or(0)]
}

fn reason_of(problem: &Problem) -> Reason {
    match problem {
        Problem::TooLarge { .. } => Reason::TooLarge,
        Problem::TooDeep { .. } | Problem::UnknownDepth => Reason::TooDeep,
        Problem::Syntax { .. } => Reason::Syntax,
        _ => Reason::OtherProblem,
    }
}

fn compressed_length(text: &[u8]) -> u64 {
    if text.is_empty() {
        return 0;
    }
    let mut encoder = GzEncoder::new(Length(0), Compression::default());
    let written = encoder.write_all(text).and_then(|()| encoder.finish());
    written.map_or(0, |length| length.0)
}

/// Counts what is written.
struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_long_texts_is_compressed() {
        let text = |lines: usize| "a line of text\n".repeat(lines);
        assert_eq!(first_lines("a\nb\nc", 2), b"a\nb\n");
        assert_eq!((first_lines("a\nb", 0), first_lines("", 0)), (&b""[..], &b""[..]));
        let build = Build {
            names: Names::default(),
            instrumenter: Instrumenter::Sampling { min_statements: 4 },
            has_source_maps: false,
            output: OutputFolder::create(&std::env::temp_dir()).unwrap(),
            compressed: AtomicU64::new(MAX_COMPRESSED - 1000),
        };
        let mut counts = Counts::default();
        build.compress(&text(10), &text(10), &mut counts);
        assert!(!counts.is_gzip_partial && counts.gzip.plain > 0, "{counts:?}");
        let whole = counts.gzip;
        // Some 57 lines are left, and then none.
        build.compress(&text(1000), &text(1000), &mut counts);
        assert!(counts.is_gzip_partial && counts.gzip.plain > whole.plain, "{counts:?}");
        assert_eq!(counts.gzip.plain, counts.gzip.instrumented);
        let most = counts.gzip;
        build.compress(&text(10), &text(10), &mut counts);
        assert_eq!(counts.gzip, most);
    }
}
