//! kill -9 at any moment: nothing that was acknowledged is lost, and nothing counts twice.

use std::collections::HashSet;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::server::{Server, profile};

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
    for kill in 0..kills {
        let server = Server::start(folder.path(), &[]);
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
    let list = server.ask("/api/v1/profiles?app=shop&top=100000").await;
    let pages: Vec<&str> = list["profiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|profile| profile["page"].as_str().unwrap())
        .collect();
    let stored: HashSet<&str> = pages.iter().copied().collect();
    assert_eq!(stored.len(), pages.len(), "a profile is there twice");
    let acknowledged = acknowledged.lock().clone();
    let lost: Vec<&String> = acknowledged.iter().filter(|page| !stored.contains(page.as_str())).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(acknowledged.len() > 20 * kills, "only {} were acknowledged", acknowledged.len());
    assert!(stored.len() <= next.load(Ordering::Relaxed));
    // Samples are counted as often as their profiles: each has 20.
    let functions = server.ask("/api/v1/functions?app=shop").await;
    assert_eq!(functions["profiles"], pages.len());
    assert_eq!(functions["samples"], 20 * pages.len());
}
