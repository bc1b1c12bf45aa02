//! What the release is made of: bills of materials in the format of CycloneDX.

use crate::checkout::Checkout;
use crate::crates_io::CARGO_CYCLONEDX;
use crate::job::{self, Output};
use crate::packages::Packages;
use anyhow::{Context, Result, bail};
use cargo_metadata::MetadataCommand;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of the native files, by the folder of their workspace.
const CRATES: [(&str, &[&str]); 2] =
    [(".", &["selfprof", "selfprof-node"]), ("collector", &["selfprof-collector"])];

/// The name that the files get beside each manifest.
const TEMPORARY: &str = "selfprof-release-materials";

/// Writes a bill for each native file, and one for all npm packages with what is bundled in them.
pub fn write(
    checkout: &Checkout,
    packages: &Packages,
    (folder, version): (&Path, &str),
    output: &Output<'_>,
) -> Result<()> {
    for (workspace, crates) in CRATES {
        let workspace = checkout.root().join(workspace);
        let name = |name: &str| folder.join(format!("{name}-{version}.cdx.json"));
        of_crates(checkout, packages, &workspace, crates, &name, output)?;
    }
    let file = folder.join(format!("npm-packages-{version}.cdx.json"));
    let mut npm = Command::new("npm");
    npm.args([
        "sbom",
        "--package-lock-only",
        "--sbom-format",
        "cyclonedx",
        "--omit",
        "dev",
        "--omit",
        "peer",
    ]);
    let bill = npm.current_dir(checkout.root()).output().context("cannot start npm")?;
    if !bill.status.success() {
        bail!("npm sbom ended with {}: {}", bill.status, String::from_utf8_lossy(&bill.stderr));
    }
    // npm names the folder of the checkout here.
    let mut bill: Value = serde_json::from_slice(&bill.stdout)?;
    bill["metadata"]["component"]["name"] = "selfprof-workspace".into();
    fs::write(&file, serde_json::to_vec_pretty(&bill)?)?;
    check(&file)
}

/// cargo-cyclonedx writes a file beside the manifest of each member of the workspace. Those of these crates are moved;
/// the others are deleted.
fn of_crates(
    checkout: &Checkout,
    packages: &Packages,
    workspace: &Path,
    crates: &[&str],
    target: &dyn Fn(&str) -> PathBuf,
    output: &Output<'_>,
) -> Result<()> {
    let metadata = MetadataCommand::new().current_dir(workspace).no_deps().exec()?;
    let mut command = Command::new(CARGO_CYCLONEDX.program(checkout, packages)?);
    command.args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--no-build-deps", "--quiet"]);
    command.args(["--target", "x86_64-unknown-linux-gnu", "--override-filename", TEMPORARY]);
    let made = job::run(command.current_dir(workspace), output).context("the crates were not listed");
    for member in metadata.packages {
        let file = member.manifest_path.with_file_name(format!("{TEMPORARY}.json"));
        if crates.contains(&member.name.as_str()) && made.is_ok() {
            let target = target(&member.name);
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
            fs::write(&target, without_folder(&text, checkout.root()))
                .with_context(|| format!("cannot write {}", target.display()))?;
            check(&target)?;
        }
        let _ = fs::remove_file(file);
    }
    made
}

/// Names the crates of the checkout by their paths in it, and not by where it is.
fn without_folder(bill: &str, root: &Path) -> String {
    bill.replace(&format!("file://{}/", root.display()), "file:///")
}

/// Fails if a bill lists nothing.
fn check(file: &Path) -> Result<()> {
    let bill: Value = serde_json::from_slice(&fs::read(file)?)?;
    if bill["bomFormat"] != "CycloneDX" || bill["components"].as_array().is_none_or(Vec::is_empty) {
        bail!("{} lists nothing", file.display());
    }
    Ok(())
}

#[test]
fn a_bill_does_not_name_the_folder_of_the_checkout() {
    let bill =
        r#"{ "bom-ref": "path+file:///home/me/selfprof/crates/trace#0.1.0", "purl": "pkg:cargo/a@1.0.0" }"#;
    let expected = r#"{ "bom-ref": "path+file:///crates/trace#0.1.0", "purl": "pkg:cargo/a@1.0.0" }"#;
    assert_eq!(without_folder(bill, Path::new("/home/me/selfprof")), expected);
}
