//! Regressions that the collector finds.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::server::{Server, json_of, run};

const TOKEN: &str = "token-of-an-operator";

/// What came to a webhook: paths and bodies.
type Requests = Arc<Mutex<Vec<(String, Value)>>>;

/// Starts a webhook, which gives these answers and then 200. It ends with the process.
fn webhook(answers: &'static [&'static str]) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && lines.read_line(&mut head).unwrap() > 0 {}
            let length = head.to_ascii_lowercase().lines().find_map(|line| {
                line.strip_prefix("content-length: ").and_then(|length| length.parse::<usize>().ok())
            });
            let mut body = vec![0; length.unwrap_or(0)];
            lines.read_exact(&mut body).unwrap();
            let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
            let mut seen = seen.lock();
            let answer = answers.get(seen.len()).unwrap_or(&"200 OK");
            seen.push((path, serde_json::from_slice(&body).unwrap_or_default()));
            drop(seen);
            write!(stream, "HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        }
    });
    (url, requests)
}

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shop")
}

/// Starts a collector that looks each second.
fn start(folder: &Path, alerts: &str) -> Server {
    let config = folder.join("settings.toml");
    fs::write(&config, format!("tokens = ['{TOKEN}']\n[alerts]\nevery = '1s'\n{alerts}\n")).unwrap();
    Server::start(&folder.join("data"), &["--config", config.to_str().unwrap()])
}

fn import(folder: &Path, files: &[PathBuf]) {
    let data = folder.join("data");
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let output = run(&[&["import", "--data", data.to_str().unwrap()], &files[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn upload_maps(server: &Server, release: &str, of: &str) {
    let folder = shop().join("releases").join(of);
    let folder = folder.to_str().unwrap();
    let arguments = ["maps", "upload", "--app", "shop", "--release", release, folder];
    let output = run(&[&arguments[..], &["--url", &server.url, "--token", TOKEN]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

async fn alerts(server: &Server) -> Value {
    let request = server.client.get(format!("{}/api/v1/alerts?app=shop", server.url)).bearer_auth(TOKEN);
    json_of(request.send().await.unwrap()).await
}

/// Asks for the alerts until they are as wanted.
async fn wait_for(server: &Server, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let answer = alerts(server).await;
        if is_wanted(&answer) {
            return answer;
        }
        assert!(begin.elapsed() < Duration::from_secs(90), "{answer}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_planted_regression_is_found_and_posted_once_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (url, requests) = webhook(&["302 Found\r\nlocation: /elsewhere", "503 Service Unavailable"]);
    let settings = format!("webhook = '{url}'\npage = 'https://profiles.example/'");
    import(folder.path(), &["1.3", "1.4"].map(|release| shop().join(format!("profiles/{release}.jsonl.gz"))));
    let server = start(folder.path(), &settings);
    // Without maps, most functions would seem to be slower or faster.
    let answer = wait_for(&server, |answer| answer["waiting"][0] != Value::Null).await;
    assert_eq!(
        (&answer["waiting"][0]["release"], &answer["waiting"][0]["base"]),
        (&json!("1.4"), &json!("1.3"))
    );
    let reason = answer["waiting"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("of release 1.3 have minified names and no source map"), "{reason}");
    assert_eq!(answer["alerts"], json!([]));
    for release in ["1.3", "1.4"] {
        upload_maps(&server, release, release);
    }
    let answer = wait_for(&server, |answer| answer["alerts"][0]["posted"] == true).await;
    let [alert] = &answer["alerts"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&alert["name"], &alert["resource"]), (&json!("cartDiscount"), &json!("src/prices.ts")));
    assert_eq!((&alert["base"], &alert["new"]), (&json!("1.3"), &json!("1.4")));
    let pages: Vec<_> = alert["pages"].as_array().unwrap().iter().map(|page| &page["page"]).collect();
    assert_eq!(pages, ["/checkout", "/cart", "/product", "/"]);
    let checkout = &alert["pages"][0];
    assert!(checkout["difference"].as_f64().unwrap() > 5.0 && checkout["baseSessions"] == 115, "{checkout}");
    // Four pages and eight looks share 5%.
    assert_eq!(checkout["limit"], 0.05 / 32.0);
    assert_eq!(answer["waiting"], json!([]));

    let posted = requests.lock().clone();
    assert_eq!(posted.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["/hook"; 3]);
    assert!(posted.iter().all(|(_, body)| *body == posted[0].1));
    let body = &posted[0].1;
    assert!(
        body["text"]
            .as_str()
            .unwrap()
            .starts_with("shop: cartDiscount (src/prices.ts) is slower in release 1.4")
    );
    assert!(body["link"].as_str().unwrap().starts_with("https://profiles.example/?view=compare&app=shop&"));
    assert_eq!(body["id"], alert["id"]);

    let metrics =
        server.client.get(format!("{}/metrics", server.url)).bearer_auth(TOKEN).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    for count in ["comparisons_total 4", "found_total 1", "posted_total 1", "posts_failed_total 2"] {
        assert!(metrics.contains(&format!("\nselfprof_alerts_{count}\n")), "{count}: {metrics}");
    }
    assert!(metrics.contains("\nselfprof_alerts_searches_failed_total 0\n"), "{metrics}");

    // Nothing is found or posted again, also not after a restart.
    server.stop();
    let server = start(folder.path(), &settings);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(alerts(&server).await["alerts"].as_array().unwrap().len(), 1);
    assert_eq!(requests.lock().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_halves_of_one_release_cause_no_alert() {
    let folder = tempfile::tempdir().unwrap();
    let lines =
        BufReader::new(MultiGzDecoder::new(fs::File::open(shop().join("profiles/1.3.jsonl.gz")).unwrap()))
            .lines();
    let mut halves = [String::new(), String::new()];
    for line in lines {
        let mut profile: Value = serde_json::from_str(&line.unwrap()).unwrap();
        // The sessions are random UUIDs.
        let half = usize::from(profile["session"].as_str().unwrap().as_bytes()[0] % 2);
        profile["release"] = json!(["before", "after"][half]);
        halves[half].push_str(&format!("{profile}\n"));
    }
    let files = ["before", "after"].map(|name| folder.path().join(name));
    for (file, lines) in files.iter().zip(&halves) {
        fs::write(file, lines).unwrap();
    }
    // The maps are there before the first look.
    let server = start(folder.path(), "enabled = false");
    for release in ["before", "after"] {
        upload_maps(&server, release, "1.3");
    }
    server.stop();
    import(folder.path(), &files);
    let server = start(folder.path(), "min_sessions = 20");
    let looks = folder.path().join("data/alerts/app=shop/looks");
    let begin = Instant::now();
    while fs::read_dir(&looks).map_or(0, Iterator::count) < 4 {
        assert!(begin.elapsed() < Duration::from_secs(90), "the four pages were not compared");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let answer = alerts(&server).await;
    assert_eq!((&answer["alerts"], &answer["waiting"]), (&json!([]), &json!([])));
}
