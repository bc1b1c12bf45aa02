//! Arguments of `selfprof agent-exporter`.

use std::path::PathBuf;

use clap::Args;

/// Send the profiles of running servers
///
/// `node --import selfprof/agent server.mjs` starts this command by itself. It sends what the server and its child processes have
/// recorded, and ends after them. Start it by hand to send what an earlier one has left in a folder.
#[derive(Debug, Args)]
#[command(after_help = MORE)]
pub struct AgentExporterArguments {
    /// The folder of the recording, with the file settings.json
    #[arg(long, value_name = "DIR")]
    pub folder: PathBuf,
}

const MORE: &str = "\
What is sent, and where: settings.json says it, in the members `output` (a URL or a folder), `format` (collector, folder,
pyroscope or otlp), `app`, `release`, `environment`, `key`, `headers`, and others; see docs/agents.md. HTTPS_PROXY and NO_PROXY
apply, and SSL_CERT_FILE names other root certificates.

What cannot be sent is tried again, up to `maxBytes` of it; then the oldest profiles are dropped. After the last process has
ended, the exporter tries for 10 seconds more. With `spool`, the rest stays for the next exporter.

Messages begin with `selfprof agent: ` and go to stderr. If there is an exporter of the folder already, the command ends at
once.";
