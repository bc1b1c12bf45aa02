//! Arguments of `selfprof agent-exporter`.

use std::path::PathBuf;

use clap::Args;

/// Send the profiles of running servers
///
/// `node --import selfprof/agent server.mjs` starts this command. It sends what the server and its child processes have
/// recorded, and ends after them. Run it yourself to send what an earlier exporter left in a folder.
#[derive(Debug, Args)]
#[command(after_help = MORE)]
pub struct AgentExporterArguments {
    /// The folder of the recording, with the file settings.json
    #[arg(long, value_name = "DIR")]
    pub folder: PathBuf,
}

const MORE: &str = "\
settings.json says what is sent, and where: in its members `output` (a URL or a folder), `format` (collector, folder,
pyroscope or otlp), `app`, `release`, `environment`, `key`, `headers` and others; see docs/agents.md. HTTPS_PROXY and NO_PROXY
apply, and SSL_CERT_FILE names other root certificates.

Profiles that cannot be sent are retried. If more than `maxBytes` wait, the oldest ones are dropped. After the last process has
ended, the exporter keeps trying for 10 seconds. With `spool`, the rest stays for the next exporter.

Messages begin with `selfprof agent: ` and go to stderr. If the folder already has an exporter, the command exits at once.";
