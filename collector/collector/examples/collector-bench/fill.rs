//! Many profiles in tables.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use selfprof_store::profile::{CompactTrace, Labels, Profile, Sent};
use selfprof_store::tables::Location;
use selfprof_store::{Acknowledged, LIMITS, Options, STACKS_PER_HOUR, Store};
use serde_json::{Value, json};

use crate::shop;

/// 2026-11-16 in microseconds since 1970.
pub const FIRST: i64 = 1_794_787_200_000_000;

/// A day in microseconds.
pub const DAY: i64 = 86_400_000_000;

/// Profiles that are written together.
const TOGETHER: usize = 1_000;

/// Browsers and devices of the profiles, by turns.
const BROWSERS: [(&str, &str); 5] = [
    ("Chrome 153", "desktop"),
    ("Chrome 153", "phone"),
    ("Edge 153", "desktop"),
    ("Chrome 152", "desktop"),
    ("Opera 130", "desktop"),
];

/// Writes profiles, evenly over some days from 2026-11-16. Each is of a session of its own.
pub async fn fill(data: &str, fixtures: &Path, profiles: usize, days: i64) -> Result<Value> {
    let recorded = shop::profiles(fixtures)?;
    let traces: Vec<CompactTrace> = recorded.iter().map(|profile| CompactTrace::of(&profile.trace)).collect();
    let tables = Location::parse(data, HashMap::new())?;
    let log = Path::new(data).join("log");
    let store = Store::open(Options {
        tables,
        log,
        limits: LIMITS,
        stacks_per_hour: STACKS_PER_HOUR,
        acknowledged: Acknowledged::InLog,
    })
    .await?;
    let start = Instant::now();
    for first in (0..profiles).step_by(TOGETHER) {
        let batch: Result<Vec<Profile>> = (first..profiles.min(first + TOGETHER))
            .map(|number| {
                // Not in the order of the fixtures, so that each hour has profiles of all pages and releases.
                let which = number.wrapping_mul(7_919) % recorded.len();
                let (browser, device) = BROWSERS[number % BROWSERS.len()];
                let labels = Labels {
                    app: "shop".into(),
                    release: recorded[which].release.clone(),
                    page: recorded[which].page.clone(),
                    environment: "production".into(),
                    browser: browser.into(),
                    device: device.into(),
                };
                let id = format!("profile {number}");
                let session = format!("session {number}");
                let sent = Sent { id: Some(&id), session: Some(&session), ..Sent::default() };
                let time = FIRST + DAY * days / profiles as i64 * number as i64;
                Ok(Profile::new(time, labels, &sent, Vec::new(), traces[which].clone())?)
            })
            .collect();
        store.add(&batch?).await?;
    }
    store.close().await;
    Ok(json!({ "profiles": profiles, "seconds": start.elapsed().as_secs_f64() }))
}
