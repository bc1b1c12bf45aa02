//! The addon: the part that samples V8, of which each Node major needs its own.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::node::{MAJORS, Node};
use crate::package::Package;

/// Fails when the package has no addon for this Node. Where it is: `native/selfprof-<platform>-<arch>-<modules>.node`.
pub fn check(package: &Package, node: &Node) -> Result<(), Failure> {
    let prefix = format!("selfprof-{}-{}-", node.platform, node.arch);
    let addons = package.addons();
    if addons.join(format!("{prefix}{}.node", node.modules)).is_file() {
        return Ok(());
    }
    let Node { version, platform, arch, .. } = node;
    let failure = Failure::job(format!("there is no addon for Node {version} on {platform}-{arch}"));
    let there = match majors(&addons, &prefix).as_slice() {
        [] => "there are none yet".to_owned(),
        majors => format!("there are some for Node {}", majors.join(", ")),
    };
    let is_supported = MAJORS.iter().any(|&(modules, _)| modules == node.modules);
    Err(if is_supported {
        failure.hint(format!("{there}; `cargo xtask build --node {}` builds it", node.major()))
    } else {
        let majors = MAJORS.map(|(_, major)| major.to_string()).join(", ");
        failure.hint(format!("{there}; selfprof supports Node {majors}: name one with --node PATH"))
    })
}

/// The majors that there are addons for, in ascending order.
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
