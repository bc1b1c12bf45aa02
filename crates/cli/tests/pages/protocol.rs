//! Tests of the WebDriver protocol with raw HTTP: values, errors, and sessions that must not disturb others.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{iter, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Session};
use crate::page_server::PageServer;
use crate::processes::{TIMEOUT, await_end, children};
use crate::selfprof;

const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
const WINDOW: &str = "window-fcc6-11e5-b4f8-330a88ab9d7f";
const FRAME: &str = "frame-075b-4da1-b6ba-e579c2d3230a";

/// Opens a page with this HTML in a new session.
fn open<'e>(endpoint: &'e Endpoint, html: &str) -> Session<'e> {
    let session = endpoint.session();
    let encoded: String = url::form_urlencoded::byte_serialize(html.as_bytes()).collect();
    session.post("/url", json!({ "url": format!("data:text/html,{}", encoded.replace('+', "%20")) }));
    session
}

#[test]
fn script_results_are_json_with_references() {
    let endpoint = Endpoint::start();
    let session = open(&endpoint, "<p id=p>text</p><iframe></iframe>");
    #[track_caller]
    fn check(session: &Session<'_>, script: &str, expected: Value) {
        assert_eq!(session.run(script, json!([])), expected, "{script}");
    }
    check(&session, "", Value::Null);
    check(&session, "return undefined", Value::Null);
    check(
        &session,
        "return [true, -1.5, 'a\\u2028\"', null, NaN]",
        json!([true, -1.5, "a\u{2028}\"", null, null]),
    );
    check(&session, "return { a: { b: [] }, f() {}, [Symbol()]: 1 }", json!({ "a": { "b": [] }, "f": {} }));
    check(&session, "return { toJSON() { return 'own'; } }", json!("own"));
    check(&session, "return arguments", json!([]));
    check(&session, "return document.querySelectorAll('p').length", json!(1));
    check(&session, "return Promise.resolve(7)", json!(7));
    check(&session, "return { then(done) { done('thenable'); } }", json!("thenable"));
    check(&session, "Array.prototype.push = Object.prototype.toJSON = undefined; return [[1]]", json!([[1]]));

    let paragraph = session.run("return document.querySelectorAll('p')", json!([]))[0].clone();
    assert!(paragraph[ELEMENT].is_string(), "{paragraph}");
    assert_eq!(paragraph, session.post("/element", json!({ "using": "css selector", "value": "#p" })));
    assert_eq!(
        session.run("return arguments[0].deep[0].textContent", json!([{ "deep": [paragraph] }])),
        "text"
    );
    let handle = session.get("/window");
    assert_eq!(session.run("return window", json!([])), json!({ WINDOW: handle }));
    assert_eq!(session.run("return arguments[0] === window", json!([{ WINDOW: handle }])), true);
    let frame = session.run("return frames[0]", json!([]));
    assert!(frame[FRAME].is_string(), "{frame}");
    assert_eq!(session.run("return arguments[0] === frames[0]", json!([frame])), true);

    let later = "const [value, done] = arguments; setTimeout(() => done(value), 1)";
    assert_eq!(session.post("/execute/async", json!({ "script": later, "args": [[1, 2]] })), json!([1, 2]));
}

#[test]
fn failing_scripts_are_javascript_errors() {
    let endpoint = Endpoint::start();
    let session = open(&endpoint, "<p id=p></p>");
    #[track_caller]
    fn check(session: &Session<'_>, script: &str, code: &str, message: &str) {
        for path in ["/execute/sync", "/execute/async"] {
            let (actual, text) = session.fails("POST", path, json!({ "script": script, "args": [] }));
            assert!(actual == code && text.contains(message), "{script}: {actual}: {text}");
        }
    }
    check(&session, "throw new RangeError('mine')", "javascript error", "RangeError: mine");
    check(&session, "throw 5", "javascript error", "the page threw 5");
    check(&session, "return Promise.reject(new TypeError('later'))", "javascript error", "TypeError: later");
    check(&session, "not a script", "javascript error", "SyntaxError");
    let done = "const done = arguments.length ? arguments[0] : (v) => v; ";
    for (value, message) in [
        ("const o = {}; o.o = [o]; return Promise.resolve(o).then(done)", "cyclic"),
        ("return Promise.resolve(10n).then(done)", "bigint"),
        (
            "const o = { get a() { throw new Error('getter'); } }; return Promise.resolve(o).then(done)",
            "getter",
        ),
        (
            "let o = {}; for (let i = 0; i < 1000; i++) o = { o }; return Promise.resolve(o).then(done)",
            "nested",
        ),
    ] {
        check(&session, &format!("{done}{value}"), "javascript error", message);
    }
    let stale = "const p = document.getElementById('p'); p.remove(); return p";
    let (code, _) = session.fails("POST", "/execute/sync", json!({ "script": stale, "args": [] }));
    assert_eq!(code, "stale element reference");
    let (code, _) = session.fails("POST", "/execute/sync", json!({ "script": "" }));
    assert_eq!(code, "invalid argument");
}

#[test]
fn references_are_valid_in_their_own_document_only() {
    let endpoint = Endpoint::start();
    let session = open(&endpoint, "<p id=p></p><iframe></iframe>");
    let paragraph = session.post("/element", json!({ "using": "css selector", "value": "p" }));
    let path = format!("/element/{}/text", paragraph[ELEMENT].as_str().unwrap());
    session.get(&path);
    let fails = |path: &str| session.fails("GET", path, json!({})).0;
    assert_eq!(fails("/element/nonsense/text"), "no such element");
    assert_eq!(fails("/element/window1.2.0.99/text"), "no such element");
    assert_eq!(fails("/element/window1.2.0.-1/text"), "no such element");
    session.post("/frame", json!({ "id": 0 }));
    assert_eq!(fails(&path), "no such element");
    session.post("/frame/parent", json!({}));
    session.run("document.getElementById('p').remove()", json!([]));
    assert_eq!(fails(&path), "stale element reference");
    session.post("/refresh", json!({}));
    assert_eq!(fails(&path), "stale element reference");
}

#[test]
fn frames_are_entered_and_removed() {
    let endpoint = Endpoint::start();
    let session = open(&endpoint, "<title>outer</title><iframe id=f srcdoc='<p>inner</p>'></iframe>");
    assert_eq!(session.fails("POST", "/frame", json!({ "id": 1 })).0, "no such frame");
    let frame = session.post("/element", json!({ "using": "tag name", "value": "iframe" }));
    session.post("/frame", json!({ "id": frame }));
    assert!(session.get("/source").as_str().unwrap().contains("inner"));
    assert_eq!(session.get("/title"), "outer");
    session.run("parent.document.getElementById('f').remove()", json!([]));
    assert_eq!(session.fails("GET", "/source", json!({})).0, "no such window");
    assert_eq!(session.fails("POST", "/forcesample", json!({})).0, "no such window");
    session.post("/frame", json!({ "id": null }));
    session.post("/forcesample", json!({}));
}

/// What a page returns, logs or throws does not end the session.
#[test]
fn values_that_are_not_unicode_or_nested_deeply_do_not_end_the_session() {
    let endpoint = Endpoint::start();
    let session = open(&endpoint, "<p id=p></p>");
    let execute =
        |script: &str| session.send("POST", "/execute/sync", &json!({ "script": script, "args": [] }));
    for (script, expected) in [
        (r"return '\ud800'", json!("\u{FFFD}")),
        (r"return { '\udfff': ['\\\ud800x'] }", json!({ "\u{FFFD}": ["\\\u{FFFD}x"] })),
        (r"console.log('\ud800'); document.title = '\ud800'; return document.title.length", json!(1)),
    ] {
        assert_eq!(execute(script), (200, expected), "{script}");
    }
    let (status, value) = execute(r"throw new Error('\ud800')");
    assert_eq!((status, &value["error"]), (500, &json!("javascript error")));
    assert_eq!(session.get("/title"), json!("\u{FFFD}"));
    for depth in [90, 99, 120, 127, 128, 129, 190, 199, 201, 5_000] {
        let (status, value) =
            execute(&format!("let o = 1; for (let i = 0; i < {depth}; i++) o = [o]; return o"));
        assert_eq!(status, if depth <= 100 { 200 } else { 500 }, "{depth}: {value}");
    }
    // A page that has replaced the code that answers sends what it likes.
    let (status, _) = execute(
        "let dom = setTimeout; for (let next = dom; next !== null; next = Object.getPrototypeOf(next)) dom = next;
        const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
        dom.__defineSetter__('text', function () {
            Object.defineProperty(this, 'text', { value: deep, enumerable: true, configurable: true });
        });
        dom.__defineGetter__('toJSON', () => () => deep); return 1",
    );
    assert!(status == 200 || status == 500);
    assert_eq!(execute("return 1 + 1").1, json!(2));
}

#[test]
fn invalid_requests_are_webdriver_errors() {
    let endpoint = Endpoint::start();
    let session = endpoint.session();
    #[track_caller]
    fn check((status, value): (u16, Value), expected: (u16, &str)) {
        assert_eq!((status, value["error"].as_str().unwrap_or_default()), expected, "{value}");
        assert!(value["message"].is_string() && value["stacktrace"].is_string(), "{value}");
    }
    let send = |method: &str, path: &str, body: Value| endpoint.command(method, path, &body);
    check(send("GET", "/", json!({})), (404, "unknown command"));
    check(send("POST", "/session/x/forcesamples", json!({})), (404, "unknown command"));
    check(session.send("GET", "/forcesample", &json!({})), (405, "unknown method"));
    check(send("POST", "/session/nobody/forcesample", json!({})), (404, "invalid session id"));
    check(send("DELETE", "/session/nobody", json!({})), (404, "invalid session id"));
    check(send("POST", "/session", json!({})), (400, "invalid argument"));
    check(send("POST", "/session", json!({ "capabilities": [] })), (400, "invalid argument"));
    let new_session =
        |required: Value| send("POST", "/session", json!({ "capabilities": { "alwaysMatch": required } }));
    check(new_session(json!({ "browserName": "firefox" })), (500, "session not created"));
    check(new_session(json!({ "timeouts": { "script": -1 } })), (400, "invalid argument"));
    check(new_session(json!({ "unheardOf": true })), (400, "invalid argument"));
    check(session.send("POST", "/url", &json!({ "url": "no/scheme" })), (400, "invalid argument"));
    check(session.send("POST", "/url", &json!({ "url": "http://127.0.0.1:2/" })), (500, "unknown error"));
    check(
        session.send("POST", "/element", &json!({ "using": "css selector", "value": "((" })),
        (400, "invalid selector"),
    );
    check(
        session.send("POST", "/element", &json!({ "using": "xpath", "value": "((" })),
        (400, "invalid selector"),
    );
    check(
        session.send("POST", "/element", &json!({ "using": "smell", "value": "x" })),
        (400, "invalid argument"),
    );
    check(session.send("POST", "/window", &json!({ "handle": "none" })), (404, "no such window"));
    check(session.send("GET", "/screenshot", &json!({})), (500, "unsupported operation"));
    check(session.send("POST", "/actions", &json!({ "actions": [] })), (500, "unsupported operation"));
    check(session.send("GET", "/alert/text", &json!({})), (404, "no such alert"));

    let host = format!("host: {}", endpoint.address);
    let json_type = "content-type: application/json";
    let path = format!("/session/{}/forcesample", session.id);
    let raw = |headers: &[&str], body: &[u8]| endpoint.send("POST", &path, headers, body);
    check(raw(&[&host, json_type], b"{"), (400, "invalid argument"));
    check(raw(&[&host, json_type], b"null"), (400, "invalid argument"));
    check(raw(&[&host, json_type], b"\xff"), (400, "invalid argument"));
    check(raw(&[&host, "content-type: text/plain"], b"{}"), (403, "unknown error"));
    check(raw(&[&host, json_type, "origin: http://localhost"], b"{}"), (403, "unknown error"));
    check(raw(&["host: rebound.test", json_type], b"{}"), (403, "unknown error"));
    check(raw(&[json_type], b"{}"), (403, "unknown error"));
    assert_eq!(raw(&[&host, json_type], b"{}"), (200, Value::Null));
}

#[test]
fn an_endless_loop_times_out_without_disturbing_other_sessions() {
    let endpoint = Endpoint::start();
    let timeouts = json!({ "capabilities": { "alwaysMatch": { "timeouts": { "script": 2000 } } } });
    let stuck = endpoint.session_with(&timeouts);
    let free = endpoint.session();
    thread::scope(|scope| {
        let endless = scope
            .spawn(|| stuck.fails("POST", "/execute/sync", json!({ "script": "for (;;);", "args": [] })));
        for _ in 0..3 {
            assert_eq!(free.run("return 1 + 1", json!([])), 2);
        }
        assert_eq!(endless.join().unwrap().0, "script timeout");
    });
    let (code, message) = stuck.fails("GET", "/title", json!({}));
    assert!(code == "unknown error" && message.contains("navigate to continue"), "{code}: {message}");
    stuck.post("/url", json!({ "url": "data:text/html,<title>again</title>" }));
    assert_eq!(stuck.get("/title"), "again");
    // A promise that never settles fails its own command only.
    let never = json!({ "script": "globalThis.kept = 1; return new Promise(() => {})", "args": [] });
    assert_eq!(stuck.fails("POST", "/execute/sync", never).0, "script timeout");
    assert_eq!(stuck.run("return kept", json!([])), 1);
    // A loop in the page's own task makes the next command time out; that command may come before the loop starts.
    stuck.run("setTimeout(() => { for (;;); })", json!([]));
    let looped = || stuck.send("POST", "/forcesample", &json!({}));
    let (_, error) = iter::repeat_with(looped).find(|(status, _)| *status != 200).unwrap();
    assert_eq!(error["error"], "timeout");
    // An endless loop during a load times out, too.
    stuck.post("/timeouts", json!({ "pageLoad": 500 }));
    let endless = json!({ "url": "data:text/html,<script>for (;;);</script>" });
    assert_eq!(stuck.fails("POST", "/url", endless).0, "timeout");
}

/// Nobody knows the ids of their sessions.
#[test]
fn sessions_of_clients_that_disconnect_end() {
    let endpoint = Endpoint::start();
    let body = r#"{"capabilities":{}}"#;
    let head = format!(
        "POST /session HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        endpoint.address,
        body.len()
    );
    let connect = |_| {
        let mut stream = TcpStream::connect(&endpoint.address).unwrap();
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
    };
    let streams: Vec<TcpStream> = (0..32).map(connect).collect();
    let await_readiness = |expected: bool| {
        let start = Instant::now();
        while endpoint.command("GET", "/status", &json!({})).1["ready"] != expected {
            assert!(start.elapsed() < TIMEOUT, "it is ready: {}", !expected);
            thread::sleep(Duration::from_millis(1));
        }
    };
    // Those that are being started count.
    await_readiness(false);
    let (_, value) = endpoint.command("POST", "/session", &json!({ "capabilities": {} }));
    assert_eq!(value["message"], "the maximum of 32 sessions is open or being started");
    drop(streams);
    await_readiness(true);
    children(endpoint.process.id()).into_iter().for_each(await_end);
    assert_eq!(endpoint.command("GET", "/status", &json!({})).1["message"], "0 sessions are open");
}

#[test]
fn a_busy_session_can_be_deleted() {
    let endpoint = Endpoint::start();
    let session = endpoint.session();
    session.post("/timeouts", json!({ "script": null }));
    let hosts = children(endpoint.process.id());
    assert_eq!(hosts.len(), 1);
    thread::scope(|scope| {
        let endless = scope
            .spawn(|| session.fails("POST", "/execute/sync", json!({ "script": "for (;;);", "args": [] })));
        assert_eq!(
            endpoint.command("DELETE", &format!("/session/{}", session.id), &json!({})),
            (200, Value::Null)
        );
        // The script may have arrived before the session was deleted, or after.
        assert_eq!(endless.join().unwrap().0, "invalid session id");
    });
    await_end(hosts[0]);
    // Closing the last window deletes the session.
    let session = endpoint.session();
    assert_eq!(session.send("DELETE", "/window", &json!({})), (200, json!([])));
    assert_eq!(session.fails("GET", "/title", json!({})).0, "invalid session id");
    assert_eq!(children(endpoint.process.id()), Vec::<u32>::new());
}

#[test]
fn a_signal_ends_the_server_and_its_page_hosts() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let mut endpoint = Endpoint::start();
        let session = endpoint.session();
        session.run("setTimeout(() => { for (;;); })", json!([]));
        let hosts = children(endpoint.process.id());
        assert_eq!(hosts.len(), 1);
        kill_process(Pid::from_child(&endpoint.process), signal).unwrap();
        let status = endpoint.process.wait().unwrap();
        assert_eq!(status.code(), (signal != Signal::KILL).then_some(0));
        await_end(hosts[0]);
    }
}

#[test]
fn a_page_leaves_no_connection_open() {
    let endpoint = Endpoint::start();
    let port = endpoint.address.split(':').nth(1).unwrap();
    let ask = |headers: &[&str]| {
        let mut stream = TcpStream::connect(&endpoint.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        write!(stream, "GET /status HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n")).unwrap();
        let mut bytes = Vec::new();
        let is_closed = stream.read_to_end(&mut bytes).is_ok();
        let response = String::from_utf8(bytes).unwrap();
        (response.split(' ').nth(1).unwrap().to_owned(), is_closed)
    };
    let host = format!("host: {}", endpoint.address);
    assert_eq!(ask(&[&host]), ("200".to_owned(), false));
    assert_eq!(ask(&[&host, "sec-fetch-site: cross-site"]), ("200".to_owned(), true));
    assert_eq!(ask(&[&format!("host: name.localhost:{port}")]), ("403".to_owned(), true));
}

#[test]
fn a_signal_that_nohup_ignores_ends_nothing() {
    let command = selfprof();
    let mut nohup = Command::new("nohup");
    nohup
        .arg(command.get_program())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut endpoint = Endpoint::start_by(nohup);
    let process = Pid::from_child(&endpoint.process);
    kill_process(process, Signal::HUP).unwrap();
    endpoint.session().get("/title");
    // Others are not ignored.
    kill_process(process, Signal::TERM).unwrap();
    assert!(endpoint.process.wait().unwrap().success());
}

#[test]
fn a_dead_page_host_is_an_error() {
    let endpoint = Endpoint::start();
    let session = endpoint.session();
    let hosts = children(endpoint.process.id());
    kill_process(Pid::from_raw(hosts[0].try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    let (code, message) = session.fails("GET", "/title", json!({}));
    assert_eq!((code.as_str(), message.as_str()), ("unknown error", "the page host has ended"));
    endpoint.session().get("/title");
}

#[test]
fn cookies_belong_to_the_document() {
    let endpoint = Endpoint::start();
    let session = endpoint.session();
    let add = |cookie: Value| session.send("POST", "/cookie", &json!({ "cookie": cookie }));
    assert_eq!(add(json!({ "name": "a", "value": "1" })).1["error"], "invalid cookie domain");
    let site = PageServer::serve(&[("/", "")]);
    session.post("/url", json!({ "url": site.url("/") }));
    assert_eq!(add(json!({ "name": "a", "value": "1" })), (200, Value::Null));
    assert_eq!(add(json!({ "name": "b", "value": "2", "httpOnly": true })), (200, Value::Null));
    assert_eq!(
        add(json!({ "name": "c", "value": "3", "domain": "other.test" })).1["error"],
        "invalid cookie domain"
    );
    assert_eq!(add(json!({ "name": "c", "value": "3; Path=/x" })).1["error"], "invalid argument");
    assert_eq!(session.run("return document.cookie", json!([])), "a=1");
    assert_eq!(session.get("/cookie/b")["httpOnly"], true);
    assert_eq!(session.get("/cookie").as_array().unwrap().len(), 2);
    assert_eq!(session.send("DELETE", "/cookie/b", &json!({})), (200, Value::Null));
    assert_eq!(session.fails("GET", "/cookie/b", json!({})).0, "no such cookie");
    assert_eq!(session.send("DELETE", "/cookie", &json!({})), (200, Value::Null));
    assert_eq!(session.run("return document.cookie", json!([])), "");
}
