//! The shop page of `fixtures/shop`: profiles of two releases, of which the new one has a function that is slower.

use crate::checkout::Checkout;
use crate::collector::Server;
use crate::job::{self, Output};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::PathBuf;
use std::process::Command;

/// The old release.
pub const BASE: &str = "1.3";

/// The new one.
pub const NEW: &str = "1.4";

/// The function that is slower in the new one.
const SLOWER: &str = "cartDiscount";

/// How many functions an error names.
const MOST_SHOWN: usize = 5;

/// Sends the profiles, and waits until they can be asked for.
pub fn send_profiles(server: &Server, checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    let mut node = Command::new("node");
    node.arg(folder(checkout).join("send.mjs")).arg(server.url()).env_remove("NODE_OPTIONS");
    job::run(&mut node, output).context("the profiles could not be sent")
}

/// Uploads the source maps of both releases.
pub fn upload_maps(server: &Server, checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    for release in [BASE, NEW] {
        let mut upload = server.client();
        upload.args(["maps", "upload", "--app", "shop", "--release", release]);
        upload.arg(folder(checkout).join("releases").join(release));
        job::run(&mut upload, output)
            .with_context(|| format!("the source maps of {release} could not be uploaded"))?;
    }
    Ok(())
}

/// What this reads of `query diff --json`.
#[derive(Deserialize)]
struct Difference {
    functions: Vec<Function>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    name: String,
    self_time: Time,
}

#[derive(Deserialize)]
struct Time {
    verdict: String,
}

impl Difference {
    /// The functions whose own code is slower or faster, such as `f is slower`.
    fn told(&self) -> Vec<String> {
        let told =
            self.functions.iter().filter(|row| matches!(row.self_time.verdict.as_str(), "slower" | "faster"));
        told.map(|row| format!("{} is {}", row.name, row.self_time.verdict)).collect()
    }
}

/// Fails unless the collector names the function that is slower, and nothing else.
pub fn check_difference(server: &Server) -> Result<()> {
    let mut query = server.client();
    query.args(["query", "diff", "--json", "--app", "shop"]);
    query.arg("--base").arg(format!("release = '{BASE}'"));
    query.arg("--new").arg(format!("release = '{NEW}'"));
    let output = query.output().context("the collector cannot be asked")?;
    if !output.status.success() {
        bail!("the releases could not be compared: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    let difference: Difference =
        serde_json::from_slice(&output.stdout).context("the comparison cannot be read")?;
    check(&difference.told())
}

fn check(told: &[String]) -> Result<()> {
    let expected = format!("{SLOWER} is slower");
    if told != [expected.as_str()] {
        let shown = told.iter().take(MOST_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        bail!(
            "between {BASE} and {NEW}, {expected} and nothing else has changed, but the collector names {} functions: {shown}",
            told.len()
        );
    }
    Ok(())
}

fn folder(checkout: &Checkout) -> PathBuf {
    checkout.root().join("fixtures/shop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_slower_function_may_be_named() {
        let difference: Difference = serde_json::from_str(
            r#"{ "functions": [
                { "name": "cartDiscount", "selfTime": { "verdict": "slower" } },
                { "name": "main", "selfTime": { "verdict": "no-evidence" } }
            ] }"#,
        )
        .unwrap();
        assert!(check(&difference.told()).is_ok());
        assert!(check(&["cartDiscount is faster".to_owned()]).is_err());
        assert!(check(&["cartDiscount is slower".to_owned(), "f is faster".to_owned()]).is_err());
        let error = check(&[]).unwrap_err().to_string();
        assert!(error.ends_with("names 0 functions: "), "{error}");
    }
}
