//! `selfprof attach`, with programs that were started without selfprof.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};

use super::processes::threads;
use super::{TestDirectory, entries, share};
use crate::support::{output, selfprof, text};

/// The inspectors of programs in parallel tests must not have the same port.
const OWN_PORT: &str = "--inspect-port=0";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scripts").join(name)
}

/// A running program. Killed when dropped.
struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    /// Starts Node.js with options, separated by spaces, and `running.js`.
    fn start(options: &str, behavior: &str) -> Self {
        Self::start_script(options, "running.js", behavior)
    }

    fn start_script(options: &str, name: &str, behavior: &str) -> Self {
        let mut command = Command::new("node");
        command.args(options.split_whitespace()).arg(script(name)).arg(behavior);
        Self::spawn(&mut command)
    }

    fn spawn(command: &mut Command) -> Self {
        command
            .env_remove("NODE_OPTIONS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, stdout };
        assert_eq!(running.line(), "ready\n");
        running
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// Gives it a command.
    fn tell(&mut self, command: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{command}").unwrap();
    }

    /// What a recording could have left behind.
    fn state(&mut self) -> Value {
        self.tell("state");
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Waits until the state is the expected one.
    #[track_caller]
    fn wait_for_state(&mut self, expected: &Value) {
        let last = self.wait_for(|state| state == expected);
        assert_eq!(last, *expected);
    }

    /// Waits until the state is as wanted, or for 20 seconds. Returns it.
    fn wait_for(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let state = self.state();
            if is_wanted(&state) || Instant::now() > until {
                return state;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// `selfprof attach` to it, with options separated by spaces.
    fn attach(&self, directory: &TestDirectory, options: &str) -> Command {
        attach(directory, options, self.child.id())
    }

    /// Attaches until the recording has begun. Returns the process and its stderr.
    fn attached(&self, directory: &TestDirectory, options: &str) -> Attached {
        let mut child = self.attach(directory, options).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("recording process ") {
            assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
        }
        Attached { child, stderr, said }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until it ends. Returns its status and its stderr.
    fn wait(mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A `selfprof attach` that records.
struct Attached {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Attached {
    /// Waits until it ends. Returns its status and all that it said.
    fn wait(mut self) -> (ExitStatus, String) {
        self.stderr.read_to_string(&mut self.said).unwrap();
        (self.child.wait().unwrap(), self.said)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends the recording as Ctrl-C does.
    #[track_caller]
    fn end(self) -> String {
        self.signal(Signal::TERM);
        let (status, said) = self.wait();
        assert!(status.success(), "{said}");
        said
    }
}

fn attach(directory: &TestDirectory, options: &str, pid: u32) -> Command {
    let mut command = selfprof();
    command
        .current_dir(directory.path(""))
        .arg("attach")
        .args(options.split_whitespace())
        .arg(pid.to_string());
    command
}

/// `selfprof attach` fails with this message, and leaves nothing.
#[track_caller]
fn check_refusal(mut command: Command, code: i32, expected: &str) {
    let Output { status, stderr, .. } = output(&mut command);
    let stderr = text(&stderr);
    assert!(stderr.starts_with(&format!("error: {expected}")), "{stderr}");
    assert!(stderr.contains("\n\nhint: "), "{stderr}");
    assert_eq!(status.code(), Some(code), "{stderr}");
}

#[test]
fn an_idle_program_is_recorded() {
    let directory = TestDirectory::new();
    // Without any option: at the default port.
    let mut program = Running::start("", "serve");
    let attached = program.attached(&directory, "--marks --top 2");
    program.tell("work");
    program.tell("mark");
    program.state();
    let said = attached.end();
    assert_eq!(directory.files(), ["running.selfprof.json"]);
    let trace = directory.trace("running.selfprof.json");
    assert!(share(&trace, "fib") > 0.5 && share(&trace, "attach") < 0.1, "{said}");
    assert_eq!(entries(&trace).unwrap().0, ["marked"]);
    let lines: Vec<&str> = said.lines().collect();
    let first = format!("recording process {} (`node ", program.child.id());
    assert!(lines[0].starts_with(&first) && lines[0].ends_with("`) until Ctrl-C"), "{said}");
    assert!(lines[1].starts_with("   self ms   total ms      %  function"), "{said}");
    assert!(lines[lines.len() - 1].starts_with("trace: running.selfprof.json ("), "{said}");
    // The program can end, with its own exit code, and has said nothing but what Node.js says of its inspector.
    program.tell("end");
    let (status, said) = program.wait();
    assert_eq!(status.code(), Some(7), "{said}");
    let is_of_inspector =
        |line: &str| ["Debugger ", "For help, see: "].iter().any(|start| line.starts_with(start));
    assert!(said.lines().all(is_of_inspector), "{said}");
}

#[test]
fn a_module_is_recorded() {
    let directory = TestDirectory::new();
    let program = Running::start_script(OWN_PORT, "running.mjs", "");
    let Output { status, stderr, .. } =
        output(&mut program.attach(&directory, "--duration 1 -o out.json.gz"));
    assert!(status.success(), "{}", text(&stderr));
    assert!(share(&directory.trace("out.json.gz"), "fib") > 0.5, "{}", text(&stderr));
}

#[test]
fn a_busy_loop_is_recorded() {
    let directory = TestDirectory::new();
    let program = Running::start(OWN_PORT, "busy");
    for _ in 0..3 {
        let Output { status, stderr, .. } = output(&mut program.attach(&directory, "--duration 0.5 --top 0"));
        assert!(status.success(), "{}", text(&stderr));
        let trace = directory.trace("running.selfprof.json");
        assert!(share(&trace, "fib") > 0.5 && trace.samples().len() > 20, "{}", text(&stderr));
    }
}

#[test]
fn workers_and_child_processes_are_recorded() {
    let directory = TestDirectory::new();
    let mut program = Running::start(OWN_PORT, "workers");
    let attached = program.attached(&directory, "--top 0");
    for command in ["work", "worker", "child"] {
        program.tell(command);
    }
    // The child has started, and ends.
    program.state();
    let children = || fs::read_to_string(format!("/proc/{}/task/{0}/children", program.child.id())).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !children().is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(50));
    }
    let said = attached.end();
    assert!(!said.contains("not recorded"), "{said}");
    let threads = threads(&directory, "running.selfprof.json");
    let names: Vec<&str> = threads.iter().map(|thread| &*thread.name).collect();
    assert_eq!(names, ["main-thread", "worker-1", "worker-2", "worker-3", "main-thread"], "{said}");
    let [main, busy, idle, later, child] = &threads[..] else { unreachable!() };
    assert!(share(&main.trace, "workFor") > 0.5, "{said}");
    assert!(share(&busy.trace, "fib") > 0.5, "{said}");
    assert_eq!(share(&idle.trace, "fib").max(0.0), 0.0, "{said}");
    assert!(share(&later.trace, "inWorker") > 0.1, "{said}");
    assert!(share(&child.trace, "inChild") > 0.1, "{said}");
}

/// The program took the class `Worker` before, so that it cannot be replaced.
#[test]
fn later_workers_are_recorded_or_named() {
    #[track_caller]
    fn check(options: &str, commands: &[&str], expected: &[&str], warning: Option<&str>) {
        let directory = TestDirectory::new();
        let mut program = Running::start(&format!("{OWN_PORT} {options}"), "serve");
        let attached = program.attached(&directory, "--top 0");
        for command in commands {
            program.tell(command);
        }
        let during = program.wait_for(|state| state["workers"] == 0);
        assert_eq!((&during["changed"]["parent"], &during["changed"]["env"]), (&true.into(), &false.into()));
        let said = attached.end();
        let threads = threads(&directory, "running.selfprof.json");
        let names: Vec<&str> = threads.iter().map(|thread| &*thread.name).collect();
        assert_eq!(names, expected, "{said}");
        assert_eq!(said.contains("not recorded"), warning.is_some(), "{said}");
        assert!(said.contains(warning.unwrap_or_default()), "{said}");
        // The program undoes the changes while the recorder ends.
        let after = program.wait_for(|state| state["changed"]["parent"] == false);
        assert_eq!(after["changed"]["parent"], false);
        assert!(!after["execArgv"].to_string().contains("run.cjs"), "{after}");
    }
    check("", &["worker", "ownOptionsWorker"], &["main-thread", "worker-1", "worker-2"], None);
    check(
        "--max-old-space-size=500",
        &["worker", "replacedWorker"],
        &["main-thread", "worker-1", "worker-2"],
        None,
    );
    let warning = "a worker: it has its own environment, and its class was loaded before attaching\n";
    check("", &["sharingWorker"], &["main-thread"], Some(warning));
    let warning = "a worker: its class was loaded before attaching, and Node cannot repeat";
    check("--conditions=x", &["worker"], &["main-thread"], Some(warning));
}

#[test]
fn nothing_is_left_after_three_recordings() {
    let directory = TestDirectory::new();
    let mut program = Running::start(OWN_PORT, "serve");
    // The first one makes the program open its stdout.
    program.state();
    let before = program.state();
    for _ in 0..3 {
        let attached = program.attached(&directory, "--marks --top 0");
        program.tell("work");
        let during = program.state();
        assert!(during["agents"] == 1 && during["watchers"] == 1, "{during}");
        assert!(during["changed"]["spawn"] == true && during["changed"]["inspector"] == false, "{during}");
        let said = attached.end();
        assert!(share(&directory.trace("running.selfprof.json"), "fib") > 0.5, "{said}");
        let mut expected = before.clone();
        // The pipe and the threads of the addon.
        expected["threads"] = (before["threads"].as_u64().unwrap() + 3).into();
        expected["files"] = (before["files"].as_u64().unwrap() + 2).into();
        program.wait_for_state(&expected);
    }
    program.tell("end");
    assert_eq!(program.wait().0.code(), Some(7));
}

#[test]
fn a_killed_recorder_ends_the_recording() {
    let directory = TestDirectory::new();
    let folder = directory.path("tmp");
    fs::create_dir(&folder).unwrap();
    let mut program = Running::start(OWN_PORT, "serve");
    // The first one makes the program open its stdout.
    program.state();
    let before = program.state();
    let mut command = program.attach(&directory, "--top 0");
    let mut child = command.env("TMPDIR", &folder).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("recording process "), "{said}");
    program.tell("work");
    program.state();
    child.kill().unwrap();
    child.wait().unwrap();
    let mut expected = before.clone();
    expected["threads"] = (before["threads"].as_u64().unwrap() + 3).into();
    expected["files"] = (before["files"].as_u64().unwrap() + 2).into();
    program.wait_for_state(&expected);
    let left = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let recovered =
        output(selfprof().current_dir(directory.path("")).arg("recover").arg(&left).args(["--top", "0"]));
    assert!(recovered.status.success(), "{}", text(&recovered.stderr));
    assert!(share(&directory.trace("recovered.selfprof.json"), "fib") > 0.3);
    // Another one can begin.
    program.attached(&directory, "--top 0").end();
}

#[test]
fn the_trace_is_written_when_the_program_ends() {
    /// `end` ends the program with this exit code or signal.
    #[track_caller]
    fn check(end: impl FnOnce(&mut Running), expected: (Option<i32>, Option<i32>)) {
        let directory = TestDirectory::new();
        let mut program = Running::start(OWN_PORT, "serve");
        let attached = program.attached(&directory, "--top 0");
        program.tell("work");
        program.state();
        // The last two seconds of a program that is killed may be missing.
        thread::sleep(Duration::from_millis(2500));
        end(&mut program);
        let (status, said) = attached.wait();
        assert!(status.success(), "{said}");
        assert!(said.contains(" has ended\n"), "{said}");
        assert!(share(&directory.trace("running.selfprof.json"), "fib") > 0.5, "{said}");
        let (status, _) = program.wait();
        assert_eq!((status.code(), status.signal()), expected);
    }
    check(|program| program.tell("end"), (Some(7), None));
    check(|program| program.signal(Signal::TERM), (None, Some(15)));
    check(|program| program.signal(Signal::KILL), (None, Some(9)));
}

#[test]
fn an_open_inspector_stays_open() {
    let directory = TestDirectory::new();
    let mut program = Running::start("--inspect=0", "serve");
    let before = program.state();
    assert_eq!(before["changed"]["inspector"], true);
    program.attached(&directory, "--top 0").end();
    let after = program.wait_for(|state| state["changed"] == before["changed"]);
    assert_eq!(after["changed"], before["changed"]);
}

#[test]
fn an_inspector_that_the_program_opened_is_used() {
    let directory = TestDirectory::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut program = Running::start(&format!("--inspect-port={port}"), "opensInspector");
    let attached = program.attached(&directory, "--top 0");
    program.tell("work");
    assert_eq!(program.state()["changed"]["inspector"], true);
    let said = attached.end();
    assert!(share(&directory.trace("running.selfprof.json"), "fib") > 0.5, "{said}");
    assert_eq!(program.state()["changed"]["inspector"], true);
}

/// Waits until a process is stopped (`T`) or has ended (`Z`).
fn wait_for_proc_state(pid: u32, state: char) {
    let status = || fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    while !status().contains(&format!("State:\t{state}")) {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_no_running_node_is_refused() {
    let directory = TestDirectory::new();
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let pid = ended.id();
    check_refusal(attach(&directory, "", pid), 1, &format!("there is no process {pid}\n"));

    let mut sleep = Command::new("sleep").arg("60").spawn().unwrap();
    // Until it is no longer a copy of this process.
    thread::sleep(Duration::from_millis(300));
    let pid = sleep.id();
    check_refusal(attach(&directory, "", pid), 1, &format!("process {pid} is not Node.js: it is `"));
    sleep.kill().unwrap();
    wait_for_proc_state(pid, 'Z');
    let Output { status, stderr, .. } = output(&mut attach(&directory, "", pid));
    assert_eq!((status.code(), &*text(&stderr)), (Some(1), &*format!("error: process {pid} has ended\n")));
    sleep.wait().unwrap();

    let program = Running::start(OWN_PORT, "serve");
    program.signal(Signal::STOP);
    let pid = program.child.id();
    wait_for_proc_state(pid, 'T');
    check_refusal(program.attach(&directory, ""), 1, &format!("process {pid} is stopped\n"));
    program.signal(Signal::CONT);
    check_refusal(program.attach(&directory, "-o no/such/folder/t.json"), 2, "no such directory: ");
    assert_eq!(directory.files(), [] as [&str; 0]);
}

#[test]
fn processes_of_other_users_are_refused() {
    let directory = TestDirectory::new();
    // Only root can start one; for others, there is that of root.
    let mut other = geteuid().is_root().then(|| Command::new("sleep").arg("60").uid(65534).spawn().unwrap());
    let pid = other.as_ref().map_or(1, Child::id);
    thread::sleep(Duration::from_millis(200));
    check_refusal(attach(&directory, "", pid), 1, &format!("process {pid} belongs to another user\n"));
    if let Some(other) = &mut other {
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn programs_without_an_inspector_are_refused() {
    let directory = TestDirectory::new();
    let mut program = Running::start(OWN_PORT, "handles");
    let pid = program.child.id();
    check_refusal(
        program.attach(&directory, ""),
        1,
        &format!("process {pid} did not open its inspector within 5 s\n"),
    );
    assert_eq!(program.line(), "mine\n");

    // It serves at the port of its inspector, too.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut program = Running::start(&format!("--inspect-port={port}"), "handlesAtPort");
    let pid = program.child.id();
    let expected = format!("process {pid} did not open its inspector within 5 s\n");
    check_refusal(program.attach(&directory, ""), 1, &expected);
    assert_eq!(program.line(), "mine\n");
    // There was one signal.
    assert_eq!(program.state()["changed"]["inspector"], false);

    let has_option = Command::new("node").args(["--disable-sigusr1", "-e", "0"]).output().unwrap();
    if has_option.status.success() {
        let mut program = Running::start("--disable-sigusr1", "serve");
        let pid = program.child.id();
        check_refusal(program.attach(&directory, ""), 1, &format!("process {pid} does not handle SIGUSR1, "));
        program.state();
    }

    let option = if has_option.status.success() { "--permission" } else { "--experimental-permission" };
    // It may not serve: Node 26 forbids the network, too.
    let program = Running::start(&format!("{option} --allow-fs-read=*"), "idleWorker");
    let pid = program.child.id();
    check_refusal(
        program.attach(&directory, ""),
        1,
        &format!("process {pid} has Node.js's permission model, "),
    );
    let mut program = Running::start(&format!("{OWN_PORT} --no-addons"), "serve");
    let pid = program.child.id();
    check_refusal_without_hint(
        &program,
        &directory,
        &format!("process {pid} cannot record itself: the addon for "),
    );
    assert_eq!(program.state()["changed"]["inspector"], false);
}

#[track_caller]
fn check_refusal_without_hint(program: &Running, directory: &TestDirectory, expected: &str) {
    let Output { status, stderr, .. } = output(&mut program.attach(directory, ""));
    assert!(text(&stderr).starts_with(&format!("error: {expected}")), "{}", text(&stderr));
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_program_that_is_blocked_is_refused() {
    let directory = TestDirectory::new();
    let program = Running::start(OWN_PORT, "blocked");
    let pid = program.child.id();
    let started = Instant::now();
    check_refusal(
        program.attach(&directory, ""),
        1,
        &format!("process {pid} did not open its inspector within 5 s\n"),
    );
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_program_with_a_debugger_is_refused() {
    let directory = TestDirectory::new();
    let mut program = Running::start("--inspect=0", "serve");
    let mut said = BufReader::new(program.child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line.split("ws://").nth(1).and_then(|rest| rest.split('/').next()).expect(&line).to_owned();
    let debugger = TcpStream::connect(address).unwrap();
    let pid = program.child.id();
    check_refusal(program.attach(&directory, ""), 1, &format!("a debugger is attached to process {pid}\n"));
    drop(debugger);
}

#[test]
fn who_uses_the_port_of_the_inspector_is_named() {
    let directory = TestDirectory::new();
    let mut other = Running::start(OWN_PORT, "serve");
    other.tell("port");
    let port = other.line().trim().to_owned();
    let program = Running::start(&format!("--inspect-port={port}"), "serve");
    let (pid, owner) = (program.child.id(), other.child.id());
    let Output { status, stderr, .. } = output(&mut program.attach(&directory, ""));
    let said = text(&stderr);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.starts_with(&format!("error: process {owner} (`node ")), "{said}");
    let rest = format!("uses port {port}, at which process {pid} would open its inspector\n");
    assert!(said.contains(&rest), "{said}");
    assert!(said.contains(&format!("hint: end process {owner}, or close its inspector, first")), "{said}");
}

#[test]
fn a_program_that_is_recorded_is_refused() {
    let directory = TestDirectory::new();
    let mut program = Running::start(OWN_PORT, "serve");
    let attached = program.attached(&directory, "--top 0");
    let pid = program.child.id();
    let expected = format!("process {pid} is being recorded by another selfprof already\n");
    check_refusal(program.attach(&directory, "-o other.json"), 1, &expected);
    // The first recording goes on, for longer than it takes to refuse the second on a busy machine.
    for _ in 0..10 {
        program.tell("work");
    }
    program.state();
    let said = attached.end();
    assert!(share(&directory.trace("running.selfprof.json"), "fib") > 0.5, "{said}");
}

#[test]
fn signals_do_not_reach_the_threads_of_selfprof() {
    let directory = TestDirectory::new();
    let mut program = Running::start(OWN_PORT, "serve");
    let attached = program.attached(&directory, "--top 0");
    program.tell("work");
    program.state();
    let threads = format!("/proc/{}/task", program.child.id());
    let mut names = Vec::new();
    for thread in fs::read_dir(threads).unwrap() {
        let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        let value = |member: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(member)).unwrap();
            line.trim().to_owned()
        };
        let name = value("Name:");
        let blocked = u64::from_str_radix(&value("SigBlk:"), 16).unwrap();
        if name.starts_with("selfprof-") {
            for signal in [SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGTERM] {
                assert!(blocked & (1 << (signal - 1)) != 0, "{name} gets signal {signal}");
            }
            names.push(name);
        }
    }
    names.sort();
    // The system cuts names after 15 bytes. A fourth thread starts when there is a trace to build.
    names.retain(|name| name != "selfprof-builde");
    assert_eq!(names, ["selfprof-alarm", "selfprof-record", "selfprof-signal"]);
    attached.end();
}

#[test]
fn a_package_without_addons_is_an_error() {
    let directory = TestDirectory::new();
    for name in ["package.json", "run.cjs"] {
        fs::write(directory.path(name), "{}").unwrap();
    }
    let mut program = Running::start(OWN_PORT, "serve");
    let mut command = program.attach(&directory, "");
    command.env("SELFPROF_NPM", directory.path(""));
    check_refusal(command, 1, "the npm package `@selfprof/native-");
    // It was not disturbed.
    assert_eq!(program.state()["changed"]["inspector"], false);
}

#[test]
fn a_program_in_another_network_is_refused() {
    let directory = TestDirectory::new();
    let can_unshare = Command::new("unshare").args(["--net", "true"]).output();
    if !can_unshare.is_ok_and(|output| output.status.success()) {
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["--net", "node"]).arg(script("running.js"));
    let program = Running::spawn(&mut command);
    let pid = program.child.id();
    check_refusal(program.attach(&directory, ""), 1, &format!("process {pid} is in another container\n"));
}
