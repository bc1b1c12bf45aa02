//! The file of settings: who may send, and who may ask.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::arguments;

/// The settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The tokens for queries.
    #[serde(default)]
    pub tokens: Vec<String>,
    /// Regressions that the collector finds.
    #[serde(default)]
    pub alerts: Alerts,
    /// The applications, by name.
    #[serde(default)]
    pub apps: HashMap<String, App>,
}

/// Which regressions the collector finds, and where it posts them.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Alerts {
    /// Whether releases are compared.
    pub enabled: bool,
    /// Where alerts are posted.
    pub webhook: Option<String>,
    /// The URL of the collector's page, for links in what is posted.
    pub page: Option<String>,
    /// A page of a release is compared when both releases have so many sessions on it.
    pub min_sessions: u64,
    /// How often the collector looks for new releases and sessions, such as `5m`.
    #[serde(deserialize_with = "period")]
    pub every: Duration,
}

impl Default for Alerts {
    fn default() -> Self {
        Self { enabled: true, webhook: None, page: None, min_sessions: 100, every: Duration::from_secs(300) }
    }
}

fn period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map_err(|error| D::Error::custom(format!("every: {error}")))
}

/// Fewer sessions say nothing.
const LEAST_SESSIONS: u64 = 5;

/// Looking more often would be of no use.
const SHORTEST: Duration = Duration::from_secs(1);

impl Alerts {
    fn check(&self) -> Result<()> {
        for (name, url) in [("webhook", &self.webhook), ("page", &self.page)] {
            let Some(url) = url else { continue };
            // The URL of a webhook may be a secret, so it is not told.
            let is_http = reqwest::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
            if !is_http {
                bail!("alerts.{name} is not a URL that begins with http:// or https://");
            }
        }
        if self.min_sessions < LEAST_SESSIONS {
            bail!("alerts.min_sessions is {}, less than {LEAST_SESSIONS}", self.min_sessions);
        }
        if self.every < SHORTEST {
            bail!("alerts.every is shorter than a second");
        }
        Ok(())
    }
}

/// An application that may send profiles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct App {
    /// What a sender adds to the URL as `?key=`. It is public, because pages have it.
    pub keys: Vec<String>,
    /// The origins whose pages may send, such as `https://shop.example`. Any if there are none.
    #[serde(default)]
    pub origins: Vec<String>,
    /// The profiles per second that are taken in.
    #[serde(default = "default_rate")]
    pub rate: u32,
    /// How long profiles are kept, such as `30d`. As long as `--keep` says if it is missing.
    #[serde(default, deserialize_with = "keep")]
    pub keep: Option<Duration>,
}

fn default_rate() -> u32 {
    1_000
}

fn keep<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(text)?;
    arguments::keep(&text).map(Some).map_err(|error| D::Error::custom(format!("keep = {text:?}: {error}")))
}

/// The shortest key or token. A shorter one could be guessed.
const MIN_SECRET: usize = 16;

impl Config {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a file of settings", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let config: Self = toml::from_str(text)?;
        config.alerts.check()?;
        for (name, app) in &config.apps {
            check_app(name)?;
            if app.keys.is_empty() {
                bail!("apps.{name} has no keys, so no profiles of it can be sent");
            }
            if app.rate == 0 {
                bail!("apps.{name}.rate is 0, so no profile of it is taken in");
            }
        }
        let keys = config.apps.values().flat_map(|app| &app.keys);
        if let Some(short) = keys.chain(&config.tokens).find(|secret| secret.len() < MIN_SECRET) {
            bail!("the key or token {short:?} is shorter than {MIN_SECRET} characters");
        }
        Ok(config)
    }
}

/// The name of an application is part of the names of folders.
pub fn check_app(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        let name: String = name.chars().take(70).collect();
        bail!("{name:?} is not a name of an application: 1 to 64 letters, digits, - and _");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked() {
        let config = Config::parse(
            "tokens = ['0123456789abcdef']\n[apps.shop]\nkeys = ['abcdefghijklmnop']\norigins = ['https://shop.example']\nkeep = '30d'",
        );
        let config = config.unwrap();
        assert_eq!((config.apps["shop"].rate, config.tokens.len()), (1_000, 1));
        assert_eq!(config.apps["shop"].keep, Some(Duration::from_secs(30 * 86_400)));
        #[track_caller]
        fn error(text: &str, expected: &str) {
            let error = format!("{:#}", Config::parse(text).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        let config =
            Config::parse("[alerts]\nwebhook = 'https://chat.example/secret'\nevery = '10m'").unwrap();
        assert_eq!((config.alerts.min_sessions, config.alerts.every.as_secs()), (100, 600));
        error("[alerts]\nwebhook = 'ftp://secret'", "alerts.webhook is not a URL");
        error("[alerts]\nmin_sessions = 2", "less than 5");
        error("[alerts]\nevery = 'often'", "every: ");
        error("[alerts]\nevery = '1ms'", "shorter than a second");
        error("token = 'a'", "unknown field `token`");
        error("tokens = ['short']", "shorter than 16");
        error("[apps.shop]\nkeys = []", "has no keys");
        error("[apps.'a/b']\nkeys = ['abcdefghijklmnop']", "not a name of an application");
        error("[apps.shop]\nkeys = ['abcdefghijklmnop']\nrate = 0", "rate is 0");
        error("[apps.shop]\nkeys = ['abcdefghijklmnop']\nkeep = '5h'", "shorter than a day");
    }
}
