//! The page at `/`, and what it asks for its lists.

use std::fs;

use serde_json::json;

use crate::server::{Server, profile};

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_there_for_everybody_and_fetches_nothing_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("settings.toml");
    fs::write(&config, "tokens = ['token-of-an-operator']").unwrap();
    let server = Server::start(&folder.path().join("data"), &["--config", config.to_str().unwrap()]);
    for path in ["/?view=compare", "/profiles/0123456789abcdef?app=shop"] {
        let page = server.client.get(format!("{}{path}", server.url)).send().await.unwrap();
        assert_eq!(page.status(), 200);
        let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-type").starts_with("text/html"));
        let policy = header("content-security-policy");
        for directive in ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(directive), "{policy}");
        }
        let html = page.text().await.unwrap();
        assert!(html.contains("selfprof collector"));
        assert!(!html.contains("src=\"http"));
    }
    let apps = server.client.get(format!("{}/api/v1/apps", server.url)).send().await.unwrap();
    assert_eq!(apps.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn applications_and_values_of_columns_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    assert_eq!(server.ask("/api/v1/apps").await["apps"], json!([]));
    for (id, app, release) in
        [("a", "shop", "1.3"), ("b", "shop", "1.4"), ("c", "shop", "1.4"), ("d", "blog", "7")]
    {
        let mut one = profile(id, 3);
        (one["app"], one["release"]) = (json!(app), json!(release));
        one["entries"] = json!([{ "name": "checkout", "entryType": "measure", "startTime": 1, "duration": 5 },
                { "name": "ready", "entryType": "mark", "startTime": 1, "duration": 0 }]);
        server.send(one.to_string()).await;
    }
    server.wait_for(4).await;
    assert_eq!(server.ask("/api/v1/apps").await["apps"], json!([{ "name": "blog" }, { "name": "shop" }]));
    let values = async |column: &str| {
        let answer = server.ask(&format!("/api/v1/values?app=shop&column={column}")).await;
        let values = answer["values"].as_array().unwrap().iter();
        values
            .map(|value| {
                assert!(value["firstSeen"].as_f64().unwrap() <= value["lastSeen"].as_f64().unwrap());
                (value["value"].as_str().unwrap().to_owned(), value["profiles"].as_u64().unwrap())
            })
            .collect::<Vec<_>>()
    };
    let expected = |values: &[(&str, u64)]| {
        values.iter().map(|&(value, profiles)| (value.to_owned(), profiles)).collect::<Vec<_>>()
    };
    assert_eq!(values("release").await, expected(&[("1.4", 2), ("1.3", 1)]));
    assert_eq!(values("page").await, expected(&[("/cart", 3)]));
    assert_eq!(values("span").await, expected(&[("checkout", 3)]));
    assert_eq!(values("session").await, expected(&[]));
    for path in
        ["/api/v1/values?app=shop", "/api/v1/values?app=shop&column=weight", "/api/v1/values?column=page"]
    {
        let response = server.client.get(format!("{}{path}", server.url)).send().await.unwrap();
        assert_eq!(response.status(), 400, "{path}");
    }
}
