//! The measuring program of `cargo xtask bench collector`. It prints its results as one JSON object.
//!
//! - `fill DATA FIXTURES PROFILES DAYS` writes profiles to tables, without HTTP.
//! - `bodies FILE FIXTURES` writes what is sent, a profile a line.
//! - `load URL FIXTURES SECONDS SENDERS` sends profiles to a collector as fast as it takes them.
//! - `scan DATA ROUNDS` scans the samples with the engine alone.
//! - `upkeep DATA` merges files and adds up hours.
//! - `simulate DATA FIXTURES HOURS` makes the sums of a billion samples an hour, and asks them.
//! - `ask DATA ROUNDS` asks tables.

mod ask;
mod fill;
mod load;
mod shop;
mod simulate;

use std::env;

use anyhow::{Result, bail};

/// Samples of each profile.
const SAMPLES: usize = 300;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["fill", data, fixtures, profiles, days] => {
            fill::fill(data, fixtures.as_ref(), profiles.parse()?, days.parse()?).await?
        }
        ["bodies", file, fixtures] => load::write_bodies(file.as_ref(), fixtures.as_ref())?,
        ["load", url, fixtures, seconds, senders] => {
            load::load(url, fixtures.as_ref(), seconds.parse()?, senders.parse()?).await?
        }
        ["scan", data, rounds] => ask::scan(data, rounds.parse()?).await?,
        ["upkeep", data] => ask::upkeep(data).await?,
        ["simulate", data, fixtures, hours] => {
            simulate::simulate(data, fixtures.as_ref(), hours.parse()?).await?
        }
        ["ask", data, rounds] => ask::ask(data, rounds.parse()?).await?,
        _ => bail!(
            "usage: fill DATA FIXTURES PROFILES DAYS | bodies FILE FIXTURES | load URL FIXTURES SECONDS SENDERS | scan DATA ROUNDS | upkeep DATA | simulate DATA FIXTURES HOURS | ask DATA ROUNDS"
        ),
    };
    println!("{result}");
    Ok(())
}
