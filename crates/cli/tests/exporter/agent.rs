//! A folder as recorded processes write it, and an exporter of it.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use selfprof_formats::journal::{End, Header, JournalWriter, Mode};
use selfprof_trace::{Frame, Micros, Sample, Stack, Trace};
use serde_json::{Value, json};

/// When the processes started: 13:45 on the 23rd of November 2026, in milliseconds since 1970.
const START: f64 = 1_795_441_500_000.0;

/// The length of a period in seconds.
pub const PERIOD: u64 = 60;

/// The number of the first period.
pub const FIRST: u64 = START as u64 / 1000 / PERIOD;

/// A folder, which is deleted with its parent.
pub struct Agent {
    pub parent: tempfile::TempDir,
    pub path: PathBuf,
}

/// A process that lives until this is dropped.
pub struct Process {
    lock: File,
}

impl Agent {
    /// A folder with these settings, and an application.
    pub fn new(settings: Value) -> Self {
        let parent = tempfile::tempdir().unwrap();
        let agent = Self { path: parent.path().join("own"), parent };
        agent.create(settings);
        agent
    }

    /// Another folder beside it.
    pub fn beside(&self, name: &str, settings: Value) -> Self {
        let agent = Self { parent: tempfile::tempdir().unwrap(), path: self.parent.path().join(name) };
        agent.create(settings);
        agent
    }

    fn create(&self, mut settings: Value) {
        fs::create_dir(&self.path).unwrap();
        fs::set_permissions(&self.path, Permissions::from_mode(0o700)).unwrap();
        settings["app"] = json!("shop");
        self.write("settings.json", settings.to_string().as_bytes());
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path.join(name), content).unwrap();
    }

    /// A process that lives.
    pub fn process(&self, name: &str) -> Process {
        let path = self.path.join(format!("{name}.alive"));
        let temporary = self.path.join(".alive");
        // No process of this machine has the id 4194305 or a higher one.
        fs::write(&temporary, r#"{"pid":4194305,"command":"node a.js","node":"v24.1.0"}"#).unwrap();
        let lock = File::open(&temporary).unwrap();
        lock.lock().unwrap();
        fs::rename(temporary, path).unwrap();
        Process { lock }
    }

    /// A part that is complete, of 100 samples.
    pub fn part(&self, process: &str, thread: &str, period: u64) {
        let name = format!("{process}.{thread}.{}.finished", FIRST + period);
        self.write(".part", &journal(process, thread, period, 100));
        fs::rename(self.path.join(".part"), self.path.join(name)).unwrap();
    }

    /// A journal that is being written.
    pub fn journal(&self, process: &str, thread: &str, period: u64) {
        self.write(&format!("{process}.{thread}.journal"), &journal(process, thread, period, 100));
    }

    /// The names of the files, sorted; none if the folder is gone.
    pub fn files(&self) -> Vec<String> {
        files(&self.path)
    }

    /// Starts an exporter.
    pub fn export(&self) -> Exporter {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selfprof"));
        command.args(["agent-exporter", "--folder"]).arg(&self.path).stderr(Stdio::piped());
        for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(proxy);
        }
        let mut child = command.spawn().unwrap();
        Exporter { stderr: BufReader::new(child.stderr.take().unwrap()), said: String::new(), child }
    }
}

impl Process {
    /// Ends the process.
    pub fn end(self) {
        self.lock.unlock().unwrap();
    }
}

/// An exporter, which is killed with the test.
pub struct Exporter {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// What was read of it.
    said: String,
}

impl Exporter {
    /// Waits until it has ended. Returns its exit code and what it said.
    pub fn wait(mut self) -> (Option<i32>, String) {
        self.stderr.read_to_string(&mut self.said).unwrap();
        let said = std::mem::take(&mut self.said);
        assert!(said.lines().all(|line| line.starts_with("selfprof agent: ")), "{said}");
        (self.child.wait().unwrap().code(), said)
    }

    /// Waits until it has ended, and succeeded.
    #[track_caller]
    pub fn said(self) -> String {
        let (code, said) = self.wait();
        assert_eq!(code, Some(0), "{said}");
        said
    }

    /// Waits until it says something.
    pub fn wait_for_message(&mut self) {
        self.stderr.read_line(&mut self.said).unwrap();
    }

    /// Kills it, so that it cannot do anything before.
    pub fn kill_after(mut self, time: std::time::Duration) {
        std::thread::sleep(time);
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        let asked = Command::new("kill").args(["-TERM", &self.id().to_string()]).status().unwrap();
        assert!(asked.success());
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The names of the files in a folder, sorted.
pub fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A journal whose samples are in one function, `PROCESS-THREAD`, at 10 ms.
pub fn journal(process: &str, thread: &str, period: u64, samples: u64) -> Vec<u8> {
    let thread_id = thread.strip_prefix("worker-").map_or(0, |number| number.parse().unwrap());
    let header = Header {
        pid: process.split('.').next().unwrap().parse().unwrap(),
        thread_id,
        interval: Micros(10_000),
        mode: Mode::Eager,
        // Workers start later.
        time_origin_ms: START + thread_id as f64 * 5.0,
        node: "v24.1.0".to_owned(),
        entries: false,
        origin: Micros(1_000_000 + thread_id * 5_000),
        thread_name: if thread == "main" { "main-thread".to_owned() } else { thread.to_owned() },
        command: "node a.js".to_owned(),
    };
    let mut trace = Trace::new();
    let name = trace.name(&format!("{process}-{thread}")).unwrap();
    let resource = trace.resource("file:///a.js").ok();
    let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
    let stack = trace.stack(Stack { parent: None, frame }).ok();
    let time = |index: u64| Micros(period * PERIOD * 1_000_000 + (index + 1) * 10_000);
    let samples: Vec<Sample> =
        (0..samples).map(|index| Sample { timestamp: time(index), stack, marker: None }).collect();
    let mut writer = JournalWriter::create(Vec::new(), &header).unwrap();
    writer.append(&trace, &samples, 0).unwrap();
    writer.finish(End { reason: "period".to_owned(), full: false }).unwrap()
}

/// A journal whose samples have these routes.
pub fn journal_with_routes(process: &str, routes: &[&str]) -> Vec<u8> {
    let mut lines = journal(process, "main", 0, routes.len() as u64);
    let sets: Vec<Value> = routes.iter().map(|route| json!({ "http.route": route, "trace": "7" })).collect();
    let changes: Vec<Value> = (0..routes.len()).map(|index| json!([(index + 1) * 10_000, index])).collect();
    lines.extend_from_slice(json!({ "labelSets": sets, "labels": changes }).to_string().as_bytes());
    lines.push(b'\n');
    lines
}

/// Waits until something is so.
#[track_caller]
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it did not happen within a minute");
}
