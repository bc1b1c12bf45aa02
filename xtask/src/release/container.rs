//! The image of the collector.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::packages::Packages;
use crate::progress::say;
use crate::pypi::HADOLINT;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that build images.
const ENGINES: [&str; 2] = ["podman", "docker"];

/// The file that describes the image, in the folder that is its context.
const CONTAINERFILE: &str = "Containerfile";

/// Writes the Containerfile into the folder with the files that it copies and checks it; then builds the image if
/// podman or docker runs here.
pub fn make(
    checkout: &Checkout,
    packages: &Packages,
    (folder, version): (&Path, &str),
    output: &Output<'_>,
) -> Result<()> {
    let template = fs::read_to_string(checkout.root().join("xtask/release").join(CONTAINERFILE))?;
    let text = of_version(&template, version)?;
    for source in sources(&text, version) {
        if !folder.join(&source).is_file() {
            bail!("{CONTAINERFILE} copies {source}, which is not in {}", folder.display());
        }
    }
    let file = folder.join(CONTAINERFILE);
    fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    let mut lint = Command::new(HADOLINT.folder(packages)?.join("bin/hadolint"));
    lint.args(["--failure-threshold", "style"]).arg(&file);
    job::run(&mut lint, output).with_context(|| format!("{} has faults", file.display()))?;
    let Some(engine) = ENGINES.into_iter().find(|engine| runs(engine)) else {
        say("the image is not built: neither podman nor docker runs here");
        return Ok(());
    };
    let mut build = Command::new(engine);
    build.args(["build", "--tag", &format!("selfprof-collector:{version}"), "--file"]);
    build.arg(&file).arg(folder);
    job::run(&mut build, output).context("the image was not built")
}

/// Whether it can build: the command `docker` may be there without its daemon.
fn runs(engine: &str) -> bool {
    let mut info = Command::new(engine);
    info.arg("info").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    info.status().is_ok_and(|status| status.success())
}

/// Gives the argument VERSION its value.
fn of_version(template: &str, version: &str) -> Result<String> {
    let (before, after) =
        template.split_once("\nARG VERSION\n").context("the Containerfile has no line `ARG VERSION`")?;
    Ok(format!("{before}\nARG VERSION={version}\n{after}"))
}

/// The files of the context that are copied into the image.
fn sources(containerfile: &str, version: &str) -> Vec<String> {
    let text = containerfile.replace("\\\n", " ").replace("${VERSION}", version);
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let is_copy = words.next().is_some_and(|word| ["ADD", "COPY"].contains(&word));
        let words: Vec<&str> = words.collect();
        if !is_copy || words.iter().any(|word| word.starts_with("--from=")) {
            continue;
        }
        let paths: Vec<&str> = words.into_iter().filter(|word| !word.starts_with("--")).collect();
        if let [sources @ .., _] = &paths[..] {
            found.extend(sources.iter().map(|&source| source.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_files_are_found() {
        let text = "FROM a AS b\nADD x-${VERSION}.tar.gz /opt/\nCOPY --chown=1:1 c \\\n  d /e/\nCOPY --from=b /f /f\n";
        assert_eq!(sources(text, "1.2.3"), ["x-1.2.3.tar.gz", "c", "d"]);
    }

    #[test]
    fn the_collector_is_copied() {
        let template = include_str!("../../release/Containerfile");
        let Ok(text) = of_version(template, "1.2.3") else { panic!("no version") };
        assert_eq!(sources(&text, "1.2.3"), ["selfprof-collector-1.2.3-linux-x64.tar.gz"]);
    }
}
