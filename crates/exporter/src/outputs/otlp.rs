//! OTLP profiles over HTTP.

use std::sync::Arc;

use selfprof_formats::WriteOptions;
use selfprof_formats::journal::Header;
use selfprof_formats::otlp::{self, Resource};

use super::endpoint::Endpoint;
use super::{Output, Receipt, SendError, host_name};
use crate::batch::{Batch, Contents};
use crate::settings::Settings;

/// A receiver of OTLP.
pub struct Otlp {
    endpoint: Endpoint,
    settings: Arc<Settings>,
    host: String,
}

impl Otlp {
    /// The receiver that the settings name.
    pub fn new(settings: &Arc<Settings>) -> Self {
        let endpoint =
            Endpoint::new(settings, "/v1development/profiles").with_bearer(settings.key.as_deref());
        Self { endpoint, settings: Arc::clone(settings), host: host_name() }
    }

    /// The attributes of the program and its process, by the semantic conventions of OpenTelemetry. The settings come
    /// first.
    fn resource(&self, header: &Header) -> Resource {
        let settings = &self.settings;
        let texts = [
            ("service.name", Some(settings.app.clone())),
            ("service.version", settings.release.clone()),
            ("deployment.environment.name", settings.environment.clone()),
            ("host.name", Some(self.host.clone())),
            ("process.command_line", Some(header.command.clone())),
            ("process.runtime.name", Some("nodejs".to_owned())),
            ("process.runtime.version", Some(header.node.trim_start_matches('v').to_owned())),
        ];
        let mut resource = Resource::default();
        for (name, value) in &settings.resource {
            resource.texts.push((name.clone(), value.clone()));
        }
        for (name, value) in texts {
            if let Some(value) = value.filter(|value| !value.is_empty())
                && !settings.resource.contains_key(name)
            {
                resource.texts.push((name.to_owned(), value));
            }
        }
        resource.numbers.push(("process.pid".to_owned(), header.pid.into()));
        resource
    }
}

impl Output for Otlp {
    fn send(&mut self, batch: &Batch) -> Result<Receipt, SendError> {
        let mut contents = Contents::read(batch, &batch.parts, None)?;
        let receipt = Receipt { corrupt: std::mem::take(&mut contents.corrupt), remark: None };
        let (Some(header), Some(first)) = (&contents.header, batch.parts.first()) else { return Ok(receipt) };
        for thread in &mut contents.threads {
            thread.trace.add_gc_frames();
            thread.trace.add_waiting_frames();
        }
        let seed = format!("{} {} {} {}", self.host, first.process, first.number, header.time_origin_ms);
        let mut body = Vec::new();
        otlp::write_export(
            &contents.threads,
            &self.resource(header),
            &seed,
            &mut body,
            WriteOptions { gzip: true },
        )
        .map_err(|error| SendError::Never { reason: error.to_string() })?;
        let headers = [("content-type", "application/x-protobuf"), ("content-encoding", "gzip")];
        self.endpoint.post(self.endpoint.url.clone(), &headers, &body)?;
        Ok(receipt)
    }
}
