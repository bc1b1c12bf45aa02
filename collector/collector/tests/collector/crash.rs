//! kill -9 at any moment, also while files are merged: nothing that was acknowledged is lost, and nothing counts twice.

use std::collections::HashSet;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::server::{Server, profile};
use crate::upkeep::OFTEN;

/// How often the collector is killed. `SELFPROF_TEST_KILLS` sets it.
const KILLS: usize = 4;

/// Tasks that send at the same time.
const SENDERS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_there_once() {
    let kills = env::var("SELFPROF_TEST_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let acknowledged = Arc::new(Mutex::new(HashSet::new()));
    let next = Arc::new(AtomicUsize::new(0));
    let mut rounds = Vec::new();
    for kill in 0..kills {
        rounds.push(now());
        let server = Server::start(folder.path(), &[&OFTEN[..4], &["--upkeep-keep", "1s"]].concat());
        let stop = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| {
                let (client, url) = (server.client.clone(), format!("{}/v1/profiles", server.url));
                let (acknowledged, next, stop) =
                    (Arc::clone(&acknowledged), Arc::clone(&next), Arc::clone(&stop));
                tokio::spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        let page = format!("/{}", next.fetch_add(1, Ordering::Relaxed));
                        let mut profile = profile(&page, 20);
                        profile["page"] = page.clone().into();
                        // Sent again until it is acknowledged or the collector has gone: a page does not know either.
                        for _ in 0..3 {
                            match client.post(&url).body(profile.to_string()).send().await {
                                Ok(response) if response.status() == 202 => {
                                    acknowledged.lock().insert(page);
                                    break;
                                }
                                _ => {}
                            }
                        }
                    }
                })
            })
            .collect();
        // From before the first segment is sealed to after some are in the tables.
        tokio::time::sleep(Duration::from_millis(300 + 1_731 * (kill as u64 * 7 % 5))).await;
        server.kill();
        stop.store(true, Ordering::Relaxed);
        for sender in senders {
            sender.await.unwrap();
        }
    }
    // What the log has is written to the tables, and the collector ends.
    Server::start(folder.path(), &[]).stop();
    let server = Server::start(folder.path(), &[]);
    rounds.push(now());
    let mut pages: Vec<String> = Vec::new();
    // Round by round, because an answer has a limited number of profiles.
    for period in rounds.windows(2) {
        let path = format!("/api/v1/profiles?app=shop&top=100000&from={}&to={}", period[0], period[1]);
        let list = server.ask(&path).await;
        let profiles = list["profiles"].as_array().unwrap();
        pages.extend(profiles.iter().map(|profile| profile["page"].as_str().unwrap().to_owned()));
    }
    let stored: HashSet<&str> = pages.iter().map(String::as_str).collect();
    assert_eq!(stored.len(), pages.len(), "a profile is there twice");
    let acknowledged = acknowledged.lock().clone();
    let lost: Vec<&String> = acknowledged.iter().filter(|page| !stored.contains(page.as_str())).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(acknowledged.len() > 20 * kills, "only {} were acknowledged", acknowledged.len());
    println!("{kills} kills, {} profiles acknowledged, {} stored", acknowledged.len(), stored.len());
    assert!(stored.len() <= next.load(Ordering::Relaxed));
    // Samples are counted as often as their profiles: each has 20.
    let functions = server.ask("/api/v1/functions?app=shop").await;
    assert_eq!(functions["profiles"], pages.len());
    assert_eq!(functions["samples"], 20 * pages.len());
}

/// Now, as a question writes it.
fn now() -> String {
    chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}
