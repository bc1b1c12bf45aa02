//! What `selfprof run` starts, compared with what starts without it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::TestDirectory;
use crate::support::{output, selfprof, text};

/// A program that prints what it can see of how it was started.
const PROGRAM: &str = "
const { argv, execArgv, execPath, env } = process;
const { A, NODE_PATH, SELFPROF_RUN } = env;
console.log(JSON.stringify({ argv, execArgv, execPath, A, NODE_PATH, SELFPROF_RUN, gc: typeof gc, set: globalThis.set }));
";

/// As pnpm writes it.
const SHIM: &str = r#"#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\,/,g')")

if [ -z "$NODE_PATH" ]; then
  export NODE_PATH="/store/tool/node_modules:/store/node_modules"
else
  export NODE_PATH="/store/tool/node_modules:/store/node_modules:$NODE_PATH"
fi
if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../tool/bin.js" "$@"
else
  exec node  "$basedir/../tool/bin.js" "$@"
fi
"#;

/// A project with programs in `node_modules/.bin`.
fn project() -> TestDirectory {
    let directory = TestDirectory::new();
    for (name, interpreter, content) in [
        ("app.cjs", "", PROGRAM),
        ("set.mjs", "", "globalThis.set = true;"),
        ("node_modules/tool/bin.js", "#!/usr/bin/env node", PROGRAM),
        ("node_modules/tool/flags", "#!/usr/bin/env -S A=1 node --expose-gc", PROGRAM),
        ("node_modules/.bin/shim", "", SHIM),
    ] {
        let path = directory.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{interpreter}{content}")).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    symlink("../tool/bin.js", directory.path("node_modules/.bin/tool")).unwrap();
    symlink("../tool/flags", directory.path("node_modules/.bin/flags")).unwrap();
    directory
}

/// `PATH` with the project's programs, as npm sets it for a script.
fn path_of_npm_scripts(directory: &TestDirectory) -> OsString {
    let path = env::var_os("PATH").unwrap();
    let folders = std::iter::once(directory.path("node_modules/.bin")).chain(env::split_paths(&path));
    env::join_paths(folders).unwrap()
}

#[test]
fn programs_run_as_without_selfprof() {
    let directory = project();
    let node = text(&Command::new("node").args(["-p", "process.execPath"]).output().unwrap().stdout);
    let node = node.trim();
    // `same` is the command that prints the expected output; `trace` is the name of the trace.
    let check = |command: &str, same: &str, trace: &str| {
        let run = |command: &mut Command, words: &str| {
            let output = output(command.current_dir(directory.path("")).args(words.split(' ')));
            assert!(output.status.success(), "{words}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        let expected = run(
            Command::new("env").env("PATH", path_of_npm_scripts(&directory)).env_remove("NODE_OPTIONS"),
            same,
        );
        assert!(expected.starts_with("{\"argv\":"), "{expected}");
        assert_eq!(run(selfprof().args(["run", "--top", "0"]), command), expected, "{command}");
        let trace = directory.path(trace);
        assert!(trace.is_file(), "{command}: {:?}", directory.files());
        fs::remove_file(trace).unwrap();
    };
    check("app.cjs a --top", "node app.cjs a --top", "app.selfprof.json");
    check("node --expose-gc app.cjs -o", "node --expose-gc app.cjs -o", "app.selfprof.json");
    check("-- --import ./set.mjs app.cjs", "node --import ./set.mjs app.cjs", "app.selfprof.json");
    check("node -e require('./app.cjs') x", "node -e require('./app.cjs') x", "node.selfprof.json");
    check(&format!("{node} app.cjs"), &format!("{node} app.cjs"), "app.selfprof.json");
    check("tool .", "tool .", "tool.selfprof.json");
    check("./node_modules/.bin/tool .", "./node_modules/.bin/tool .", "tool.selfprof.json");
    check("npx tool .", "tool .", "tool.selfprof.json");
    check("flags --fix", "flags --fix", "flags.selfprof.json");
    check("shim --fix", "shim --fix", "shim.selfprof.json");
}

#[test]
fn programs_are_found_above_the_working_directory() {
    let directory = project();
    let folder = directory.path("src/deep");
    fs::create_dir_all(&folder).unwrap();
    let run = output(selfprof().current_dir(&folder).args(["run", "--top", "0", "tool"]));
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(folder.join("tool.selfprof.json").is_file());
}

#[test]
fn the_named_node_is_used() {
    let directory = project();
    let fake = directory.path("fake/node");
    fs::create_dir_all(fake.parent().unwrap()).unwrap();
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/nodes");
    fs::copy(nodes.join("node-18"), &fake).unwrap();
    let run = output(selfprof().current_dir(directory.path("")).args(["run", "fake/node", "app.cjs"]));
    let stderr = text(&run.stderr);
    assert!(stderr.starts_with("error: no prebuilt addon was found for Node.js v18.20.0"), "{stderr}");
}
