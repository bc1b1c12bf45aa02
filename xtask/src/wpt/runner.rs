//! Runs tests: starts a program of packages/page/wpt on a Node, and again when it crashes.

use super::outcome::Outcome;
use super::suite::Test;
use crate::job::Log;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The program sends a sign of life every two seconds. On a busy machine it may be late.
pub const SILENCE: Duration = Duration::from_secs(90);

/// How often progress is reported.
const GLANCE: Duration = Duration::from_millis(200);

/// Runs tests in the page host, or in a browser.
pub struct Runner {
    /// The executable of a Node that the program runs on.
    pub node: PathBuf,
    /// packages/page/wpt/main.mjs, or packages/page/wpt/polyfill/main.mjs.
    pub program: PathBuf,
    /// Its environment.
    pub environment: &'static [(&'static str, &'static str)],
    /// What it needs besides the tests.
    pub needs: serde_json::Map<String, serde_json::Value>,
    /// How many pages at a time.
    pub jobs: usize,
    /// Multiplies all time limits.
    pub multiplier: f64,
    /// How long the program may send nothing.
    pub silence: Duration,
}

#[derive(Serialize)]
struct Job<'a> {
    root: &'a Path,
    #[serde(flatten)]
    needs: &'a serde_json::Map<String, serde_json::Value>,
    jobs: usize,
    multiplier: f64,
    tests: &'a [Test],
}

/// A message of the program.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event {
    Alive,
    Started {
        id: String,
    },
    Ended {
        id: String,
        #[serde(flatten)]
        outcome: Outcome,
    },
    Finished,
}

/// How the program ended, if it ended before its tests.
struct Lost {
    /// The tests that were running.
    running: BTreeSet<String>,
    how: String,
}

/// Is called as tests end.
pub trait Listener {
    /// A test ended.
    fn ended(&mut self, id: &str, outcome: Outcome) -> Result<()>;
    /// Called often, with the tests that are running.
    fn progress(&mut self, running: &BTreeSet<String>);
}

impl Runner {
    /// Runs the tests. A test that crashes the program is reported as a crash, and the other tests run.
    pub fn run(&self, root: &Path, tests: Vec<Test>, log: &Log, listener: &mut dyn Listener) -> Result<()> {
        let mut waiting = tests;
        // The tests that were running when the program crashed. Each runs alone to see which one crashes it.
        let mut suspects: Vec<Test> = Vec::new();
        loop {
            let (batch, jobs) = match suspects.pop() {
                Some(suspect) => (vec![suspect], 1),
                None if waiting.is_empty() => return Ok(()),
                None => (std::mem::take(&mut waiting), self.jobs),
            };
            let mut ended = BTreeSet::new();
            let lost = self.run_once(root, &batch, jobs, log, &mut ended, listener)?;
            let Some(Lost { running, how }) = lost else { continue };
            if running.is_empty() {
                bail!("the runner ended before a test began: {how}\n{}", log.text().trim_end());
            }
            let (left, rest): (Vec<Test>, Vec<Test>) = batch
                .into_iter()
                .filter(|test| !ended.contains(&test.id))
                .partition(|test| running.contains(&test.id));
            if let [test] = &left[..] {
                listener.ended(&test.id, Outcome::crash(how))?;
            } else {
                suspects.extend(left);
            }
            waiting.extend(rest);
        }
    }

    /// Runs the program once. Returns how it was lost, if it was.
    fn run_once(
        &self,
        root: &Path,
        tests: &[Test],
        jobs: usize,
        log: &Log,
        ended: &mut BTreeSet<String>,
        listener: &mut dyn Listener,
    ) -> Result<Option<Lost>> {
        let job = Job { root, needs: &self.needs, jobs, multiplier: self.multiplier, tests };
        let (mut child, lines) = self.start(&serde_json::to_vec(&job)?, log)?;
        let mut running = BTreeSet::new();
        let mut silent = Duration::ZERO;
        let how = loop {
            let line = match lines.recv_timeout(GLANCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    silent += GLANCE;
                    listener.progress(&running);
                    if silent > self.silence {
                        break format!("the runner said nothing for {} s", self.silence.as_secs());
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break format!("the runner ended with {}", child.wait()?);
                }
            };
            silent = Duration::ZERO;
            match serde_json::from_str(&line) {
                Ok(Event::Alive) => listener.progress(&running),
                Ok(Event::Started { id }) => {
                    running.insert(id);
                }
                Ok(Event::Ended { id, outcome }) => {
                    running.remove(&id);
                    listener.ended(&id, outcome)?;
                    ended.insert(id);
                }
                Ok(Event::Finished) => {
                    end(&mut child)?;
                    return Ok(None);
                }
                Err(error) => {
                    end(&mut child)?;
                    bail!("unexpected output of the runner: {error}: {line}");
                }
            }
        };
        end(&mut child)?;
        Ok(Some(Lost { running, how }))
    }

    fn start(&self, job: &[u8], log: &Log) -> Result<(Child, Receiver<String>)> {
        let mut child = Command::new(&self.node)
            .arg(&self.program)
            .env_remove("NODE_OPTIONS")
            .envs(self.environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.file()?)
            .spawn()
            .with_context(|| format!("cannot start {}", self.node.display()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // If the program has ended already, its status is reported.
            let _ = stdin.write_all(job);
        }
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok((child, lines))
    }
}

/// Kills a program that is done, or that has sent nothing for too long.
fn end(child: &mut Child) -> Result<()> {
    if child.try_wait()?.is_none() {
        child.kill().context("the runner cannot be ended")?;
    }
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::suite::Timeout;
    use super::*;

    /// Sends what the real program sends, and crashes or hangs as a test's name asks for.
    const PROGRAM: &str = "
        const { tests, jobs } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
        const say = (line) => require('fs').writeSync(1, JSON.stringify(line) + '\\n');
        const running = tests.splice(0, jobs);
        for (const { id } of running) say({ event: 'started', id });
        for (const { id } of running) {
          if (id === 'dies') process.abort();
          if (id === 'falls silent') setInterval(() => {}, 1000);
          else say({ event: 'ended', id, status: 'OK', message: null, subtests: [], duration: jobs });
          const next = tests.shift();
          if (next !== undefined) { running.push(next); say({ event: 'started', id: next.id }); }
        }
        if (!running.some(({ id }) => id === 'falls silent')) say({ event: 'finished' });";

    #[derive(Default)]
    struct Heard(Vec<(String, String)>);

    impl Listener for Heard {
        fn ended(&mut self, id: &str, outcome: Outcome) -> Result<()> {
            self.0.push((id.to_owned(), outcome.status));
            Ok(())
        }

        fn progress(&mut self, _: &BTreeSet<String>) {}
    }

    fn run(program: &str, ids: &[&str]) -> Result<Vec<(String, String)>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("program.cjs");
        std::fs::write(&file, program)?;
        let log = Log::create(folder.path(), "log")?;
        let place = folder.path().to_owned();
        let runner = Runner {
            node: "node".into(),
            program: file,
            environment: &[],
            needs: serde_json::Map::new(),
            jobs: 3,
            multiplier: 1.0,
            silence: Duration::from_secs(5),
        };
        let test = |id: &&str| Test {
            id: (*id).to_owned(),
            timeout: Timeout::Normal,
            secure: false,
            slow: false,
            unsupported: None,
        };
        let mut heard = Heard::default();
        runner.run(&place, ids.iter().map(test).collect(), &log, &mut heard)?;
        heard.0.sort();
        Ok(heard.0)
    }

    #[track_caller]
    fn check(ids: &[&str], crashed: &[&str]) {
        let expected: Vec<(String, String)> = ids
            .iter()
            .map(|id| ((*id).to_owned(), if crashed.contains(id) { "CRASH" } else { "OK" }.to_owned()))
            .collect();
        match run(PROGRAM, ids) {
            Ok(heard) => assert_eq!(heard, expected),
            Err(error) => panic!("{error:#}"),
        }
    }

    #[test]
    fn a_test_that_crashes_the_program_is_found_and_the_others_run() {
        check(&["a", "b", "c", "d"], &[]);
        check(&["a", "b", "c", "d", "dies", "f", "g"], &["dies"]);
        check(&["dies"], &["dies"]);
    }

    #[test]
    fn a_program_that_falls_silent_is_ended() {
        check(&["a", "falls silent"], &["falls silent"]);
    }

    #[test]
    fn a_program_that_does_not_start_is_an_error() {
        for program in ["process.exit(3)", "console.log('hello')", "syntax error"] {
            assert!(run(program, &["a"]).is_err(), "{program}");
        }
    }
}
