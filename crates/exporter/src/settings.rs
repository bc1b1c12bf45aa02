//! `settings.json`: where profiles go, and within which bounds.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use selfprof_trace::Micros;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

/// The name of the file.
pub const FILE: &str = "settings.json";

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// What the processes that are recorded ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// A URL, or the path of a folder.
    pub output: String,
    /// What is written there. By default, the output decides: see [`Settings::format`].
    #[serde(rename = "format")]
    pub given_format: Option<OutputFormat>,
    /// The name of the application.
    pub app: String,
    /// Its version.
    pub release: Option<String>,
    /// Where it runs, such as `production`.
    pub environment: Option<String>,
    /// What the receiver knows the sender by.
    pub key: Option<String>,
    /// Further headers of requests.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Attributes of the resource in OTLP, such as `service.namespace`.
    #[serde(default)]
    pub resource: BTreeMap<String, String>,
    /// How many seconds a profile covers.
    #[serde(default = "defaults::period")]
    pub period: f64,
    /// The most bytes of journals that wait to be sent.
    #[serde(default = "defaults::max_bytes")]
    pub max_bytes: u64,
    /// The most bytes of profiles in the folder that they are written to.
    #[serde(default = "defaults::folder_max_bytes")]
    pub folder_max_bytes: u64,
    /// The most profiles in that folder.
    pub folder_max_files: Option<u64>,
    /// Whether what cannot be sent stays for the next exporter.
    #[serde(default)]
    pub spool: bool,
    /// How many seconds it stays.
    #[serde(default = "defaults::spool_max_age")]
    pub spool_max_age: u64,
    /// Whether samples with a route become profiles of that page.
    #[serde(default = "defaults::labels")]
    pub labels: bool,
    /// For the recorder.
    #[serde(default)]
    pub in_app: Value,
}

mod defaults {
    pub fn period() -> f64 {
        60.0
    }

    pub fn max_bytes() -> u64 {
        64 << 20
    }

    pub fn folder_max_bytes() -> u64 {
        1 << 30
    }

    pub fn spool_max_age() -> u64 {
        7 * 24 * 60 * 60
    }

    pub fn labels() -> bool {
        true
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    /// JSON lines for `selfprof-collector`.
    Collector,
    /// Files that `selfprof top` and `selfprof report` read.
    Folder,
    /// pprof for Pyroscope's `/ingest`.
    Pyroscope,
    /// OTLP profiles over HTTP.
    Otlp,
}

impl Settings {
    /// Reads the file in this folder.
    pub fn read(folder: &Path) -> Result<Self, SettingsError> {
        let path = folder.join(FILE);
        if fs::metadata(&path).map_err(SettingsError::Io)?.len() > MAX_BYTES {
            return Err(SettingsError::Value("the file is too long".to_owned()));
        }
        Self::parse(&fs::read(&path).map_err(SettingsError::Io)?)
    }

    fn parse(json: &[u8]) -> Result<Self, SettingsError> {
        let settings: Self = serde_json::from_slice(json).map_err(SettingsError::Json)?;
        settings.check().map_err(SettingsError::Value)?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), String> {
        let format = self.format();
        if format != OutputFormat::Folder && self.url().is_none() {
            return Err(format!("output must be a URL with http: or https:, not {:?}", self.output));
        }
        if !(0.001..=86_400.0).contains(&self.period) {
            return Err("period must be a number of seconds up to 86400".to_owned());
        }
        // As the collector wants it, which would refuse each profile.
        let is_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        if self.app.is_empty() {
            return Err("app is empty".to_owned());
        }
        if format == OutputFormat::Collector && !(self.app.len() <= 64 && self.app.chars().all(is_name)) {
            return Err(format!("app must be 1 to 64 letters, digits, - and _, not {:?}", self.app));
        }
        // <https://www.rfc-editor.org/rfc/rfc9110#name-tokens>
        let is_token = |name: &str| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            !name.is_empty() && name.bytes().all(is_part)
        };
        if let Some(name) = self.headers.keys().find(|name| !is_token(name)) {
            return Err(format!("{name:?} is not the name of a header"));
        }
        let is_text = |text: &str| text.chars().all(|character| !character.is_control());
        let mut values = self.headers.iter().chain(&self.resource);
        if self.key.as_deref().is_some_and(|key| !is_text(key)) {
            return Err("key has a control character".to_owned());
        }
        match values.find(|(name, value)| !is_text(name) || !is_text(value)) {
            Some((name, value)) => Err(format!("{name:?} has a control character: {value:?}")),
            None => Ok(()),
        }
    }

    /// The number of the period in which a time is, in microseconds since 1970.
    pub fn period_of(&self, time: Micros) -> u64 {
        time.0 / self.period_length().0.max(1)
    }

    /// When a period begins, in seconds since 1970.
    pub fn start_of(&self, number: u64) -> u64 {
        self.period_length().saturating_mul(number).0 / 1_000_000
    }

    fn period_length(&self) -> Micros {
        Micros::from_millis_f64(self.period * 1e3).unwrap_or_default()
    }

    /// The URL of the output, if it is one.
    pub fn url(&self) -> Option<Url> {
        Url::parse(&self.output).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
    }

    /// What is written: what was asked for, or else what the output looks like.
    pub fn format(&self) -> OutputFormat {
        if let Some(format) = self.given_format {
            return format;
        }
        let Some(url) = self.url() else { return OutputFormat::Folder };
        let path = url.path().trim_end_matches('/');
        let host = url.host_str().unwrap_or_default();
        let is_pyroscope = path.ends_with("/ingest")
            || host.contains("pyroscope")
            || path.split('/').any(|part| part == "pyroscope")
            || (host.starts_with("profiles-") && host.ends_with(".grafana.net"));
        match () {
            () if path.ends_with("/v1development/profiles") => OutputFormat::Otlp,
            () if is_pyroscope => OutputFormat::Pyroscope,
            () => OutputFormat::Collector,
        }
    }

    /// The output as messages show it: without passwords and queries.
    pub fn shown_output(&self) -> String {
        let Some(mut url) = self.url() else { return self.output.clone() };
        // Fails for URLs that have no user anyway.
        let _ = (url.set_username(""), url.set_password(None));
        url.set_query(None);
        url.set_fragment(None);
        url.into()
    }
}

/// Why there are no settings.
#[derive(Debug)]
pub enum SettingsError {
    /// The file cannot be read.
    Io(io::Error),
    /// It is not what it should be.
    Json(serde_json::Error),
    /// A value cannot be used.
    Value(String),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot read {FILE}: {error}"),
            Self::Json(error) => write!(f, "{FILE}: {error}"),
            Self::Value(reason) => write!(f, "{FILE}: {reason}"),
        }
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_says_the_format() {
        #[track_caller]
        fn check(output: &str, expected: OutputFormat) {
            let json = format!(r#"{{ "output": "{output}", "app": "shop" }}"#);
            assert_eq!(Settings::parse(json.as_bytes()).unwrap().format(), expected);
        }
        check("https://collector.example:4319", OutputFormat::Collector);
        check("https://a.example/v1/profiles?key=7", OutputFormat::Collector);
        check("https://a.example/ingest", OutputFormat::Pyroscope);
        check("http://pyroscope:4040", OutputFormat::Pyroscope);
        check("https://a.example/pyroscope/", OutputFormat::Pyroscope);
        check("https://profiles-prod-001.grafana.net", OutputFormat::Pyroscope);
        check("http://a.example:4318/v1development/profiles", OutputFormat::Otlp);
        check("/var/profiles", OutputFormat::Folder);
        check("profiles", OutputFormat::Folder);
    }

    #[test]
    fn wrong_settings_are_named() {
        #[track_caller]
        fn check(json: &str, expected: &str) {
            let error = Settings::parse(json.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        check(
            r#"{ "output": "/a", "app": "a", "perod": 1 }"#,
            "unknown field `perod`, expected one of `output`, `format`",
        );
        check(r#"{ "app": "a" }"#, "missing field `output`");
        check(r#"{ "output": "/a", "app": "a", "format": "otlp" }"#, "must be a URL");
        check(r#"{ "output": "https://a", "app": "a b" }"#, "app must be 1 to 64 letters");
        check(r#"{ "output": "/a", "app": "a", "period": 0 }"#, "period must be");
        check(r#"{ "output": "/a", "app": "a", "key": "a\n" }"#, "key has a control character");
        check(
            r#"{ "output": "/a", "app": "a", "headers": { "a b": "" } }"#,
            "\"a b\" is not the name of a header",
        );
        check(r#"{ "output": "/a", "app": "a", "headers": { "a": "b\nc: d" } }"#, "control character");
    }

    #[test]
    fn messages_show_no_secrets() {
        let json = br#"{ "output": "https://user:word@a.example/x?key=7#8", "app": "a" }"#;
        assert_eq!(Settings::parse(json).unwrap().shown_output(), "https://a.example/x");
    }
}
