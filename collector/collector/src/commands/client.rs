//! Requests to a running collector.

use anyhow::{Context, Result, bail};
use reqwest::RequestBuilder;

use crate::arguments::CollectorArguments;

/// A collector.
pub struct Client<'a> {
    arguments: &'a CollectorArguments,
    client: reqwest::Client,
}

impl<'a> Client<'a> {
    /// The collector that the arguments name.
    pub fn new(arguments: &'a CollectorArguments) -> Self {
        Self { arguments, client: reqwest::Client::new() }
    }

    /// Asks for a path with parameters.
    pub async fn get(&self, path: &str, parameters: &[(&str, String)]) -> Result<String> {
        let url = self.url(path);
        self.answer(&url, self.client.get(&url).query(parameters)).await
    }

    /// Sends a body to a path with parameters.
    pub async fn post(&self, path: &str, parameters: &[(&str, String)], body: Vec<u8>) -> Result<String> {
        let url = self.url(path);
        self.answer(&url, self.client.post(&url).query(parameters).body(body)).await
    }

    /// Deletes what a path with parameters names.
    pub async fn delete(&self, path: &str, parameters: &[(&str, String)]) -> Result<String> {
        let url = self.url(path);
        self.answer(&url, self.client.delete(&url).query(parameters)).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.arguments.url.trim_end_matches('/'))
    }

    async fn answer(&self, url: &str, mut request: RequestBuilder) -> Result<String> {
        if let Some(token) = &self.arguments.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.with_context(|| {
            format!(
                "{url} does not answer: start a collector with `selfprof-collector serve`, or name another one with --url"
            )
        })?;
        let status = response.status();
        let text = response.text().await.context("the collector's answer ended early")?;
        if !status.is_success() {
            let error: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            bail!("{}", error["error"].as_str().unwrap_or(&format!("{url} answered {status}")));
        }
        Ok(text)
    }
}
