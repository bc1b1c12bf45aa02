//! Runs one fuzz target.

use super::instrumented::{Instrumented, LIMITS};
use crate::job::{self, Log, Output};
use crate::progress::Activity;
use anyhow::{Context, Result};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The longest input: most bugs need few bytes, and short inputs run faster.
const MAX_LENGTH: &str = "-max_len=4096";

/// The longest input that is committed.
const MAX_COMMITTED_LENGTH: &str = "-max_len=2048";

/// How many inputs of a target are committed at most.
const MAX_COMMITTED: usize = 40;

/// One target that is fuzzed.
pub struct Session<'a> {
    /// The programs.
    pub instrumented: &'a Instrumented,
    /// Its name.
    pub target: &'a str,
    /// Takes the output of libFuzzer.
    pub log: &'a Log,
    /// Shows progress.
    pub activity: &'a Activity,
}

/// The statistics of a search.
#[derive(Debug, Default, PartialEq)]
pub struct Figures {
    /// How many inputs were run.
    pub runs: u64,
    /// How many coverage points were reached.
    pub reached: u64,
    /// How many coverage points there are, including those in code that is never called.
    pub places: u64,
    /// How many inputs are in the corpus, each of which reached something new.
    pub corpus: u64,
}

impl Session<'_> {
    /// Runs the committed inputs and nothing else.
    pub fn check(&self) -> Result<()> {
        let kept = self.instrumented.committed_inputs(self.target);
        let mut command = Command::new(self.instrumented.program(self.target));
        command.args(LIMITS).args(&kept);
        self.run(&mut command, Duration::from_secs(600))
            .with_context(|| format!("an input in fuzz/corpus/{0} or fuzz/findings/{0} fails", self.target))
    }

    /// Generates inputs for this long, starting from the committed ones and those in `corpus`, which takes new ones.
    pub fn fuzz(&self, long: Duration, corpus: &Path) -> Result<Figures> {
        let mut command = Command::new(self.instrumented.program(self.target));
        command.args(LIMITS).args([MAX_LENGTH, "-print_final_stats=1", "-use_value_profile=1"]);
        command.arg(format!("-max_total_time={}", long.as_secs()));
        if let Some(dictionary) = self.instrumented.dictionary(self.target) {
            command.arg(format!("-dict={}", dictionary.display()));
        }
        let findings = self.instrumented.work_folder("findings", self.target)?;
        // libFuzzer takes this as the beginning of file names.
        command.arg(format!("-artifact_prefix={}/", findings.display()));
        let before = files(&findings);
        // New inputs go into the first folder.
        command.arg(corpus);
        let committed = ["corpus", "findings"].map(|kind| self.instrumented.committed(kind, self.target));
        command.args(committed.iter().filter(|folder| folder.is_dir()));
        let from = self.log.text().len();
        // libFuzzer ends after the current input.
        let ran = self.run(&mut command, long + Duration::from_secs(600));
        let said = self.log.text();
        let said = said.get(from..).unwrap_or_default();
        match ran {
            Ok(()) => Ok(Figures::of(said)),
            Err(error) => Err(error.context(self.describe_finding(said, &before, &findings))),
        }
    }

    /// Rewrites the committed corpus from its inputs and the generated ones. Returns how many there were and how many
    /// there are.
    pub fn update_corpus(&self) -> Result<(usize, usize)> {
        let committed = self.instrumented.committed("corpus", self.target);
        fs::create_dir_all(&committed)?;
        let before = files(&committed).len();
        // A search that runs at the same time replaces inputs by shorter ones, which breaks merging; so copies are
        // merged.
        let (fresh, found) = (tempfile::tempdir()?, tempfile::tempdir()?);
        for file in files(&self.instrumented.work_folder("corpus", self.target)?) {
            let _ = fs::copy(&file, found.path().join(file.file_name().unwrap_or_default()));
        }
        let mut command = Command::new(self.instrumented.program(self.target));
        // One input for each coverage point, not for each number of times that it is reached.
        command.args(LIMITS).args([MAX_COMMITTED_LENGTH, "-set_cover_merge=1", "-use_counters=0"]);
        command.arg(fresh.path()).arg(&committed).arg(found.path());
        self.run(&mut command, Duration::from_secs(3600))?;
        let mut chosen = files(fresh.path());
        // libFuzzer writes the inputs that add most coverage first.
        chosen.sort_by_cached_key(|file| fs::metadata(file).and_then(|data| data.modified()).ok());
        chosen.truncate(MAX_COMMITTED);
        for file in files(&committed) {
            fs::remove_file(file)?;
        }
        for file in &chosen {
            fs::copy(file, committed.join(file.file_name().unwrap_or_default()))?;
        }
        Ok((before, chosen.len()))
    }

    fn run(&self, command: &mut Command, limit: Duration) -> Result<()> {
        command.env("RUST_BACKTRACE", "1");
        job::run_within(command, &Output::Logged(self.log, self.activity), self.activity.elapsed() + limit)
    }

    /// A finding in words: the reason, the file, and how to run it again.
    fn describe_finding(&self, said: &str, before: &[PathBuf], findings: &Path) -> String {
        let target = self.target;
        let Some(kept) = files(findings).into_iter().find(|file| !before.contains(file)) else {
            return format!("libFuzzer failed; what it said is in {}", self.log.path().display());
        };
        let reason = said
            .lines()
            .skip_while(|line| !line.contains("panicked at"))
            .take(4)
            .chain(said.lines().filter(|line| line.contains("ERROR: libFuzzer")))
            .collect::<Vec<_>>()
            .join("\n  ");
        format!(
            "a finding:\n  {reason}\nkept as {0}\n\nhint: cargo xtask fuzz {target} --input {0}\n      when it is fixed: cp {0} \
             fuzz/findings/{target}/NAME",
            kept.display()
        )
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

impl Figures {
    /// Parses the output of libFuzzer.
    fn of(said: &str) -> Self {
        let after = |line: &str, word: &str| -> Option<u64> {
            let rest = line.split_once(word)?.1.trim_start();
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let last = |lines: &str, word: &str| {
            said.lines().filter(|line| line.contains(lines)).rev().find_map(|line| after(line, word))
        };
        Self {
            runs: last("stat::number_of_executed_units:", "units:").unwrap_or(0),
            reached: last(" cov: ", " cov:").unwrap_or(0),
            places: last("PC tables", "(").unwrap_or(0),
            corpus: last(" corp: ", " corp:").unwrap_or(0),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, reached, places, corpus } = self;
        write!(
            f,
            "{runs} inputs, no finding; {reached} of {places} coverage points reached, by {corpus} inputs"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_parsed_from_the_output_of_libfuzzer() {
        let said = "INFO: Loaded 1 PC tables (34567 PCs): 34567 [0x1,0x2),\n\
                    #2\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb\n\
                    #99\tDONE   cov: 812 ft: 3001 corp: 77/9Kb lim: 4096 exec/s: 9 rss: 60Mb\n\
                    stat::number_of_executed_units: 99\nstat::peak_rss_mb: 60\n";
        assert_eq!(Figures::of(said), Figures { runs: 99, reached: 812, places: 34567, corpus: 77 });
        assert_eq!(Figures::of(""), Figures::default());
    }
}
