//! Durations of spans.

use serde_json::json;

use crate::server::{Server, profile, run};

#[tokio::test(flavor = "multi_thread")]
async fn spans_have_percentiles_and_what_runs_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut sent = profile("a", 30);
    let measure = |start: i64, duration: i64| json!({ "name": "checkout", "entryType": "measure", "startTime": start, "duration": duration });
    sent["entries"] = json!([measure(5, 10), measure(25, 10), measure(45, 100),
        { "name": "self", "entryType": "longtask", "startTime": 0, "duration": 60 },
        { "name": "click", "entryType": "event", "startTime": 0, "duration": 200 }]);
    server.send(sent.to_string()).await;
    server.wait_for(1).await;
    let answer = server.ask("/api/v1/spans?app=shop").await;
    let names: Vec<_> = answer["spans"].as_array().unwrap().iter().map(|span| &span["name"]).collect();
    assert_eq!(names, [&json!("(long task)"), &json!("checkout")]);
    let checkout = &answer["spans"][1];
    assert_eq!(
        (&checkout["spans"], &checkout["p50"], &checkout["p90"]),
        (&json!(3), &json!(10.0), &json!(100.0))
    );
    let slow = server.ask("/api/v1/spans/slow?app=shop&span=checkout").await;
    assert_eq!((&slow["limit"], &slow["read"], &slow["cut"]), (&json!(100.0), &json!(1), &json!(0)));
    assert_eq!((&slow["slow"]["busyTime"], &slow["rest"]["busyTime"]), (&json!(100.0), &json!(10.0)));
    let first = &slow["functions"][0];
    assert_eq!((&first["name"], &first["slow"]["selfTime"]), (&json!("slow"), &json!(100.0)));
    for (query, status) in [("", 400), ("&span=nothing", 404), ("&span='%20or%201%3D1--", 404)] {
        let url = format!("{}/api/v1/spans/slow?app=shop{query}", server.url);
        assert_eq!(server.client.get(url).send().await.unwrap().status(), status, "{query}");
    }
    let ask = |arguments: &[&str]| {
        let output = run(&[&["query", "spans", "--app", "shop", "--url", &server.url], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(ask(&[]).contains("checkout"));
    let text = ask(&["--span", "checkout"]);
    assert!(text.contains("slow: 1 of checkout that took 100.0 ms or longer"), "{text}");
    assert!(text.contains("+90.0 ms  slow  https://shop.example/app.js:9"), "{text}");
}
