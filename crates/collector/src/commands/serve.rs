//! `selfprof-collector serve`

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use selfprof_store::query::Reader;
use tokio::net::TcpListener;

use super::process::{self, stopped};
use super::store;
use crate::arguments::ServeArguments;
use crate::config::Config;
use crate::server::{self, Access, State};

/// How long the last profiles may take on their way to the tables.
const CLOSE_TIME: Duration = Duration::from_secs(30);

/// Runs the command.
pub async fn serve(arguments: ServeArguments) -> Result<ExitCode> {
    process::tell();
    let config = arguments.config.as_deref().map(Config::read).transpose()?;
    if config.is_none() && !server::is_loopback(&arguments.listen) {
        bail!(
            "{} can be reached from other machines, so a file of settings with keys and tokens is needed\n\n\
             hint: `--config FILE` with\n\n    tokens = [\"a long random text\"]\n    [apps.shop]\n    keys = [\"another one\"]",
            arguments.listen
        );
    }
    let options = store::options(&arguments.data, arguments.log.as_deref())?;
    let mut reader = Reader::open(&options.tables).await.context("cannot read the data")?;
    if let Some(engine) = arguments.engine {
        if let Err(error) = engine.check().await {
            // It may come later. Profiles are taken in without it.
            tracing::warn!("no question can be answered yet: {error}");
        }
        reader = reader.on_cluster(engine);
    }
    let opened = store::open(options).await?;
    let listener = TcpListener::bind(arguments.listen)
        .await
        .with_context(|| format!("cannot listen on {}", arguments.listen))?;
    let address = listener.local_addr()?;
    // Whoever started it may have stopped reading.
    let _ = writeln!(
        io::stdout(),
        "selfprof-collector listens on http://{address}\nprofiles are sent to        http://{address}/v1/profiles"
    );
    let state = Arc::new(State::new(opened, reader, Access::new(config.as_ref())));
    server::serve(listener, Arc::clone(&state), stopped()).await;
    tracing::info!("stopping: profiles are written to the tables");
    match Arc::try_unwrap(state) {
        Ok(state) => {
            if tokio::time::timeout(CLOSE_TIME, state.store.close()).await.is_err() {
                tracing::warn!(
                    "the tables cannot be written; the last profiles stay in the log until the next start"
                );
            }
        }
        // A request that was cut off still holds it. What it has accepted is in the log, and written at the next start.
        Err(_) => tracing::warn!("the last profiles are written at the next start"),
    }
    Ok(ExitCode::SUCCESS)
}
