//! The native addon, which samples V8. Each Node.js major needs its own.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

use super::node::{MAJORS, Node};
use super::package::Package;

/// Fails if the package has no addon for this Node.js. Addons are `selfprof-<platform>-<arch>-<modules>.node` in the
/// package of the platform.
pub fn check(package: &Package, node: &Node) -> Result<(), Failure> {
    let prefix = format!("selfprof-{}-{}-", node.platform, node.arch);
    let Some(addons) = package.addons(&node.platform, &node.arch) else {
        return Err(Failure::job(format!(
            "the npm package `@selfprof/native-{}-{}` with the native addons is not installed",
            node.platform, node.arch
        ))
        .hint("install `selfprof` again without --omit=optional; it supports Linux x64 with glibc"));
    };
    if addons.join(format!("{prefix}{}.node", node.modules)).is_file() {
        return Ok(());
    }
    let Node { version, platform, arch, .. } = node;
    let failure =
        Failure::job(format!("no prebuilt addon was found for Node.js {version} on {platform}-{arch}"));
    let found = match majors(&addons, &prefix).as_slice() {
        [] => "the npm package has no addons yet".to_owned(),
        majors => format!("the npm package has addons for Node.js {}", majors.join(", ")),
    };
    let is_supported = MAJORS.iter().any(|&(modules, _)| modules == node.modules);
    Err(if is_supported {
        failure
            .hint(format!("{found}; in a checkout, `cargo xtask build --node {}` builds one", node.major()))
    } else {
        let majors = MAJORS.map(|(_, major)| major.to_string()).join(", ");
        failure.hint(format!("{found}; selfprof supports Node.js {majors}: choose one with --node PATH"))
    })
}

/// The Node.js majors whose addons are in this directory, in ascending order.
fn majors(addons: &Path, prefix: &str) -> Vec<String> {
    let names = fs::read_dir(addons).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut modules: Vec<u32> = names
        .filter_map(|name| name.to_str()?.strip_prefix(prefix)?.strip_suffix(".node")?.parse().ok())
        .collect();
    modules.sort_unstable();
    modules
        .into_iter()
        .map(|modules| match MAJORS.iter().find(|(known, _)| *known == modules) {
            Some((_, major)) => major.to_string(),
            None => format!("(modules {modules})"),
        })
        .collect()
}
