//! A collector under load.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use selfprof_formats::w3c;
use serde_json::{Value, json};

use crate::shop;

/// What is sent: profiles without an id and a session.
fn bodies(fixtures: &Path) -> Result<Vec<String>> {
    let profiles = shop::profiles(fixtures)?;
    let body = |profile: &shop::Recorded| {
        let mut trace = Vec::new();
        w3c::write(&profile.trace, &mut trace, w3c::WriteOptions::default())?;
        let mut body = json!({ "app": "shop", "release": profile.release, "page": profile.page });
        body["trace"] = serde_json::from_slice(&trace)?;
        Ok(body.to_string())
    };
    profiles.iter().map(body).collect()
}

/// Writes what is sent to a file, a profile a line.
pub fn write_bodies(file: &Path, fixtures: &Path) -> Result<Value> {
    let bodies = bodies(fixtures)?;
    fs::write(file, bodies.join("\n"))?;
    Ok(json!({ "profiles": bodies.len() }))
}

/// Sends profiles over several connections, each of which waits for the answer before it sends the next. Each profile
/// is new, and of a session of its own.
pub async fn load(url: &str, fixtures: &Path, seconds: u64, senders: usize) -> Result<Value> {
    let bodies = Arc::new(bodies(fixtures)?);
    let number = Arc::new(AtomicUsize::new(0));
    let run = uuid();
    let end = Instant::now() + Duration::from_secs(seconds);
    let start = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..senders {
        let (bodies, number) = (Arc::clone(&bodies), Arc::clone(&number));
        let (client, url) = (reqwest::Client::builder().no_proxy().build()?, format!("{url}/v1/profiles"));
        tasks.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                let number = number.fetch_add(1, Ordering::Relaxed);
                let body = &bodies[number % bodies.len()];
                let id = format!("{{\"id\":\"{run}-{number}\",\"session\":\"{run}-{number}\",");
                let sent = Instant::now();
                let response = client.post(&url).body(id + &body[1..]).send().await?;
                let status = response.status();
                response.bytes().await?;
                ensure!(status == 202, "a profile was answered with {status}");
                times.push(sent.elapsed().as_secs_f64() * 1_000.0);
            }
            Ok(times)
        }));
    }
    let mut times: Vec<f64> = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let seconds = start.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let quantile = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let bytes: usize = bodies.iter().map(String::len).sum();
    Ok(json!({
        "profiles": times.len(),
        "per second": times.len() as f64 / seconds,
        "median": quantile(0.5),
        "p99": quantile(0.99),
        "longest": quantile(1.0),
        "mean body": bytes / bodies.len(),
    }))
}

/// A number that no other run has.
fn uuid() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos())
}
