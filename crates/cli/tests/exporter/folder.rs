//! The output is a folder of profiles.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{Agent, FIRST, files, journal, wait_until};

/// The functions of a profile, as `selfprof top` reads it.
#[track_caller]
fn functions(profile: &Path) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfprof"));
    let output = command.args(["top", "--json", "--no-source-maps"]).arg(profile).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table: Value = serde_json::from_slice(&output.stdout).unwrap();
    let functions = table["functions"].as_array().unwrap().iter();
    let mut names: Vec<String> = functions.map(|row| row["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// An agent that writes to the folder `out`, and the folder.
fn agent(settings: Value) -> (Agent, std::path::PathBuf) {
    let out = tempfile::tempdir().unwrap().keep();
    let mut all = json!({ "output": out });
    all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    (Agent::new(all), out)
}

#[test]
fn each_process_and_period_is_a_file() {
    let (agent, out) = agent(json!({}));
    let processes = [agent.process("7.a"), agent.process("8.b")];
    for (process, thread) in [("7.a", "main"), ("7.a", "worker-1"), ("7.a", "worker-12"), ("8.b", "main")] {
        agent.part(process, thread, 0);
        agent.journal(process, thread, 1);
    }
    agent.write("7.a.worker-9.failure", br#"{"pid":7,"command":"node a.js","message":"no \u001b addon"}"#);
    let exporter = agent.export();
    wait_until(|| files(&out).len() == 2);
    processes.into_iter().for_each(|process| process.end());
    let said = exporter.said();
    assert_eq!(said, "selfprof agent: not recorded: process 7 (`node a.js`): no   addon\n");

    let names = [
        "20261123T134500Z.shop.7.a",
        "20261123T134500Z.shop.8.b",
        "20261123T134600Z.shop.7.a",
        "20261123T134600Z.shop.8.b",
    ];
    assert_eq!(files(&out), names.map(|name| format!("{name}.selfprof.json.gz")));
    assert_eq!(functions(&out.join(&files(&out)[0])), ["7.a-main", "7.a-worker-1", "7.a-worker-12"]);
    assert_eq!(functions(&out.join(&files(&out)[3])), ["8.b-main"]);
    assert!(!agent.path.exists());
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn threads_that_come_late_get_files_of_their_own() {
    let (agent, out) = agent(json!({}));
    let process = agent.process("7.a");
    agent.part("7.a", "main", 0);
    agent.journal("7.a", "main", 1);
    // It is blocked, and so it does not begin a new journal.
    agent.journal("7.a", "worker-1", 0);
    let exporter = agent.export();
    wait_until(|| files(&out).len() == 1);
    agent.part("7.a", "worker-1", 0);
    wait_until(|| files(&out).len() == 2);
    process.end();
    exporter.said();
    // The journal of the worker was not from this period, so it has the next number.
    assert_eq!(functions(&out.join("20261123T134500Z.shop.7.a.selfprof.json.gz")), ["7.a-main"]);
    assert_eq!(functions(&out.join("20261123T134500Z.shop.7.a.worker-1.selfprof.json.gz")), ["7.a-worker-1"]);
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn the_last_journals_may_be_torn_or_corrupt() {
    let (agent, out) = agent(json!({}));
    let process = agent.process("7.a");
    let whole = journal("7.a", "main", 0, 100);
    let mut torn = whole.clone();
    torn.truncate(whole.len() - 20);
    agent.write("7.a.main.journal", &torn);
    agent.write("7.a.worker-1.journal", &whole[..20]);
    agent.write("7.a.worker-2.journal", b"");
    agent.write("7.a.worker-3.journal", b"{\"selfprofJournal\":99}\n");
    agent.write(&format!("7.a.worker-4.{FIRST}.finished"), b"\0\0\0\0");
    agent.write(&format!("7.a.worker-5.{FIRST}.finished"), b"");
    fs::create_dir(agent.path.join(format!("7.a.worker-6.{FIRST}.finished"))).unwrap();
    process.end();
    let said = agent.export().said();
    assert!(
        said.contains("7.a.worker-3.journal cannot be read and is deleted: the journal has version 99"),
        "{said}"
    );
    let name = format!("7.a.worker-4.{FIRST}.finished");
    assert!(said.contains(&format!("{name} cannot be read and is deleted: the first line is not")), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(functions(&out.join("20261123T134500Z.shop.7.a.selfprof.json.gz")), ["7.a-main"]);
    assert!(!agent.path.exists());
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn files_have_the_source_maps_of_their_scripts() {
    let (agent, out) = agent(json!({}));
    let process = agent.process("7.a");
    agent.part("7.a", "main", 0);
    agent.journal("7.a", "main", 1);
    let header = journal("7.a", "main", 0, 0).split(|byte| *byte == b'\n').next().unwrap().to_vec();
    let map =
        "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXSwibWFwcGluZ3MiOiJBQUFBIn0=";
    let maps = json!({ "sourceMaps": [["file:///a.js", map], ["file:///other.js", map]] }).to_string();
    agent.write("7.a.main.maps.journal", &[&header[..], b"\n", maps.as_bytes(), b"\n{\"sour"].concat());
    let exporter = agent.export();
    wait_until(|| files(&out).len() == 1);
    process.end();
    assert_eq!(exporter.said(), "");
    assert_eq!(files(&out).len(), 2);
    for file in files(&out) {
        let mut text = String::new();
        let file = fs::File::open(out.join(file)).unwrap();
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            trace["sourceMaps"],
            json!([{
                "map": { "version": 3, "sources": ["a.ts"], "mappings": "AAAA" }, "resourceId": 0,
            }])
        );
    }
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn files_of_a_process_that_has_ended_do_not_stay() {
    let (agent, out) = agent(json!({}));
    let other = agent.process("8.b");
    let process = agent.process("7.a");
    agent.journal("7.a", "main", 0);
    agent.write("7.a.main.maps.journal", b"");
    let exporter = agent.export();
    process.end();
    wait_until(|| agent.files() == ["8.b.alive", "exporter.lock", "settings.json"]);
    other.end();
    exporter.said();
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn workers_that_have_ended_are_sent_while_their_process_lives() {
    let (agent, out) = agent(json!({}));
    let process = agent.process("7.a");
    agent.journal("7.a", "main", 1);
    agent.journal("7.a", "worker-1", 0);
    // It has no end yet.
    let name = "7.a.worker-2.journal";
    let whole = journal("7.a", "worker-2", 0, 100);
    agent.write(name, &whole[..whole.len() - 40]);
    for file in agent.files() {
        let file = fs::File::open(agent.path.join(file)).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    let exporter = agent.export();
    wait_until(|| !files(&out).is_empty());
    assert!(
        agent.files().contains(&name.to_owned()) && agent.files().contains(&"7.a.main.journal".to_owned())
    );
    process.end();
    exporter.said();
    let names = [
        "20261123T134500Z.shop.7.a.worker-1",
        "20261123T134500Z.shop.7.a.worker-2",
        "20261123T134600Z.shop.7.a",
    ];
    assert_eq!(files(&out), names.map(|name| format!("{name}.selfprof.json.gz")));
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn periods_may_be_fractions() {
    let (agent, out) = agent(json!({ "period": 0.5 }));
    agent.process("7.a").end();
    agent.journal("7.a", "main", 0);
    agent.journal("7.a", "worker-1", 0);
    agent.export().said();
    assert_eq!(files(&out), ["20261123T134500Z.shop.7.a.selfprof.json.gz"]);
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn each_sample_is_in_one_file_whenever_the_exporter_is_killed() {
    let (agent, out) = agent(json!({}));
    let process = agent.process("7.a");
    let mut exporter = agent.export();
    for period in 0..40 {
        for thread in ["main", "worker-1", "worker-2"] {
            agent.part("7.a", thread, period);
        }
        exporter.kill_after(Duration::from_micros(500 * period));
        exporter = agent.export();
    }
    process.end();
    exporter.said();
    let samples = |file: &String| {
        let json = fs::read(out.join(file)).unwrap();
        let profile = selfprof_formats::w3c::read_threads(&json[..], &Default::default()).unwrap();
        profile.iter().map(|(thread, _)| thread.trace.samples().len()).sum::<usize>()
    };
    // Files that were being written begin with a dot, and are deleted later.
    let files = files(&out).into_iter().filter(|name| !name.starts_with('.'));
    assert_eq!(files.map(|file| samples(&file)).sum::<usize>(), 40 * 3 * 100);
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn the_oldest_files_are_deleted() {
    let (agent, out) = agent(json!({ "folderMaxFiles": 3 }));
    fs::write(out.join("mine.selfprof.json.gz"), "").unwrap();
    fs::write(out.join("20001123T134500Z.mine.json"), "").unwrap();
    let process = agent.process("7.a");
    (0..5).for_each(|period| agent.part("7.a", "main", period));
    process.end();
    agent.export().said();
    let names = [
        "20001123T134500Z.mine.json",
        "20261123T134700Z.shop.7.a.selfprof.json.gz",
        "20261123T134800Z.shop.7.a.selfprof.json.gz",
        "20261123T134900Z.shop.7.a.selfprof.json.gz",
        "mine.selfprof.json.gz",
    ];
    assert_eq!(files(&out), names);
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn the_newest_file_stays_whatever_its_size() {
    let (agent, out) = agent(json!({ "folderMaxBytes": 1 }));
    agent.process("7.a").end();
    (0..5).for_each(|period| agent.part("7.a", "main", period));
    agent.export().said();
    assert_eq!(files(&out), ["20261123T134900Z.shop.7.a.selfprof.json.gz"]);
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_second_exporter_ends_at_once() {
    let (agent, out) = agent(json!({}));
    let process = agent.process("7.a");
    let first = agent.export();
    wait_until(|| agent.files().contains(&"exporter.lock".to_owned()));
    wait_until(|| agent.export().said().is_empty() && agent.files().len() == 3);
    process.end();
    first.said();
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn without_processes_it_ends_and_tidies_up() {
    let (agent, out) = agent(json!({}));
    assert_eq!(agent.export().said(), "");
    assert!(files(agent.parent.path()).is_empty());
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn it_ends_if_its_folder_cannot_be_deleted() {
    let (agent, out) = agent(json!({}));
    agent.process("7.a").end();
    agent.part("7.a", "main", 0);
    // A folder that is not empty is in the way.
    fs::create_dir_all(agent.parent.path().join(".own.ended/a")).unwrap();
    assert_eq!(agent.export().said(), "");
    assert_eq!(agent.files(), ["7.a.alive", "exporter.lock", "settings.json"]);
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn the_folder_and_its_settings_are_checked() {
    #[track_caller]
    fn check(agent: &Agent, expected_code: i32, expected: &str) {
        let (code, said) = agent.export().wait();
        assert_eq!(code, Some(expected_code));
        assert!(said.contains(expected), "{said}");
    }
    let (agent, out) = agent(json!({ "perod": 7 }));
    check(&agent, 2, "settings.json: unknown field `perod`, expected one of `output`, `format`, `app`");
    fs::remove_file(agent.path.join("settings.json")).unwrap();
    check(&agent, 2, "cannot read settings.json: No such file");
    Command::new("chmod").arg("777").arg(&agent.path).status().unwrap();
    check(&agent, 1, "cannot use the folder: other users can write to it");
    fs::remove_dir_all(&agent.path).unwrap();
    check(&agent, 1, "cannot use the folder: No such file");
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_is_tried_again() {
    let parent = tempfile::tempdir().unwrap();
    let out = parent.path().join("out");
    // A file is in the way.
    fs::write(&out, "").unwrap();
    let agent = Agent::new(json!({ "output": out }));
    let process = agent.process("7.a");
    agent.part("7.a", "main", 0);
    let mut exporter = agent.export();
    exporter.wait_for_message();
    fs::remove_file(&out).unwrap();
    wait_until(|| files(&out).len() == 1);
    process.end();
    let said = exporter.said();
    assert!(said.contains("and tries again: cannot write 20261123T134500Z.shop.7.a"), "{said}");
    assert!(said.ends_with("works again\n"), "{said}");
}

#[test]
fn what_was_sent_together_is_not_sent_again_in_part() {
    let (agent, out) = agent(json!({}));
    agent.process("7.a").end();
    // An exporter was killed while it deleted what it had sent.
    agent.part("7.a", "worker-1", 0);
    agent.part("7.a", "worker-2", 0);
    agent.part("7.a", "main", 1);
    agent.write(&format!("7.a.{FIRST}.sent"), b"main\nworker-1\nworker-2");
    agent.export().said();
    assert_eq!(files(&out), ["20261123T134600Z.shop.7.a.selfprof.json.gz"]);
    fs::remove_dir_all(out).unwrap();
}
