//! `selfprof-collector import`

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use flate2::bufread::MultiGzDecoder;
use selfprof_formats::{Hint, ReadOptions};
use selfprof_store::Store;
use selfprof_store::profile::Profile;

use super::store;
use crate::arguments::{ImportArguments, now};
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
        app: None,
        release: arguments.release.clone().unwrap_or_default(),
        page: arguments.page.clone().unwrap_or_default(),
        ..Sender::default()
    };
    let opened = store::open(store::options(&arguments.data, None)?).await?;
    let mut counts = (0, 0);
    for path in &arguments.files {
        let taken = import_file(&opened, path, &sender, arguments.app.as_deref()).await;
        let (new, known) = taken.with_context(|| path.display().to_string())?;
        eprintln!("{}: {new} profiles, {known} were there already", path.display());
        counts = (counts.0 + new, counts.1 + known);
    }
    opened.close().await;
    eprintln!(
        "{} profiles are in {}, {} of them were there already",
        counts.0 + counts.1,
        arguments.data,
        counts.1
    );
    Ok(ExitCode::SUCCESS)
}

async fn import_file(
    store: &Store,
    path: &Path,
    sender: &Sender,
    app: Option<&str>,
) -> Result<(usize, usize)> {
    let mut input = open(path)?;
    let mut line = Vec::new();
    let (mut number, mut counts) = (0, (0, 0));
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
            Ok(upload) => {
                let sender = Sender { app: None, ..sender.clone() };
                let profile = upload.or_app(app).into_profile(now(), &sender);
                profiles.push(profile.with_context(|| format!("line {number}"))?);
            }
            // A file that is one trace.
            Err(_) if number == 1 => {
                let rest = std::mem::take(&mut line);
                profiles.extend(traces(rest.as_slice().chain(input), path, sender, app)?);
                break;
            }
            Err(error) => bail!("line {number}: {error}"),
        }
        if profiles.len() >= TOGETHER {
            add(store, &mut profiles, &mut counts).await?;
        }
    }
    add(store, &mut profiles, &mut counts).await?;
    Ok(counts)
}

async fn add(store: &Store, profiles: &mut Vec<Profile>, counts: &mut (usize, usize)) -> Result<()> {
    let added = store.add(profiles).await?;
    profiles.clear();
    counts.0 += added.new;
    counts.1 += added.known;
    Ok(())
}

/// The threads of a file that is one trace. Each is a profile.
fn traces(input: impl Read, path: &Path, sender: &Sender, app: Option<&str>) -> Result<Vec<Profile>> {
    let mut bytes = Vec::new();
    input.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let hint = Hint { name: path.file_name().and_then(|name| name.to_str()), format: None };
    let profile = selfprof_formats::read(bytes.as_slice(), hint, &ReadOptions::default())?;
    let Some(app) = app else { bail!("the file does not say which application it is of: add --app") };
    let sender = Sender { app: Some(app.to_owned()), device: "server".into(), ..sender.clone() };
    let threads = profile.threads.iter().filter(|(thread, _)| !thread.trace.samples().is_empty());
    threads.map(|(thread, _)| Ok(upload::of_trace(&thread.trace, now(), &sender)?)).collect()
}

/// A file, decompressed if it is gzip.
fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(File::open(path)?);
    let is_gzip = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(file))) } else { Box::new(file) })
}
