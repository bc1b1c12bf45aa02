//! No circles between files of JavaScript and TypeScript, and no folder of the page host that reaches into another one.

use crate::checkout::files;
use crate::graph::{Graph, circles};
use crate::none;
use std::collections::BTreeSet;

const SOURCE: &str = "packages/page/src/";

/// The folders of the page host's code, named after where it runs, with the folders that each may import from beside
/// itself.
const FOLDERS: &[(&str, &[&str])] = &[
    ("client", &[]),
    ("fetch", &[]),
    ("host", &["client", "fetch"]),
    ("page", &["fetch"]),
    ("window", &["fetch"]),
];

/// The folders of `page`: each imports only from itself and from those before it.
const PAGE_FOLDERS: &[&str] = &[
    "thread",
    "scripts",
    "loading",
    "windows",
    "jsdom",
    "apis",
    "frames",
    "automation",
    "documents",
    "worker",
];

#[test]
fn scripts_import_each_other_in_one_direction() {
    none(&circles(&imports(&sources())));
}

#[test]
fn a_folder_of_the_page_host_imports_from_itself_and_fetch() {
    let sources = sources();
    assert!(
        sources.iter().any(|(name, _)| name.starts_with(SOURCE)),
        "the page host's code is not in {SOURCE}"
    );
    none(&crossings(&imports(&sources)));
}

/// The scripts of the packages, of the pages in browsers, and of the tests' own programs.
fn sources() -> Vec<(String, String)> {
    const FOLDERS: &[&str] = &[
        "packages/",
        "ui/",
        "collector/page/",
        "fixtures/bench/",
        "fixtures/shop/",
        "collector/collector/senders/",
        "crates/formats/consumers/",
    ];
    const ENDS: &[&str] = &[".cjs", ".mjs", ".js", ".ts"];
    let is_source = |name: &str| {
        FOLDERS.iter().any(|folder| name.starts_with(folder))
            && ENDS.iter().any(|end| name.ends_with(end))
            && !name.ends_with(".d.ts")
            // What is built.
            && !name.starts_with("packages/selfprof/report/")
            && !name.starts_with("packages/selfprof/polyfill/")
            && !name.starts_with("fixtures/shop/releases/")
    };
    files().into_iter().filter(|file| is_source(&file.name)).map(|file| (file.name, file.text)).collect()
}

/// Which file imports which, by `import`, `require` and `require.resolve`, at the top or anywhere else. Types are left
/// out.
fn imports(sources: &[(String, String)]) -> Graph {
    let names: BTreeSet<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
    let mut graph = Graph::new();
    for (name, text) in sources {
        let used = graph.entry(name.clone()).or_default();
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for specifier in specifiers(text) {
            used.extend(resolve(folder, &specifier, &names).map(str::to_owned));
        }
    }
    graph
}

/// A relative specifier, as Node and bundlers resolve it.
fn resolve<'a>(folder: &str, specifier: &str, names: &BTreeSet<&'a str>) -> Option<&'a str> {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in specifier.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let ends = ["", ".cjs", ".js", ".mjs", ".ts", "/index.cjs", "/index.js", "/index.mjs", "/index.ts"];
    ends.iter().find_map(|end| names.get(format!("{path}{end}").as_str()).copied())
}

/// The relative specifiers in a script.
fn specifiers(text: &str) -> Vec<String> {
    imported(text).into_iter().filter(|specifier| specifier.starts_with('.')).collect()
}

/// All specifiers in a script: `'./a.cjs'` after `from`, `import`, `import(`, `require(` or `require.resolve(`.
fn imported(text: &str) -> Vec<String> {
    let is_import = |word: &str| ["from", "import", "require", "resolve"].contains(&word);
    strings(text).into_iter().filter(|(word, _)| is_import(word)).map(|(_, specifier)| specifier).collect()
}

/// The strings in quotes outside comments, each with the word before it: of `require('./a')` that is `require`. An
/// `import` or `export` of types has the word `type`.
fn strings(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut is_in_word = false;
    let mut is_type = false;
    let mut previous = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        // After these, a slash begins a regular expression, in which quotation marks and slashes mean nothing.
        let is_operand = "(,=:[!&|?{};\n".contains(previous);
        match c {
            '/' if next == Some('/') => while rest.next_if(|c| *c != '\n').is_some() {},
            '/' if next == Some('*') => {
                let mut last = ' ';
                rest.next();
                for c in rest.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '/' if is_operand => {
                let mut is_in_class = false;
                while let Some(c) = rest.next_if(|c| *c != '\n') {
                    match c {
                        '\\' => drop(rest.next()),
                        '[' => is_in_class = true,
                        ']' => is_in_class = false,
                        '/' if !is_in_class => break,
                        _ => {}
                    }
                }
                previous = '/';
            }
            '\'' | '"' => {
                let mut value = String::new();
                while let Some(inner) = rest.next_if(|inner| *inner != c && *inner != '\n') {
                    value.push(inner);
                    if inner == '\\' {
                        value.extend(rest.next());
                    }
                }
                rest.next();
                let before = if is_type { "type".to_owned() } else { word.clone() };
                found.push((before, value));
                is_type = false;
                word.clear();
                previous = c;
            }
            _ => {
                if c.is_alphanumeric() || c == '_' || c == '$' {
                    if !is_in_word {
                        // `import type X from` and `export type { X } from`.
                        let is_clause = word == "import" || word == "export";
                        word.clear();
                        is_type = is_type
                            || (is_clause && rest.clone().take(4).collect::<String>() == "ype " && c == 't');
                    }
                    word.push(c);
                    is_in_word = true;
                } else {
                    is_in_word = false;
                    if c == ';' {
                        is_type = false;
                    }
                    if !c.is_whitespace() && c != '(' && c != '.' {
                        word.clear();
                    }
                }
                if !c.is_whitespace() || c == '\n' {
                    previous = c;
                }
            }
        }
    }
    found
}

/// Where the folder of a file of `page` is in [`PAGE_FOLDERS`]. What is in no folder uses all of them.
fn floor_in_page(name: &str) -> Option<usize> {
    let (folder, file) =
        name.strip_prefix(SOURCE)?.strip_prefix("page/")?.split_once('/').unwrap_or(("", ""));
    if file.is_empty() {
        return Some(PAGE_FOLDERS.len());
    }
    PAGE_FOLDERS.iter().position(|known| *known == folder)
}

/// The imports of the page host that lead from a folder into another one.
fn crossings(graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    let folder_of = |name: &str| -> Option<String> {
        let (folder, _) = name.strip_prefix(SOURCE)?.split_once('/')?;
        Some(folder.to_owned())
    };
    for (name, used) in graph {
        let Some(folder) = folder_of(name) else { continue };
        let Some((_, allowed)) = FOLDERS.iter().find(|(name, _)| *name == folder) else {
            problems.push(format!("{name}: {SOURCE}{folder} has no row in FOLDERS"));
            continue;
        };
        if folder == "page" && floor_in_page(name).is_none() {
            problems.push(format!("{name}: its folder has no row in PAGE_FOLDERS"));
        }
        for other in used {
            let Some(target) = folder_of(other) else { continue };
            if target != folder && !allowed.contains(&target.as_str()) {
                problems.push(format!("{name} imports {other}: {folder} must not use {target}"));
            }
            if let (Some(inner), Some(target)) = (floor_in_page(name), floor_in_page(other))
                && target > inner
            {
                problems.push(format!("{name} imports {other}, which is in a folder above"));
            }
        }
    }
    problems
}

#[test]
fn imports_are_found() {
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(specifiers(text), expected, "{text}");
    }
    check(
        "import a from './a.mjs';\nimport './b.mjs';\nexport * from \"../c.mjs\";",
        &["./a.mjs", "./b.mjs", "../c.mjs"],
    );
    check(
        "const { x } = require('./x.cjs'); const f = () => require.resolve('./y.cjs');",
        &["./x.cjs", "./y.cjs"],
    );
    check("const m = await import('./m.mjs');", &["./m.mjs"]);
    check("const m = require('node:fs'), n = require('name');", &[]);
    check("/** @type {import('./types.cjs').T} */ // require('./no.cjs')\n", &[]);
    check("import type { T } from './types.ts';\nimport { a } from './a.ts';", &["./a.ts"]);
    check("const pattern = /['\"]/;\nrequire('./after.cjs');", &["./after.cjs"]);
    check("const half = 1 / 2; require('./a.cjs'); const x = 3 / 4;", &["./a.cjs"]);
    check("const { types } = require('node:util');", &[]);
    assert_eq!(imported("import { a } from 'node:util'; require('./b.cjs');"), ["node:util", "./b.cjs"]);
    check("log('require'); log('./no.cjs'); path.join(folder, './no.cjs');", &[]);
}

#[test]
fn circles_of_scripts_and_crossings_of_folders_are_found() {
    let graph = |files: &[(&str, &str)]| {
        let sources: Vec<(String, String)> =
            files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        imports(&sources)
    };
    let lazy = graph(&[
        ("packages/a/one.cjs", "const two = require('./two');"),
        ("packages/a/two.cjs", "function f() { return require('./one.cjs'); }"),
    ]);
    assert_eq!(circles(&lazy).len(), 1);
    let page = |file: &str, other: &str| {
        let own = format!("{SOURCE}{file}");
        let text = format!("require('../{other}');");
        crossings(&graph(&[(&own, &text), (&format!("{SOURCE}{other}"), "")])).len()
    };
    assert_eq!(page("host/a.cjs", "fetch/b.cjs"), 0);
    assert_eq!(page("page/a.cjs", "page/b.cjs"), 0);
    assert_eq!(page("page/a.cjs", "window/b.cjs"), 1);
    assert_eq!(page("fetch/a.cjs", "host/b.cjs"), 1);
    assert_eq!(page("client/a.cjs", "host/b.cjs"), 1);
    assert_eq!(page("other/a.cjs", "fetch/b.cjs"), 1);
    let inner = |file: &str, other: &str| {
        let own = format!("{SOURCE}page/{file}");
        let text = format!("require('../{other}');");
        crossings(&graph(&[(&own, &text), (&format!("{SOURCE}page/{other}"), "")])).len()
    };
    assert_eq!(inner("frames/a.cjs", "jsdom/b.cjs"), 0);
    assert_eq!(inner("jsdom/a.cjs", "frames/b.cjs"), 1);
    assert_eq!(inner("thread/a.cjs", "page-thread.cjs"), 1);
    assert_eq!(inner("other/a.cjs", "thread/b.cjs"), 1);
}
