//! Times over a period.

use serde_json::json;

use crate::server::{Server, profile, run};

#[tokio::test(flavor = "multi_thread")]
async fn times_of_each_day_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    server.send(profile("a", 11).to_string()).await;
    server.wait_for(1).await;
    let series = server.ask("/api/v1/series?app=shop&from=-7d&top=1").await;
    let points = series["points"].as_array().unwrap();
    assert_eq!((&series["step"], points.len(), &series["sessions"]), (&json!("day"), 8, &json!(1)));
    let sum = |times: &serde_json::Value| {
        times.as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).sum::<f64>()
    };
    let [function] = &series["functions"].as_array().unwrap()[..] else { panic!("{series}") };
    assert_eq!((&function["name"], sum(&function["selfTime"])), (&json!("slow"), 110.0));
    let hours = server.ask("/api/v1/series?app=shop&from=-1d").await;
    assert_eq!((&hours["step"], hours["points"].as_array().unwrap().len()), (&json!("hour"), 25));
    for (query, expected) in [
        ("step=week", "neither hour nor day"),
        ("step=hour&from=1970-01-01", "more than 2200: choose a shorter one"),
        ("from=1970-01-01", "days, more than 2200"),
    ] {
        let response =
            server.client.get(format!("{}/api/v1/series?app=shop&{query}", server.url)).send().await;
        let response = response.unwrap();
        assert_eq!(response.status(), 400, "{query}");
        let text = response.text().await.unwrap();
        assert!(text.contains(expected), "{text}");
    }
    let output =
        run(&["query", "series", "--app", "shop", "--step", "hour", "--from", "-2h", "--url", &server.url]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("slow  https://shop.example/app.js:9"), "{text}");
    assert!(text.contains("a column for each hour") && text.contains('█'), "{text}");
}
