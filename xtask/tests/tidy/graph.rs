//! Circles in what uses what.

use std::collections::{BTreeMap, BTreeSet};

/// What each file uses. Both are names of files.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The groups of files that use each other in circles: one line for each, with the uses that make it one.
pub fn circles(graph: &Graph) -> Vec<String> {
    let mut grouped = BTreeSet::new();
    let mut found = Vec::new();
    for file in graph.keys() {
        if grouped.contains(file) {
            continue;
        }
        let below = reachable(graph, file);
        let group: BTreeSet<&String> =
            below.iter().copied().filter(|other| reachable(graph, other).contains(file)).collect();
        if group.is_empty() {
            continue;
        }
        let uses = group.iter().map(|member| {
            let used: Vec<&str> =
                graph[*member].iter().filter(|used| group.contains(used)).map(String::as_str).collect();
            format!("{member} uses {}", used.join(", "))
        });
        found.push(format!("a circle:\n    {}", uses.collect::<Vec<_>>().join("\n    ")));
        grouped.extend(group);
    }
    found
}

/// What a file uses, and what those files use, and so on; the file itself only if it is in a circle.
fn reachable<'a>(graph: &'a Graph, file: &str) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = graph.get(file).into_iter().flatten().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(graph.get(next).into_iter().flatten());
        }
    }
    seen
}

#[test]
fn circles_are_found() {
    #[track_caller]
    fn check(uses: &[(&str, &[&str])], expected: &[&str]) {
        let graph: Graph = uses
            .iter()
            .map(|(file, used)| ((*file).to_owned(), used.iter().map(|&used| used.to_owned()).collect()))
            .collect();
        assert_eq!(circles(&graph), expected);
    }
    check(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])], &[]);
    check(&[("a", &["b"]), ("b", &["a"]), ("c", &["a"])], &["a circle:\n    a uses b\n    b uses a"]);
    check(&[("a", &["a"])], &["a circle:\n    a uses a"]);
    check(
        &[("a", &["b"]), ("b", &["c"]), ("c", &["a", "d"]), ("d", &["e"]), ("e", &["d"])],
        &["a circle:\n    a uses b\n    b uses c\n    c uses a", "a circle:\n    d uses e\n    e uses d"],
    );
}
