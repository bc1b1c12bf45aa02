//! The licences of what the native files contain, with their texts.

use crate::checkout::Checkout;
use crate::crates_io::CARGO_ABOUT;
use crate::job::{self, Output};
use crate::packages::Packages;
use crate::problem::Problem;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// An npm package, and the crates whose programs and libraries are in it: the folder of the workspace, and that of the
/// crate in it.
const NATIVE: [(&str, &[(&str, &str)]); 2] = [
    ("native-linux-x64", &[(".", "crates/cli"), (".", "crates/node")]),
    ("collector-linux-x64", &[("collector", "collector")]),
];

/// What Vite writes about the libraries in the collector's pages, which are in its program.
const OF_PAGES: [&str; 2] = ["index.licenses.md", "profile.licenses.md"];

/// Writes a file for each package with native files, named after it, into the folder.
pub fn write(checkout: &Checkout, packages: &Packages, folder: &Path, output: &Output<'_>) -> Result<()> {
    let about = CARGO_ABOUT.program(checkout, packages)?;
    let settings = checkout.root().join("xtask/release");
    for (package, crates) in NATIVE {
        let mut texts = Vec::new();
        for (workspace, name) in crates {
            let file = folder.join("crates.txt");
            let workspace = checkout.root().join(workspace);
            let mut command = Command::new(&about);
            command.args(["generate", "--fail", "--locked", "--offline", "--manifest-path"]);
            command.arg(workspace.join(name).join("Cargo.toml"));
            command.arg("--config").arg(settings.join("about.toml")).arg("--output-file").arg(&file);
            command.arg(settings.join("notices.hbs")).current_dir(workspace);
            job::run(&mut command, output)
                .with_context(|| format!("the licences of {name} are not known"))?;
            texts.push(fs::read_to_string(&file)?);
            fs::remove_file(&file)?;
        }
        if package.starts_with("collector") {
            for name in OF_PAGES {
                let file = checkout.collector().join("page/dist").join(name);
                let text = fs::read_to_string(&file).map_err(|_| {
                    Problem::error(
                        format!(
                            "the pages of the collector are not built: {} does not exist",
                            file.display()
                        ),
                        "leave out --no-build",
                    )
                })?;
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        fs::write(folder.join(format!("{package}.txt")), texts.join("\n\n"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use toml_edit::{Array, DocumentMut, Item};

    fn texts(array: Option<&Array>) -> BTreeSet<String> {
        array.into_iter().flatten().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
    }

    #[test]
    fn accepted_licences_are_allowed_ones() {
        let document = |text: &str| -> DocumentMut {
            let Ok(document) = text.parse() else { panic!("no TOML: {text}") };
            document
        };
        let mut allowed = BTreeSet::new();
        for text in [include_str!("../../../deny.toml"), include_str!("../../../collector/deny.toml")] {
            let licences = &document(text)["licenses"];
            allowed.extend(texts(licences["allow"].as_array()));
            for exception in licences["exceptions"].as_array().into_iter().flatten() {
                let allow =
                    exception.as_inline_table().and_then(|exception| exception.get("allow")?.as_array());
                allowed.extend(texts(allow));
            }
        }
        // Part of libFuzzer, which does not ship.
        allowed.remove("NCSA");
        let about = document(include_str!("../../release/about.toml"));
        assert_eq!(texts(about.get("accepted").and_then(Item::as_array)), allowed);
    }
}
