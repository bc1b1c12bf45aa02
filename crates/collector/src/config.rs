//! The file of settings: who may send, and who may ask.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The tokens of those who may ask.
    #[serde(default)]
    pub tokens: Vec<String>,
    /// The applications, by name.
    #[serde(default)]
    pub apps: HashMap<String, App>,
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
}

fn default_rate() -> u32 {
    1_000
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
        for (name, app) in &config.apps {
            check_app(name)?;
            if app.keys.is_empty() {
                bail!("apps.{name} has no keys, so nobody can send profiles of it");
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
            "tokens = ['0123456789abcdef']\n[apps.shop]\nkeys = ['abcdefghijklmnop']\norigins = ['https://shop.example']",
        );
        let config = config.unwrap();
        assert_eq!((config.apps["shop"].rate, config.tokens.len()), (1_000, 1));
        #[track_caller]
        fn error(text: &str, expected: &str) {
            let error = format!("{:#}", Config::parse(text).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        error("token = 'a'", "unknown field `token`");
        error("tokens = ['short']", "shorter than 16");
        error("[apps.shop]\nkeys = []", "has no keys");
        error("[apps.'a/b']\nkeys = ['abcdefghijklmnop']", "not a name of an application");
        error("[apps.shop]\nkeys = ['abcdefghijklmnop']\nrate = 0", "rate is 0");
    }
}
