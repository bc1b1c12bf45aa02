//! `selfprof doctor` with servers on this machine.

use crate::server::{Certificates, Request, Server};
use crate::support::{output, selfprof, text};

/// Starts a server that answers paths. Returns its address.
fn serve(answer: impl Fn(&str) -> (String, String) + Clone + Send + 'static) -> String {
    Server::start(move |request: &Request| answer(&request.path)).address.to_string()
}

/// Runs `selfprof doctor` and returns its exit code, its stdout and its stderr.
fn doctor(url: &str) -> (Option<i32>, String, String) {
    let output = output(selfprof().args(["doctor", url]));
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_page_that_can_be_profiled() {
    let address = serve(|path| match path {
        "/" => ("302 Found\r\nlocation: /shop\r\n".into(), String::new()),
        "/shop" => (
            "200 OK\r\ndocument-policy: js-profiling\r\n".into(),
            "<base href='/assets/'><script src=app.js></script><script>inline()</script>".into(),
        ),
        "/assets/app.js" => ("200 OK\r\n".into(), "start();".into()),
        _ => ("404 Not Found\r\n".into(), String::new()),
    });
    let (code, found, messages) = doctor(&format!("http://{address}/"));
    assert_eq!(code, Some(0), "{found}{messages}");
    assert!(found.starts_with(&format!("http://{address}/shop\n  ok  ")), "{found}");
    assert!(found.contains("1 script was looked at") && !found.contains("warning"), "{found}");
}

#[test]
fn a_page_that_cannot_be_profiled() {
    let cdn = serve(|path| {
        let allowed = if path == "/b.js" { "access-control-allow-origin: *\r\n" } else { "" };
        (format!("200 OK\r\n{allowed}"), "f();".repeat(1_000))
    });
    let address = serve(move |path| match path {
        "/" => (
            "200 OK\r\ndocument-policy-report-only: js-profiling\r\n".into(),
            format!(
                "<script src=http://{cdn}/a.js?key=secret></script><script crossorigin src=//{cdn}/b.js></script>\
                 <script src=/missing.js></script><script src='ftp://a.test/\u{1b}[31m'></script>"
            ),
        ),
        _ => ("404 Not Found\r\n".into(), String::new()),
    });
    let (code, found, messages) = doctor(&format!("http://{address}/"));
    assert_eq!(code, Some(1), "{messages}");
    for expected in [
        "problem  js-profiling is in Document-Policy-Report-Only",
        "/a.js is of another origin and loaded without CORS",
        "/b.js is minified and names no source map",
        "/missing.js cannot be fetched: the server answers with status 404",
        "ftp: URLs are not looked at",
    ] {
        assert!(found.contains(expected), "{expected}:\n{found}");
    }
    assert!(!found.contains("secret") && !found.contains('\u{1b}'), "{found}");
}

#[test]
fn servers_that_are_hostile_or_not_there() {
    let address = serve(|_| ("200 OK\r\n".into(), "<script ".repeat(2 << 20)));
    let (code, _, messages) = doctor(&format!("http://{address}/"));
    assert_eq!(code, Some(1));
    assert!(messages.contains("it has more than 8 MiB"), "{messages}");
    let address = serve(|_| ("200 OK\r\n".into(), "<script src=/a>".repeat(50_000)));
    let (code, found, _) = doctor(&format!("http://{address}/"));
    assert_eq!(code, Some(1));
    assert!(found.contains("the header Document-Policy is missing"), "{found}");
    assert!(doctor("http://127.0.0.1:9/").2.contains("cannot fetch http://127.0.0.1:9/"));
    assert_eq!(doctor("file:///etc/passwd").0, Some(2));
    assert_eq!(doctor("--help").0, Some(0));
}

#[test]
fn a_page_with_tls() {
    let certificates = Certificates::new(&["localhost"]);
    let server = Server::with_tls(&certificates, |request: &Request| match request.path.as_str() {
        "/" => ("200 OK\r\ndocument-policy: js-profiling\r\n".into(), "<script src=/app.js></script>"),
        _ => ("200 OK\r\n".into(), "start();"),
    });
    let url = format!("https://localhost:{}/", server.address.port());
    let looked_at = output(selfprof().env("SSL_CERT_FILE", certificates.authority()).args(["doctor", &url]));
    assert_eq!(looked_at.status.code(), Some(0), "{}", text(&looked_at.stderr));
    assert!(
        server
            .requests
            .iter()
            .nth(1)
            .unwrap()
            .has(&format!("origin: https://localhost:{}", server.address.port()))
    );
    let (code, _, messages) = doctor(&url);
    assert_eq!(code, Some(1));
    assert!(
        messages.contains("of an unknown authority") && messages.contains("hint: SSL_CERT_FILE"),
        "{messages}"
    );
}
