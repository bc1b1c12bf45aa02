//! `selfprof-collector maps`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::client::Client;
use crate::arguments::{MapsArguments, MapsCommand, UploadArguments};
use crate::config::check_app;

/// Runs the command.
pub async fn maps(arguments: MapsArguments) -> Result<ExitCode> {
    match arguments.command {
        MapsCommand::Upload(arguments) => upload(&arguments).await,
    }
}

async fn upload(arguments: &UploadArguments) -> Result<ExitCode> {
    check_app(&arguments.app)?;
    let mut files = Vec::new();
    find(&arguments.folder, 0, &mut files)
        .with_context(|| format!("cannot read {}", arguments.folder.display()))?;
    files.sort_unstable();
    if files.is_empty() {
        bail!(
            "no file in {} ends in .map: name the folder of the bundles and their maps",
            arguments.folder.display()
        );
    }
    let client = Client::new(&arguments.collector);
    for file in &files {
        let path = file.strip_prefix(&arguments.folder).unwrap_or(file).with_extension("");
        let script = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        let json = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let parameters = [
            ("app", arguments.app.clone()),
            ("release", arguments.release.clone()),
            ("script", script.clone()),
        ];
        client.post("/api/v1/maps", &parameters, json).await.with_context(|| file.display().to_string())?;
        eprintln!("{script}: its map is kept");
    }
    Ok(ExitCode::SUCCESS)
}

/// Folders within folders that are searched.
const MAX_DEPTH: usize = 20;

fn find(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && depth < MAX_DEPTH {
            find(&path, depth + 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "map") {
            files.push(path);
        }
    }
    Ok(())
}
