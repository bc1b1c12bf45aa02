//! Who may send, and who may ask.

use std::fs;

use serde_json::json;

use crate::server::{Server, profile, run};

const CONFIG: &str = "tokens = ['token-of-an-operator']
[apps.shop]
keys = ['public-key-of-the-shop']
origins = ['https://shop.example']
rate = 5
[apps.other]
keys = ['public-key-of-another']
";

#[tokio::test(flavor = "multi_thread")]
async fn keys_decide_what_is_taken_in() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("settings.toml");
    fs::write(&config, CONFIG).unwrap();
    let server = Server::start(&folder.path().join("data"), &["--config", config.to_str().unwrap()]);
    let post = async |key: &str, origin: Option<&str>, body: String| {
        let mut request = server.client.post(format!("{}/v1/profiles?key={key}", server.url)).body(body);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let own = || profile("a", 3).to_string();
    assert_eq!(post("wrong", None, own()).await.0, 401);
    assert_eq!(post("", None, own()).await.0, 401);
    assert_eq!(post("public-key-of-the-shop", Some("https://evil.example"), own()).await.0, 403);
    assert_eq!(post("public-key-of-the-shop", Some("https://shop.example"), own()).await.0, 202);
    let (status, text) = post("public-key-of-another", None, own()).await;
    assert_eq!((status, text.contains("not one of its keys")), (400, true), "{text}");
    // The key says which application it is.
    let mut without_app = profile("b", 3);
    without_app["app"] = json!(null);
    assert_eq!(post("public-key-of-another", None, without_app.to_string()).await.0, 202);
    // Ten in one request can never be five a second; four and three are too many together.
    let many = |from: usize, to: usize| -> String {
        (from..to).map(|n| format!("{}\n", profile(&format!("m{n}"), 3))).collect()
    };
    let (status, text) = post("public-key-of-the-shop", None, many(0, 10)).await;
    assert_eq!((status, text.contains("may send in a second")), (413, true), "{text}");
    let key = "public-key-of-the-shop";
    let together = tokio::join!(
        post(key, None, many(0, 4)),
        post(key, None, many(4, 8)),
        post(key, None, many(8, 12)),
        post(key, None, many(12, 16)),
    );
    let statuses = [together.0.0, together.1.0, together.2.0, together.3.0];
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_decide_who_may_ask() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("settings.toml");
    fs::write(&config, CONFIG).unwrap();
    let server = Server::start(&folder.path().join("data"), &["--config", config.to_str().unwrap()]);
    for path in [
        "functions?app=shop",
        "flamegraph?app=shop",
        "profiles?app=shop",
        "diff?app=shop",
        "profiles/0123456789abcdef?app=shop",
    ] {
        let url = format!("{}/api/v1/{path}", server.url);
        assert_eq!(server.client.get(&url).send().await.unwrap().status(), 401, "{path}");
        assert_eq!(
            server.client.get(&url).bearer_auth("token-of-an-operatoR").send().await.unwrap().status(),
            401
        );
        // The public key is not a token.
        assert_eq!(
            server.client.get(&url).bearer_auth("public-key-of-the-shop").send().await.unwrap().status(),
            401
        );
        let status =
            server.client.get(&url).bearer_auth("token-of-an-operator").send().await.unwrap().status();
        assert_ne!(status, 401, "{path}");
    }
    let maps =
        server.client.post(format!("{}/api/v1/maps?app=shop&release=1&script=a.js", server.url)).body("{}");
    assert_eq!(maps.send().await.unwrap().status(), 401);
    assert_eq!(server.client.get(format!("{}/metrics", server.url)).send().await.unwrap().status(), 401);
    assert_eq!(server.client.get(format!("{}/healthz", server.url)).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_points_its_name_here_learns_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let request = server.client.get(format!("{}/api/v1/functions?app=shop", server.url));
    let response = request.header("host", "rebound.example").send().await.unwrap();
    assert_eq!(response.status(), 403);
}

#[test]
fn beyond_this_machine_settings_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let output = run(&["serve", "--listen", "0.0.0.0:0", "--data", data.to_str().unwrap()]);
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("a file of settings with keys and tokens is needed") && error.contains("hint:"),
        "{error}"
    );
}
