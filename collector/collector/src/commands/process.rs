//! What commands that run until they are stopped have in common.

use std::io::{self, IsTerminal};

use tokio::signal::unix::{SignalKind, signal};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

/// Writes messages for operators to stderr.
pub fn tell() {
    // The libraries tell much that is of no use to operators.
    let shown = Targets::new()
        .with_default(Level::ERROR)
        .with_target("selfprof", Level::INFO)
        // These write the errors that they return, each second of an outage, and what is no error: that another writer
        // was faster.
        .with_target("deltalake_core", LevelFilter::OFF)
        .with_target("buoyant_kernel", LevelFilter::OFF);
    tracing_subscriber::registry()
        .with(
            tracing_subscriber::fmt::layer()
                .with_writer(io::stderr)
                .with_ansi(io::stderr().is_terminal())
                .with_filter(shown),
        )
        .init();
}

/// Ready when the process is asked to stop, which counts from this call on.
pub fn stopped() -> impl Future<Output = ()> {
    let signals = signal(SignalKind::interrupt()).and_then(|int| Ok((int, signal(SignalKind::terminate())?)));
    async {
        match signals {
            Ok((mut int, mut term)) => {
                tokio::select! {
                    _ = int.recv() => {}
                    _ = term.recv() => {}
                }
            }
            Err(error) => {
                tracing::warn!(%error, "signals cannot be handled, so the process stops only when it is killed");
                std::future::pending::<()>().await;
            }
        }
    }
}
