//! Beginning a recording in a process whose inspector is open.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::protocol::Session;

/// How long the main thread may take to begin. A large heap takes a while.
const MAIN_PATIENCE: Duration = Duration::from_secs(15);
/// How long the workers may take together.
const WORKER_PATIENCE: Duration = Duration::from_secs(5);
/// How long an earlier recording may take to end, whose recorder has just been killed.
const EARLIER_PATIENCE: Duration = Duration::from_secs(1);
/// At most this many workers are recorded.
const MAX_WORKERS: usize = 1000;
/// At most this much of a message of the program is shown, in characters.
const MAX_MESSAGE_LENGTH: usize = 500;

/// The end of the message of a process that is being recorded.
const RECORDED_ALREADY: &str = "is being recorded already";

/// Why a recording did not begin.
#[derive(Debug)]
pub enum NotBegun {
    /// The thread does not answer.
    Silent,
    /// Another recorder records it.
    RecordedAlready,
    /// Node.js does not allow it to load what is needed.
    Forbidden,
    /// Another reason.
    Other(String),
}

/// A worker that is not recorded.
#[derive(Debug)]
pub struct MissingWorker {
    /// What Node.js calls it.
    pub title: String,
    /// The reason.
    pub reason: String,
}

/// Begins the recording of the main thread, with this module of the package.
pub fn begin_main(session: &mut Session, module: &Path, settings: &Value) -> Result<Value, NotBegun> {
    let started = Instant::now();
    let deadline = started + MAIN_PATIENCE;
    let parameters = evaluation(module, settings, None);
    loop {
        let result = session.call("Runtime.evaluate", parameters.clone(), deadline).map_err(not_begun)?;
        match answer(&result) {
            Err(NotBegun::RecordedAlready) if started.elapsed() < EARLIER_PATIENCE => {
                thread::sleep(Duration::from_millis(50));
            }
            answer => return answer,
        }
    }
}

/// Begins the recordings of the workers that run already. `request` is what [`begin_main`] returned.
///
/// Node.js names them before it answers. Workers that it names later were started after [`begin_main`], so that the
/// recorder is preloaded there; a worker that is just starting cannot be called safely.
pub fn begin_workers(
    session: &mut Session,
    module: &Path,
    settings: &Value,
    request: &Value,
) -> io::Result<Vec<MissingWorker>> {
    let deadline = Instant::now() + WORKER_PATIENCE;
    session.call("NodeWorker.enable", json!({ "waitForDebuggerOnStart": false }), deadline)?;
    let call = json!({ "id": 1, "method": "Runtime.evaluate", "params": evaluation(module, settings, Some(request)) });
    let message = call.to_string();
    let mut waiting: Vec<(String, String)> = Vec::new();
    let mut missing = Vec::new();
    for event in session.take_events() {
        let id = event["params"]["sessionId"].as_str();
        if event["method"] == "NodeWorker.attachedToWorker"
            && let Some(id) = id.filter(|_| waiting.len() < MAX_WORKERS)
        {
            let title = event["params"]["workerInfo"]["title"].as_str().unwrap_or_default();
            let parameters = json!({ "sessionId": id, "message": message });
            session.send("NodeWorker.sendMessageToWorker", parameters, deadline)?;
            waiting.push((id.to_owned(), shortened(title)));
        }
    }
    while !waiting.is_empty()
        && let Ok(event) = session.next_event(deadline)
    {
        let id = &event["params"]["sessionId"];
        let Some(index) = waiting.iter().position(|(waiting, _)| *id == *waiting) else { continue };
        let outcome = match event["method"].as_str() {
            Some("NodeWorker.detachedFromWorker") => None,
            Some("NodeWorker.receivedMessageFromWorker") => {
                let text = event["params"]["message"].as_str().unwrap_or_default();
                let message: Value = serde_json::from_str(text).unwrap_or_default();
                if message["id"] != 1 {
                    continue;
                }
                answer(&message["result"]).err()
            }
            _ => continue,
        };
        let (_, title) = waiting.swap_remove(index);
        missing.extend(outcome.map(|error| MissingWorker { title, reason: reason(error) }));
    }
    missing.extend(
        waiting.into_iter().map(|(_, title)| MissingWorker { title, reason: reason(NotBegun::Silent) }),
    );
    // Its answer is not needed: the sessions end with the connection, too.
    session.send("NodeWorker.disable", json!({}), Instant::now() + WORKER_PATIENCE)?;
    Ok(missing)
}

fn reason(error: NotBegun) -> String {
    match error {
        NotBegun::Silent => "it does not answer; it may be blocked in native code".to_owned(),
        NotBegun::RecordedAlready => "it is being recorded already".to_owned(),
        NotBegun::Forbidden => "Node.js does not allow it to load the recorder".to_owned(),
        NotBegun::Other(message) => message,
    }
}

/// The parameters of `Runtime.evaluate` that call the module's function.
fn evaluation(module: &Path, settings: &Value, request: Option<&Value>) -> Value {
    let mut arguments = vec![json!(settings.to_string())];
    arguments.extend(request.cloned());
    // JSON is JavaScript.
    let (module, arguments) = (json!(module), Value::from(arguments));
    let expression = format!(
        "((path, rest) => (process.getBuiltinModule?.('node:module') ?? require('node:module'))\
         .createRequire(path)(path).attach(...rest))({module}, {arguments})"
    );
    json!({ "expression": expression, "includeCommandLineAPI": true, "returnByValue": true, "silent": true })
}

/// What the module's function returned.
fn answer(result: &Value) -> Result<Value, NotBegun> {
    if let Some(text) = result["result"]["value"].as_str()
        && let Ok(mut answer) = serde_json::from_str::<Value>(text)
    {
        return match answer["error"].as_str() {
            None => Ok(answer["value"].take()),
            Some(message) => Err(failed(message)),
        };
    }
    let exception = &result["exceptionDetails"];
    let message = exception["exception"]["description"].as_str().or(exception["text"].as_str());
    Err(failed(message.unwrap_or("Node.js gave no reason")))
}

fn failed(message: &str) -> NotBegun {
    if message.ends_with(RECORDED_ALREADY) {
        return NotBegun::RecordedAlready;
    }
    if ["ERR_ACCESS_DENIED", "ERR_DLOPEN_DISABLED", "Access to this API has been restricted"]
        .iter()
        .any(|code| message.contains(code))
    {
        return NotBegun::Forbidden;
    }
    let first = message.lines().next().unwrap_or_default();
    NotBegun::Other(shortened(first.trim_start_matches("selfprof: ")))
}

fn not_begun(error: io::Error) -> NotBegun {
    match error.kind() {
        io::ErrorKind::TimedOut => NotBegun::Silent,
        _ => NotBegun::Other(format!("the inspector does not work: {error}")),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_MESSAGE_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        /// `expected` is the value, or the reason.
        #[track_caller]
        fn check(result: Value, expected: Result<Value, &str>) {
            assert_eq!(answer(&result).map_err(reason), expected.map_err(str::to_owned), "{result}");
        }
        let says = |text: &str| json!({ "result": { "value": text } });
        check(says(r#"{"value":["a"]}"#), Ok(json!(["a"])));
        check(says(r#"{"error":"selfprof: no\nmore"}"#), Err("no"));
        check(
            says(r#"{"error":"selfprof: this process is being recorded already"}"#),
            Err("it is being recorded already"),
        );
        let denied = json!({ "exceptionDetails": { "text": "x", "exception": { "description": "Error: ERR_ACCESS_DENIED" } } });
        check(denied, Err("Node.js does not allow it to load the recorder"));
        check(json!({ "exceptionDetails": { "text": "Uncaught" } }), Err("Uncaught"));
        for strange in [Value::Null, json!([]), json!({ "result": 7 }), says("not JSON")] {
            check(strange, Err("Node.js gave no reason"));
        }
        check(says(&json!({ "error": "x".repeat(9999) }).to_string()), Err(&"x".repeat(MAX_MESSAGE_LENGTH)));
    }
}
