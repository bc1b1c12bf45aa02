//! One target, fuzzed for a while.

use super::Instrumented;
use crate::job::{self, Log, Output};
use crate::progress::Activity;
use anyhow::{Context, Result};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What an input may take: a minute, which is a thousand times what it should on a machine that is busy, and a gigabyte.
pub const LIMITS: &[&str] = &["-timeout=60", "-rss_limit_mb=1024", "-malloc_limit_mb=512"];

/// No input is longer: what goes wrong does so in few bytes, and many short inputs find it sooner.
const MAX_LENGTH: &str = "-max_len=4096";

/// As long are the inputs that are committed.
const MAX_KEPT_LENGTH: &str = "-max_len=2048";

/// As many are committed of a target.
const MOST_KEPT: usize = 100;

/// The search for one target's findings.
pub struct Session<'a> {
    /// The programs.
    pub instrumented: &'a Instrumented,
    /// Its name.
    pub target: &'a str,
    /// Where libFuzzer's own words go.
    pub log: &'a Log,
    /// What is shown meanwhile.
    pub activity: &'a Activity,
}

/// What a search came to.
#[derive(Debug, Default, PartialEq)]
pub struct Figures {
    /// How many inputs were run.
    pub runs: u64,
    /// How many places in the code were reached.
    pub reached: u64,
    /// How many places there are: of the readers, of the libraries that they use, and of what is never called.
    pub places: u64,
    /// How many inputs are kept since they reached something that others did not.
    pub corpus: u64,
}

impl Session<'_> {
    /// Runs the committed inputs and nothing else.
    pub fn check(&self) -> Result<()> {
        let kept = self.instrumented.kept(self.target);
        let mut command = Command::new(self.instrumented.program(self.target));
        command.args(LIMITS).args(&kept);
        self.run(&mut command, Duration::from_secs(600))
            .with_context(|| format!("an input in fuzz/corpus/{0} or fuzz/findings/{0} fails", self.target))
    }

    /// Makes up inputs for this long. New ones go into `corpus`, from which it begins, as from those that are committed.
    pub fn fuzz(&self, long: Duration, corpus: &Path) -> Result<Figures> {
        let mut command = Command::new(self.instrumented.program(self.target));
        command.args(LIMITS).args([MAX_LENGTH, "-print_final_stats=1", "-use_value_profile=1"]);
        command.arg(format!("-max_total_time={}", long.as_secs()));
        if let Some(dictionary) = self.instrumented.dictionary(self.target) {
            command.arg(format!("-dict={}", dictionary.display()));
        }
        let findings = self.instrumented.own("findings", self.target)?;
        // The fuzzer takes this for the beginning of names.
        command.arg(format!("-artifact_prefix={}/", findings.display()));
        let before = files(&findings);
        // New inputs go into the first folder.
        command.arg(corpus);
        let committed = ["corpus", "findings"].map(|kind| self.instrumented.committed(kind, self.target));
        command.args(committed.iter().filter(|folder| folder.is_dir()));
        let from = self.log.text().len();
        // To end in order, it needs to finish an input.
        let ran = self.run(&mut command, long + Duration::from_secs(600));
        let said = self.log.text();
        let said = said.get(from..).unwrap_or_default();
        match ran {
            Ok(()) => Ok(Figures::of(said)),
            Err(error) => Err(error.context(self.told(said, &before, &findings))),
        }
    }

    /// Makes the committed corpus anew, of the inputs there and those that were found. Gives how many there were and are.
    pub fn keep(&self) -> Result<(usize, usize)> {
        let committed = self.instrumented.committed("corpus", self.target);
        fs::create_dir_all(&committed)?;
        let before = files(&committed).len();
        let fresh = tempfile::tempdir()?;
        let mut command = Command::new(self.instrumented.program(self.target));
        // One input for each place, rather than for each number of times that it is reached.
        command.args(LIMITS).args([MAX_KEPT_LENGTH, "-set_cover_merge=1"]);
        command.arg(fresh.path()).arg(&committed).arg(self.instrumented.own("corpus", self.target)?);
        self.run(&mut command, Duration::from_secs(3600))?;
        let mut chosen = files(fresh.path());
        chosen.sort_by_cached_key(|file| fs::metadata(file).map_or(0, |data| data.len()));
        chosen.truncate(MOST_KEPT);
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

    /// What was found, where it lies and how to see it again.
    fn told(&self, said: &str, before: &[PathBuf], findings: &Path) -> String {
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
            "a finding:\n  {reason}\nkept as {0}\n\nhint: cargo xtask fuzz {target} --input {0}\n      when it is mended: cp {0} \
             fuzz/findings/{target}/NAME",
            kept.display()
        )
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

impl Figures {
    /// Reads them off what libFuzzer says.
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
        write!(f, "{runs} inputs, no finding; {reached} of {places} places reached, by {corpus} inputs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_off_what_libfuzzer_says() {
        let said = "INFO: Loaded 1 PC tables (34567 PCs): 34567 [0x1,0x2),\n\
                    #2\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb\n\
                    #99\tDONE   cov: 812 ft: 3001 corp: 77/9Kb lim: 4096 exec/s: 9 rss: 60Mb\n\
                    stat::number_of_executed_units: 99\nstat::peak_rss_mb: 60\n";
        assert_eq!(Figures::of(said), Figures { runs: 99, reached: 812, places: 34567, corpus: 77 });
        assert_eq!(Figures::of(""), Figures::default());
    }
}
