//! `selfprof-collector serve`

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use selfprof_store::Acknowledged;
use selfprof_store::alerts::Alerts;
use selfprof_store::coverage::Coverages;
use selfprof_store::query::Reader;
use selfprof_store::upkeep::{Retention, Settings};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::process::{self, stopped};
use super::store;
use crate::alerts::Watch;
use crate::arguments::{Ack, ServeArguments, now};
use crate::config::Config;
use crate::server::{self, Access, State};
use crate::upkeep::Keeper;

/// How long the last profiles may take on their way to the tables.
const CLOSE_TIME: Duration = Duration::from_secs(30);

/// Runs the command.
pub async fn serve(arguments: ServeArguments) -> Result<ExitCode> {
    process::tell();
    // Whoever reads the address may stop the process at once.
    let stop = stopped();
    let config = arguments.config.as_deref().map(Config::read).transpose()?;
    if config.is_none() && !arguments.listen.ip().is_loopback() {
        bail!(
            "{} can be reached from other machines, so a file of settings with keys and tokens is needed\n\n\
             hint: `--config FILE` with\n\n    tokens = [\"a long random text\"]\n    [apps.shop]\n    keys = [\"another one\"]",
            arguments.listen
        );
    }
    let settings = settings(&arguments, config.as_ref());
    let retention = settings.retention.clone();
    let mut options = store::options(&arguments.data, arguments.log.as_deref())?;
    if arguments.ack == Ack::Bucket {
        if !arguments.data.contains("://") {
            bail!("--ack bucket needs a bucket: --data s3://BUCKET/PREFIX");
        }
        options.acknowledged = Acknowledged::InTables;
    }
    let mut reader = Reader::open(&options.tables).await.context("cannot read the data")?;
    if let Some(engine) = arguments.engine {
        if let Err(error) = engine.check().await {
            // It may come later. Profiles are taken in without it.
            tracing::warn!("no question can be answered yet: {error}");
        }
        reader = reader.on_cluster(engine);
    }
    let location = options.tables.clone();
    let alerts = Alerts::open(&options.tables).context("cannot read the alerts")?;
    let coverage = Coverages::open(&options.tables).context("cannot read the coverage")?;
    let opened = store::open(options).await?;
    let keeper = Keeper::start(&location, settings, arguments.upkeep_every).await?;
    let listener = TcpListener::bind(arguments.listen)
        .await
        .with_context(|| format!("cannot listen on {}", arguments.listen))?;
    let address = listener.local_addr()?;
    // Whoever started it may have stopped reading.
    let _ = writeln!(
        io::stdout(),
        "selfprof-collector listens on http://{address}\nprofiles are sent to        http://{address}/v1/profiles"
    );
    let alerting = config.as_ref().map(|config| config.alerts.clone()).unwrap_or_default();
    let watch = Watch::new(alerting, alerts);
    let state = Arc::new(State::new(opened, reader, Access::new(config.as_ref()), keeper, watch, coverage));
    let (stop_watching, stopping) = watch::channel(());
    let counting = tokio::spawn({
        let (state, stopping) = (Arc::clone(&state), stopping.clone());
        async move { keep_coverage(&state.coverage, &retention, stopping).await }
    });
    let watching = tokio::spawn({
        let state = Arc::clone(&state);
        async move { state.watch.run(&state.reader, &format!("http://{address}"), stopping).await }
    });
    server::serve(listener, Arc::clone(&state), stop).await;
    drop(stop_watching);
    if tokio::time::timeout(CLOSE_TIME, watching).await.is_err() {
        tracing::warn!("the search for regressions was cut off");
    }
    if tokio::time::timeout(CLOSE_TIME, counting).await.is_err() {
        tracing::warn!("the coverage of the last seconds cannot be written");
    }
    tracing::info!("stopping: profiles are written to the tables");
    match Arc::try_unwrap(state) {
        Ok(state) => {
            let State { store, keeper, .. } = state;
            if tokio::time::timeout(CLOSE_TIME, keeper.close()).await.is_err() {
                tracing::warn!("the deletion of a session was cut off");
            }
            if tokio::time::timeout(CLOSE_TIME, store.close()).await.is_err() {
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

/// How often the coverage is written.
const COVERAGE_TIME: Duration = Duration::from_secs(3);

/// How often days of coverage are looked for that are too old.
const RETENTION_TIME: Duration = Duration::from_secs(3_600);

/// Writes the coverage again and again, at last when the server has ended.
async fn keep_coverage(coverage: &Coverages, retention: &Retention, mut stop: watch::Receiver<()>) {
    let mut next_deletion = Instant::now();
    let mut is_failing = false;
    loop {
        let is_over = tokio::time::timeout(COVERAGE_TIME, stop.changed()).await.is_ok();
        let mut result = coverage.write(now()).await;
        if Instant::now() >= next_deletion {
            next_deletion += RETENTION_TIME;
            result = result.and(coverage.delete_old(retention, now()).await);
        }
        match &result {
            Err(error) if !is_failing => tracing::warn!("the coverage cannot be written: {error}"),
            _ => {}
        }
        is_failing = result.is_err();
        if is_over {
            return;
        }
    }
}

/// What the tables' upkeep does.
fn settings(arguments: &ServeArguments, config: Option<&Config>) -> Settings {
    let apps = config.iter().flat_map(|config| &config.apps);
    let apps = apps.filter_map(|(name, app)| Some((name.clone(), app.keep?))).collect();
    let mut settings = Settings { retention: Retention { all: arguments.keep, apps }, ..Settings::default() };
    settings.limits.files = arguments.upkeep_files;
    settings.keep_merged = arguments.upkeep_keep;
    settings
}
