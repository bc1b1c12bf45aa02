//! Grouping functions by npm package.

use std::cmp::Reverse;
use std::collections::HashMap;

use selfprof_trace::summary::{Code, Tally, group_times};
use selfprof_trace::{GARBAGE_COLLECTOR, MergedThreads, WAITING};

use crate::terminal::names::without_script;

/// The name of code in no package.
const OWN_CODE: &str = "(own code)";

/// The name of Node.js's own scripts.
const NODE: &str = "Node.js";

/// The time of a package.
#[derive(Clone, Debug)]
pub struct PackageRow {
    /// The package, e.g. `eslint` or `@babel/core`; or a name for code in no package.
    pub name: String,
    /// The time in its own code.
    pub own: Tally,
    /// The time in its code and its callees.
    pub total: Tally,
}

/// The packages of a program, most self time first.
pub fn rows(merged: &MergedThreads) -> Vec<PackageRow> {
    let trace = &merged.trace;
    let mut names: Vec<&str> = Vec::new();
    let mut number_of: HashMap<&str, usize> = HashMap::new();
    let mut number = |name| {
        *number_of.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        })
    };
    let of_resource: Vec<usize> = trace.resources().iter().map(|(_, url)| number(package_of(url))).collect();
    let [native, collector, waiting] = [without_script(trace), GARBAGE_COLLECTOR, WAITING].map(&mut number);
    let times = group_times(merged, names.len(), |code| match code {
        Code::Script(resource) => of_resource[resource.index()],
        Code::Native => native,
        Code::Gc => collector,
        Code::Waiting => waiting,
    });
    let rows = names.iter().zip(times).filter(|(_, (_, total))| total.samples > 0);
    let mut rows: Vec<PackageRow> =
        rows.map(|(name, (own, total))| PackageRow { name: (*name).to_owned(), own, total }).collect();
    rows.sort_by_key(|row| (Reverse(row.own.time), Reverse(row.total.time)));
    rows
}

/// The package of a script: the innermost folder of `node_modules` that its URL goes through.
fn package_of(url: &str) -> &str {
    if url.starts_with("node:") {
        return NODE;
    }
    let Some((_, path)) = url.rsplit_once("/node_modules/") else { return OWN_CODE };
    let mut slashes = path.match_indices('/').map(|(index, _)| index);
    // The names of scoped packages have two parts.
    let end = if path.starts_with('@') { slashes.nth(1) } else { slashes.next() };
    end.map_or(path, |end| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_belong_to_the_innermost_package() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            assert_eq!(package_of(url), expected);
        }
        check("file:///a/src/b.js", OWN_CODE);
        check("/a/node_modules/eslint/lib/x.js", "eslint");
        check("file:///a/node_modules/@babel/core/lib/index.js", "@babel/core");
        check("/a/node_modules/x/node_modules/y/z.js", "y");
        check("/a/node_modules/.pnpm/y@1.2.3/node_modules/@s/y/z.js", "@s/y");
        check("/a/node_modules/one.js", "one.js");
        check("/a/node_modules/@s/one.js", "@s/one.js");
        check("node:internal/fs", NODE);
        check("", OWN_CODE);
    }
}
