//! `selfprof-collector import`

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use flate2::bufread::MultiGzDecoder;
use selfprof_formats::{Hint, ReadOptions, Thread};
use selfprof_store::profile::Profile;
use selfprof_store::{Added, Store};

use super::store;
use crate::arguments::{ImportArguments, Moment, now};
use crate::config::check_app;
use crate::upload::{self, Sender, Upload};

/// The largest line, and the largest file that is one trace, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Profiles that are written together.
const TOGETHER: usize = 500;

/// Runs the command.
pub async fn import(arguments: ImportArguments) -> Result<ExitCode> {
    arguments.app.as_deref().map(check_app).transpose()?;
    let sender = Sender {
        release: arguments.release.clone().unwrap_or_default(),
        page: arguments.page.clone().unwrap_or_default(),
        ..Sender::default()
    };
    let opened = store::open(store::options(&arguments.data, None)?).await?;
    let mut all = Added::default();
    for path in &arguments.files {
        let times = Times::of(path, arguments.time);
        let taken = import_file(&opened, path, &sender, (arguments.app.as_deref(), times)).await;
        let added = taken.with_context(|| path.display().to_string())?;
        eprintln!("{}: {} profiles, {} were there already", path.display(), added.new, added.known);
        all += added;
    }
    opened.close().await;
    eprintln!(
        "{} profiles are in {}, {} of them were there already",
        all.new + all.known,
        arguments.data,
        all.known
    );
    Ok(ExitCode::SUCCESS)
}

async fn import_file(
    store: &Store,
    path: &Path,
    sender: &Sender,
    (app, times): (Option<&str>, Times),
) -> Result<Added> {
    let mut input = open(path)?;
    if !input.fill_buf()?.trim_ascii_start().starts_with(b"{") {
        return Ok(store.add(&traces(input, path, sender, (app, times))?).await?);
    }
    let mut line = Vec::new();
    let (mut number, mut all) = (0, Added::default());
    let mut profiles: Vec<Profile> = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(MAX_BYTES).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Upload>(&line) {
            // It says nothing of a profile.
            Ok(upload) if upload.is_coverage() => {}
            Ok(upload) if upload.has_trace() => {
                let time = upload.time(times.now);
                let profile = time.and_then(|time| upload.or_app(app).into_profile(times.or(time), sender));
                profiles.push(profile.with_context(|| format!("line {number}"))?);
            }
            // A file that is one trace.
            _ if number == 1 => {
                let rest = std::mem::take(&mut line);
                profiles.extend(traces(rest.as_slice().chain(input), path, sender, (app, times))?);
                break;
            }
            Ok(_) => bail!("line {number}: {}", upload::Refused::NoTrace),
            Err(error) => bail!("line {number}: {error}"),
        }
        if profiles.len() >= TOGETHER {
            all += store.add(&profiles).await?;
            profiles.clear();
        }
    }
    all += store.add(&profiles).await?;
    Ok(all)
}

/// The threads of a file that is one trace. Each is a profile.
fn traces(
    input: impl Read,
    path: &Path,
    sender: &Sender,
    (app, times): (Option<&str>, Times),
) -> Result<Vec<Profile>> {
    let mut bytes = Vec::new();
    input.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let hint = Hint { name: path.file_name().and_then(|name| name.to_str()), format: None };
    let profile = selfprof_formats::read(bytes.as_slice(), hint, &ReadOptions::default())?;
    let Some(app) = app else { bail!("the file does not say which application it is of: add --app") };
    let sender = Sender { app: Some(app.to_owned()), device: "server".into(), ..sender.clone() };
    let threads = profile.threads.iter().filter(|(thread, _)| !thread.trace.samples().is_empty());
    threads
        .map(|(thread, _)| Ok(upload::of_trace(&thread.trace, times.or(start_of(thread)), &sender)?))
        .collect()
}

/// The times of a file's profiles, in microseconds since 1970.
#[derive(Clone, Copy)]
struct Times {
    now: i64,
    /// What the command line says.
    stated: Option<i64>,
    /// When the file was last written.
    written: i64,
}

impl Times {
    fn of(path: &Path, stated: Option<Moment>) -> Self {
        let now = now();
        let written = path.metadata().and_then(|metadata| metadata.modified()).ok();
        let written = written.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let written = written.and_then(|time| i64::try_from(time.as_micros()).ok());
        Self { now, stated: stated.map(|moment| moment.resolve(now)), written: written.unwrap_or(now) }
    }

    /// The time of a profile that says this time itself, or none.
    fn or(self, own: Option<i64>) -> i64 {
        let possible = own.filter(|time| (FIRST_TIME..=self.now.saturating_add(DAY)).contains(time));
        self.stated.or(possible).unwrap_or(self.written)
    }
}

/// The first of January 2000. No profile is older.
const FIRST_TIME: i64 = 946_684_800_000_000;

/// Clocks differ.
const DAY: i64 = 86_400_000_000;

/// When the first sample of a thread was taken, if the file says it.
fn start_of(thread: &Thread) -> Option<i64> {
    let (first, _) = thread.trace.span()?;
    Some(((thread.time_origin? + first.as_millis_f64()) * 1_000.0) as i64)
}

/// A file, decompressed if it is gzip.
fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(File::open(path)?);
    let is_gzip = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) })
}
