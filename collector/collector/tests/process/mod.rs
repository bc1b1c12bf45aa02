//! Processes of the collector, which end with the test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_selfprof-collector");

/// Runs a command to its end.
pub fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

/// A command that runs until it is stopped.
pub struct Process {
    child: Child,
}

impl Process {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// Starts it with these environment variables, too.
    pub fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).envs(variables.iter().copied()).stdout(Stdio::piped());
        Self { child: command.spawn().unwrap() }
    }

    /// What it says first. It is there then.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }

    /// The URL of a collector that has started, with its process.
    pub fn url(mut self) -> (Self, String) {
        let line = self.line();
        let url = line.split_whitespace().last().expect("it has started").to_owned();
        assert!(url.starts_with("http://"), "{line}");
        (self, url)
    }

    /// Kills it, so that it cannot do anything before.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(&mut self) -> ExitStatus {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(asked.unwrap().success());
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
