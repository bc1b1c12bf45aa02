//! The output is an endpoint.

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::agent::{Agent, FIRST, journal_with_routes, wait_until};
use crate::server::{Request, Server, respond};

/// An agent with one process that has ended, and parts of its main thread.
fn ended(url: &str, periods: u64, mut settings: serde_json::Value) -> Agent {
    settings["output"] = json!(url);
    let agent = Agent::new(settings);
    agent.process("7.a").end();
    (0..periods).for_each(|period| agent.part("7.a", "main", period));
    agent
}

/// The ids of the profiles in requests.
fn ids(requests: &[Request]) -> Vec<String> {
    let lines = requests.iter().flat_map(Request::lines);
    lines.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_thread_and_period_is_a_line() {
    let server = Server::with_status("202 Accepted", "");
    let settings = json!({
        "output": server.url(), "release": "1.4", "environment": "test", "key": "a&b", "headers": { "X-Team": "shop" },
    });
    let agent = Agent::new(settings);
    agent.process("7.a").end();
    agent.part("7.a", "worker-1", 0);
    agent.part("7.a", "main", 0);
    agent.journal("7.a", "main", 1);
    assert_eq!(agent.export().said(), "");
    let requests = server.all();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].path, "/v1/profiles?key=a%26b");
    assert_eq!(requests[0].header("x-team"), Some("shop"));
    assert_eq!(requests[0].header("content-encoding"), Some("gzip"));
    let expected = format!("7.a.main.{FIRST}.1795441500000.0");
    assert_eq!(
        ids(&requests),
        [
            expected.clone(),
            format!("7.a.worker-1.{FIRST}.1795441500005.0"),
            format!("7.a.main.{}.1795441500000.0", FIRST + 1),
        ]
    );
    let lines: Vec<_> = requests.iter().flat_map(Request::lines).collect();
    let mut first = lines[0].clone();
    let trace = first["trace"].take();
    assert_eq!(trace["samples"].as_array().unwrap().len(), 100);
    let session = first["session"].take();
    assert!(session.as_str().unwrap().ends_with(&format!(" 7.a {FIRST}")));
    assert_eq!(lines[1]["session"], session);
    assert_ne!(lines[2]["session"], session);
    assert_eq!(
        first,
        json!({
            "id": expected, "app": "shop", "release": "1.4", "environment": "test", "session": null,
            "browser": "Node.js 24", "device": "server", "time": 1_795_441_500_000.0, "trace": null,
        })
    );
}

#[test]
fn each_route_is_a_page() {
    let check = |settings: serde_json::Value, expected: &[(Option<&str>, usize)]| {
        let server = Server::with_status("202 Accepted", "");
        let agent = ended(&server.url(), 0, settings);
        agent.write("7.a.main.journal", &journal_with_routes("7.a", &["/cart", "/cart", "/", "", "/cart"]));
        assert_eq!(agent.export().said(), "");
        let requests = server.all();
        let lines: Vec<_> = requests.iter().flat_map(Request::lines).collect();
        let stacks = |line: &serde_json::Value| {
            let samples = line["trace"]["samples"].as_array().unwrap().iter();
            samples.filter(|sample| sample["stackId"].is_number()).count()
        };
        let pages: Vec<_> = lines.iter().map(|line| (line["page"].as_str(), stacks(line))).collect();
        assert_eq!(pages, expected);
        assert!(lines.iter().all(|line| line["session"] == lines[0]["session"]));
        let mut ids = ids(&requests);
        ids.dedup();
        assert_eq!(ids.len(), expected.len());
    };
    check(json!({}), &[(None, 1), (Some("/cart"), 3), (Some("/"), 1)]);
    check(json!({ "labels": false }), &[(None, 5)]);
}

#[test]
fn many_pages_are_several_requests_that_go_on_where_they_were() {
    let server = Server::start(|count, stream| match count {
        2 | 3 => respond(stream, "429 Too Many Requests", "retry-after: 0\r\n", ""),
        _ => respond(stream, "202 Accepted", "", "{}"),
    });
    let agent = ended(&server.url(), 0, json!({}));
    let routes: Vec<String> = (0..70).map(|number| format!("/{number}")).collect();
    let routes: Vec<&str> = routes.iter().map(String::as_str).collect();
    agent.write("7.a.main.journal", &journal_with_routes("7.a", &routes));
    assert_eq!(agent.export().said(), "");
    let requests = server.all();
    let counts: Vec<usize> = requests.iter().map(|request| request.lines().len()).collect();
    assert_eq!(counts, [20, 20, 20, 20, 20, 11]);
    let mut ids = ids(&requests);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 71);
}

#[test]
fn a_server_that_is_busy_gets_it_later() {
    let server = Server::start(|count, stream| match count {
        0 => respond(stream, "503 Service Unavailable", "retry-after: 1\r\n", "no room"),
        1 => respond(stream, "429 Too Many Requests", "", ""),
        // It closes the connection without an answer.
        2 => {}
        _ => respond(stream, "202 Accepted", "", "{}"),
    });
    let agent = ended(&server.url(), 2, json!({}));
    let started = Instant::now();
    let said = agent.export().said();
    assert!(started.elapsed() >= Duration::from_secs(1));
    let url = server.url();
    assert_eq!(
        said,
        format!(
            "selfprof agent: cannot send to {url}/, and tries again: the answer is 503: no room\n\
         selfprof agent: sending to {url}/ works again\n"
        )
    );
    let ids = ids(&server.all());
    assert_eq!(ids.len(), 5);
    assert!(ids[..4].iter().all(|id| *id == ids[0]) && ids[4] != ids[0], "{ids:?}");
}

#[test]
fn what_is_refused_is_not_sent_again() {
    let server = Server::start(|_, stream| respond(stream, "400 Bad Request", "", "trace \u{1b}[1m"));
    let said = ended(&server.url(), 3, json!({})).export().said();
    assert_eq!(
        said,
        format!(
            "selfprof agent: {}/ refuses profiles, which are dropped: the answer is 400: trace  [1m\n",
            server.url()
        )
    );
    assert_eq!(server.all().len(), 3);
}

#[test]
fn a_refused_profile_among_others_is_told_once() {
    let answer =
        r#"{"accepted":0,"known":0,"refused":["profile 1: trace has a stack of more than 1024 frames"]}"#;
    let server = Server::start(move |_, stream| respond(stream, "202 Accepted", "", answer));
    let said = ended(&server.url(), 3, json!({})).export().said();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("the collector has refused 1 profiles: profile 1: trace has a stack of"), "{said}");
}

#[test]
fn redirects_are_followed_without_secrets() {
    let other = Server::with_status("202 Accepted", "");
    let location = format!("{}/other", other.url());
    let server = Server::start(move |count, stream| match count {
        0 => respond(stream, "307 Temporary Redirect", "location: /again?a=b\r\n", ""),
        _ => respond(stream, "308 Permanent Redirect", &format!("location: {location}\r\n"), ""),
    });
    let url = server.url().replace("http://", "http://user:word@");
    let settings = json!({ "key": "secret", "headers": { "X-Secret": "secret" } });
    assert_eq!(ended(&url, 1, settings).export().said(), "");
    let (requests, others) = (server.all(), other.all());
    assert_eq!((requests.len(), others.len()), (2, 1));
    assert_eq!(requests[1].path, "/again?a=b");
    for request in &requests {
        assert_eq!(request.header("x-secret"), Some("secret"));
        assert_eq!(request.header("authorization"), Some("Basic dXNlcjp3b3Jk"));
    }
    assert_eq!(others[0].path, "/other");
    let head = others[0].head.join("\n");
    assert!(!head.contains("secret") && !head.contains("authorization"), "{head}");
    assert_eq!(ids(&others).len(), 1);
}

#[test]
fn redirects_end() {
    let server = Server::with_status("307 Temporary Redirect", "location: /v1/profiles\r\n");
    let agent = ended(&server.url(), 1, json!({ "spool": true }));
    let exporter = agent.export();
    wait_until(|| server.requests.recv().is_ok());
    exporter.terminate();
    let said = exporter.said();
    assert!(said.contains("tries again: redirect: there are more than 3"), "{said}");
    assert!(said.contains("1 profiles (2 KiB) were not sent and stay in"), "{said}");
}

#[test]
fn an_answer_without_end_is_not_read() {
    let server = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\n\r\n");
        while stream.write_all(&[b' '; 4096]).is_ok() {}
    });
    let agent = ended(&server.url(), 2, json!({}));
    assert_eq!(agent.export().said(), "");
    assert_eq!(server.all().len(), 2);
}

#[test]
fn a_head_without_end_is_a_failure() {
    let server = Server::start(|count, stream| match count {
        0 => {
            let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\n");
            while stream.write_all(b"x-a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n").is_ok() {}
        }
        _ => respond(stream, "202 Accepted", "", ""),
    });
    let said = ended(&server.url(), 1, json!({})).export().said();
    assert!(said.contains("tries again") && said.contains("works again"), "{said}");
}

#[test]
fn a_server_that_does_not_answer_holds_nothing_up() {
    let server = Server::start(|_, _| std::thread::sleep(Duration::from_secs(60)));
    let agent = ended(&server.url(), 2, json!({}));
    let started = Instant::now();
    let said = agent.export().said();
    // 10 seconds after the last process.
    assert!((9..25).contains(&started.elapsed().as_secs()), "{said}");
    assert_eq!(said, "selfprof agent: 2 profiles (4 KiB) were not sent and are dropped\n");
    assert!(!agent.path.exists());
}

#[test]
fn a_signal_ends_it_and_deletes_nothing() {
    let server = Server::with_status("500 Internal Server Error", "");
    let agent = Agent::new(json!({ "output": server.url() }));
    let process = agent.process("7.a");
    // The others of this period are not there yet.
    agent.part("7.a", "main", 0);
    agent.journal("7.a", "worker-1", 0);
    let exporter = agent.export();
    wait_until(|| agent.files().contains(&"exporter.lock".to_owned()));
    exporter.terminate();
    // It would wait for the process, which may have got a signal, too.
    let mut requests = vec![server.requests.recv().unwrap()];
    exporter.terminate();
    let said = exporter.said();
    assert!(said.contains("1 profiles (2 KiB) were not sent and stay in"), "{said}");
    requests.extend(server.all());
    assert_eq!(requests.len(), 1);
    let part = format!("7.a.main.{FIRST}.finished");
    assert_eq!(agent.files(), ["7.a.alive", &part, "7.a.worker-1.journal", "exporter.lock", "settings.json"]);
    drop(process);
}

#[test]
fn after_a_signal_the_last_parts_of_processes_are_sent() {
    let server = Server::with_status("202 Accepted", "");
    let agent = Agent::new(json!({ "output": server.url() }));
    let process = agent.process("7.a");
    agent.part("7.a", "main", 0);
    let exporter = agent.export();
    server.requests.recv().unwrap();
    exporter.terminate();
    agent.journal("7.a", "main", 1);
    process.end();
    assert_eq!(exporter.said(), "");
    assert_eq!(server.all().len(), 1);
    assert!(!agent.path.exists());
}

#[test]
fn too_much_that_waits_is_dropped() {
    let server = Server::start(|count, stream| match count {
        0 => respond(stream, "503 Service Unavailable", "retry-after: 5\r\n", ""),
        _ => respond(stream, "202 Accepted", "", ""),
    });
    let agent = Agent::new(json!({ "output": server.url(), "maxBytes": 10_000 }));
    let process = agent.process("7.a");
    agent.part("7.a", "main", 0);
    let exporter = agent.export();
    wait_until(|| server.requests.recv().is_ok());
    (1..50).for_each(|period| agent.part("7.a", "main", period));
    wait_until(|| agent.files().len() < 4);
    process.end();
    let said = exporter.said();
    assert!(said.contains("more than 10 KiB wait to be sent; the oldest profiles are dropped\n"), "{said}");
    assert!(said.contains("were dropped, because too many waited\n"), "{said}");
    // The newest are those that are left.
    let ids = ids(&server.all());
    assert!(ids.len() < 10 && ids.last().unwrap().contains(&format!(".{}.", FIRST + 49)), "{ids:?}");
}

#[test]
fn a_spool_folder_is_taken_over() {
    let down = ended("http://127.0.0.1:1", 2, json!({ "spool": true, "release": "1.3" }));
    let mut exporter = down.export();
    exporter.wait_for_message();
    exporter.terminate();
    let said = exporter.said();
    assert!(said.contains("2 profiles (4 KiB) were not sent and stay in"), "{said}");

    let server = Server::with_status("202 Accepted", "");
    // What the earlier release could not send goes to where the settings said.
    let old = fs::read_to_string(down.path.join("settings.json")).unwrap();
    down.write("settings.json", old.replace("http://127.0.0.1:1", &server.url()).as_bytes());
    // One is in use, and one is of somebody else's program.
    let used = down.beside("used", json!({ "output": server.url(), "spool": true }));
    let used_process = used.process("9.c");
    used.part("9.c", "main", 0);
    fs::create_dir(down.parent.path().join("other")).unwrap();

    let settings = json!({ "output": server.url(), "spool": true, "release": "1.4", "key": "new" });
    let next = down.beside("next", settings);
    next.process("8.b").end();
    next.part("8.b", "main", 2);
    assert_eq!(next.export().said(), "");
    let requests = server.all();
    let mut releases: Vec<_> =
        requests.iter().flat_map(Request::lines).map(|line| line["release"].clone()).collect();
    releases.sort_by_key(ToString::to_string);
    assert_eq!(releases, ["1.3", "1.3", "1.4"]);
    assert!(requests.iter().all(|request| request.path.ends_with("?key=new")));
    assert_eq!(crate::agent::files(down.parent.path()), ["other", "used"]);
    drop(used_process);
}

#[test]
fn what_has_waited_in_a_spool_folder_for_too_long_is_dropped() {
    let server = Server::with_status("202 Accepted", "");
    let old = ended(&server.url(), 2, json!({ "spool": true }));
    let next = old.beside("next", json!({ "output": server.url(), "spool": true, "spoolMaxAge": 0 }));
    // The times of these parts are in the past or in the future, depending on when this test runs.
    let name = "7.a.main.5.finished";
    fs::rename(old.path.join(format!("7.a.main.{FIRST}.finished")), old.path.join(name)).unwrap();
    next.process("8.b").end();
    let said = next.export().said();
    assert!(said.contains("profiles were not sent in time and are dropped"), "{said}");
    assert!(server.all().len() < 2);
}

#[test]
fn memory_does_not_grow_with_what_is_sent() {
    let server = Server::with_status("202 Accepted", "");
    let agent = Agent::new(json!({ "output": server.url() }));
    let process = agent.process("7.a");
    let exporter = agent.export();
    let peak = || {
        let status = fs::read_to_string(format!("/proc/{}/status", exporter.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().to_owned();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let mut sent = 0;
    let mut send = |periods: std::ops::Range<u64>| {
        let count = periods.end - periods.start;
        periods.for_each(|period| agent.part("7.a", "main", period));
        for _ in 0..count {
            server.requests.recv().unwrap();
            sent += 1;
        }
    };
    send(0..100);
    let before = peak();
    send(100..1_000);
    let after = peak();
    process.end();
    exporter.said();
    assert_eq!(sent, 1_000);
    assert!(after < before + 4_096, "from {before} to {after} KiB");
}
