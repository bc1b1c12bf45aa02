//! Three collectors write to one bucket, through whatever happens to them and to the bucket, and each answers as one
//! alone does.
//!
//! `cargo xtask test collector-bucket` starts an S3 server for it and sets `SELFPROF_TEST_S3`.

mod process;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use process::{Process, run};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// What is asked.
const QUESTIONS: [&str; 6] = [
    "functions?app=shop&top=1000",
    "functions?app=shop&where=span%3D'checkout'",
    "functions?app=shop&where=page%20like%20'/p%25'%20and%20release%3D'1.4'",
    "flamegraph?app=shop",
    "spans?app=shop",
    "diff?app=shop&base=release%3D'1.3'&new=release%3D'1.4'&top=1000",
];

/// What stands before the bucket. It can refuse all connections, as a bucket does that cannot be reached.
struct Door {
    address: String,
    is_closed: Arc<AtomicBool>,
}

impl Door {
    async fn before(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (server, closed) = (server.clone(), Arc::clone(&closed));
                tokio::spawn(async move {
                    if closed.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(mut bucket) = TcpStream::connect(server).await else { return };
                    let until_closed = async {
                        while !closed.load(Ordering::Relaxed) {
                            tokio::time::sleep(Duration::from_millis(20)).await;
                        }
                    };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut bucket) => {}
                        () = until_closed => {}
                    }
                });
            }
        });
        Self { address, is_closed }
    }
}

/// A collector on the bucket, with a log of its own.
fn collector(door: &Door, log: &Path) -> (Process, String) {
    let log = log.to_str().unwrap();
    let arguments = ["serve", "--data", "s3://profiles/shop", "--log", log, "--listen", "127.0.0.1:0"];
    let endpoint = format!("http://{}", door.address);
    let bucket = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "anybody"),
        ("AWS_SECRET_ACCESS_KEY", "anything"),
        ("AWS_REGION", "us-east-1"),
    ];
    Process::start_with(&arguments, &bucket).url()
}

/// The recorded profiles, a line each.
fn profiles(file: &Path) -> Vec<String> {
    let file = std::fs::File::open(file).unwrap();
    BufReader::new(GzDecoder::new(file)).lines().map(Result::unwrap).collect()
}

async fn ask(collector: &str, question: &str) -> Option<String> {
    let answer = reqwest::get(format!("{collector}/api/v1/{question}")).await.ok()?;
    if answer.status() != 200 { None } else { answer.text().await.ok() }
}

/// Sends some profiles, to one collector after the other, until each was acknowledged. Every tenth is sent to two.
async fn send(profiles: &[String], collectors: &[String]) {
    let client = reqwest::Client::new();
    for (number, together) in profiles.chunks(10).enumerate() {
        let body = together.join("\n");
        for copy in 0..1 + usize::from(number % 10 == 0) {
            // The multiplication makes the order that of a balancer which chooses at random.
            let mut turn = number.wrapping_mul(2_654_435_761) >> 4;
            loop {
                let url = format!("{}/v1/profiles", collectors[(turn + copy) % collectors.len()]);
                let answer = client.post(&url).body(body.clone()).send().await;
                if answer.is_ok_and(|answer| answer.status() == 202) {
                    break;
                }
                turn += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs an S3 server: cargo xtask test collector-bucket"]
async fn three_collectors_share_a_bucket() {
    let server = std::env::var("SELFPROF_TEST_S3").expect("SELFPROF_TEST_S3 is HOST:PORT of an S3 server");
    let bucket = reqwest::Client::new().put(format!("http://{server}/profiles")).send().await.unwrap();
    assert!(bucket.status().is_success(), "{bucket:?}");
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shop/profiles");
    let files = ["1.3.jsonl.gz", "1.4.jsonl.gz"].map(|name| fixtures.join(name));

    // One alone, on a disk.
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let [old, new] = files.each_ref().map(|file| file.to_str().unwrap());
    assert!(run(&["import", "--data", data, old, new]).status.success());
    let alone = Process::start(&["serve", "--data", data, "--listen", "127.0.0.1:0"]).url();

    let door = Door::before(server).await;
    let logs = ["one", "two", "three"].map(|name| folder.path().join(name));
    let mut collectors = logs.each_ref().map(|log| collector(&door, log));
    let urls = |collectors: &[(Process, String); 3]| collectors.each_ref().map(|(_, url)| url.clone());
    let all: Vec<String> = files.iter().flat_map(|file| profiles(file)).collect();
    let parts: Vec<&[String]> = all.chunks(all.len() / 3).collect();
    send(parts[0], &urls(&collectors)).await;

    // One is killed while it uploads, and comes back with its log.
    tokio::time::sleep(Duration::from_secs(3)).await;
    collectors[1].0.kill();
    collectors[1] = collector(&door, &logs[1]);
    send(parts[1], &urls(&collectors)).await;

    // The bucket cannot be reached for ten seconds, and profiles are acknowledged all the same.
    door.is_closed.store(true, Ordering::Relaxed);
    for part in &parts[2..] {
        send(part, &urls(&collectors)).await;
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    door.is_closed.store(false, Ordering::Relaxed);

    // Each of them answers as the one alone, byte for byte.
    let end = Instant::now() + Duration::from_secs(120);
    for question in QUESTIONS {
        let expected = ask(&alone.1, question).await.unwrap();
        for (_, url) in &collectors {
            loop {
                let answer = ask(url, question).await;
                if answer.as_ref() == Some(&expected) {
                    break;
                }
                assert!(Instant::now() < end, "{question}: {answer:?}\n\nexpected: {expected}");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
    let answer = ask(&collectors[0].1, QUESTIONS[0]).await.unwrap();
    assert!(answer.contains("\"profiles\":1620,"), "{}", &answer[..100]);
    for (process, _) in &mut collectors {
        assert!(process.stop().success());
    }
}
