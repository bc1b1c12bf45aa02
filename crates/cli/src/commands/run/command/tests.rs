//! What commands mean, in a project with programs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use super::{NodeCommand, SearchPath};

/// The project is in `P`, and its subfolder `P/src` is the working directory. `G` is on PATH.
struct Project {
    folder: TempDir,
}

/// As pnpm writes them.
const SHIM: &str = r#"#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\,/,g')")

case `uname` in
    *CYGWIN*) basedir=`cygpath -w "$basedir"`;;
esac

if [ -z "$NODE_PATH" ]; then
  export NODE_PATH="/store/x/node_modules:/store/node_modules"
else
  export NODE_PATH="/store/x/node_modules:/store/node_modules:$NODE_PATH"
fi
if [ -x "$basedir/node" ]; then
  exec "$basedir/node" --flag "$basedir/../tool/bin.js" "$@"
else
  exec node --flag "$basedir/../tool/bin.js" "$@"
fi
"#;

/// The end of those that newer versions of pnpm write.
const NEW_SHIM: &str = r#"#!/bin/sh
basedir_abs=$(CDPATH= cd -P -- "$basedir" && pwd -P) || exit $?
if [ -z "$NODE_PATH" ]; then
  export NODE_PATH="$basedir_abs"/'../x/node_modules':"$basedir_abs"/'../node_modules'
else
  export NODE_PATH="$basedir_abs"/'../x/node_modules':"$basedir_abs"/'../node_modules':"$NODE_PATH"
fi
if [ -n "$exe" ] && [ -x "$basedir/node.exe" ]; then
  exec "$basedir/node.exe"  "$basedir_win"/'../tool/bin.js' "$@"
elif [ -n "$msys" ] && command -v node >/dev/null 2>&1; then
  exec node  "$basedir_win"/'../tool/bin.js' "$@"
else
  exec node  "$basedir_abs"/'../tool/bin.js' "$@"
fi
# cmd-shim-target=../tool/bin.js
"#;

const PACKAGE: &str = r#"{
    "name": "project",
    "scripts": {
        "lint": "eslint . --max-warnings 0",
        "build": "NODE_ENV=production tool --out \"a b\"",
        "both": "rm -rf out && tool | cat",
        "cross": "cross-env A=1 node build.js",
        "shell": "rm -rf out",
        "again": "npm run lint",
        "hostile": "rm \u001b[2J",
        "number": 1
    }
}"#;

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        let js = "'use strict';\n";
        let node = "#!/usr/bin/env node\n'use strict';\n";
        let foreign = "#!/bin/bash\nexec something\n";
        for (name, content) in [
            ("package.json", PACKAGE),
            ("src/a.js", js),
            ("src/cli", node),
            ("src/text", js),
            ("src/typed.mts", ""),
            ("src/esm.mjs", ""),
            ("src/flagged.mjs", "#!/usr/bin/env -S node --flag\n"),
            ("src/deploy.sh", foreign),
            ("src/for-bun", "#!/usr/bin/env bun\n"),
            ("src/data.json", "{}"),
            ("src/eslint/index.js", js),
            ("src/test/index.js", js),
            ("src/bin/node", foreign),
            ("src/npm.js", js),
            ("node_modules/eslint/bin/eslint.js", node),
            ("node_modules/tool/bin.js", "#!/usr/bin/env -S A=1 node --import 'a b'\n"),
            ("node_modules/tool/no-extension", node),
            (
                "node_modules/@scope/tool/package.json",
                r#"{"name":"@scope/tool","bin":{"tool":"./bin.js","b":"b"}}"#,
            ),
            ("node_modules/.bin/shim", SHIM),
            ("node_modules/.bin/new-shim", NEW_SHIM),
            ("node_modules/.bin/wrapper", &SHIM.replace("fi\n", "fi\nexport A=1\n")),
            ("node_modules/.bin/lost-shim", &SHIM.replace("bin.js", "lost.js")),
            ("node_modules/.bin/evil-shim", &SHIM.replace("../tool", "$(rm)/../tool")),
            ("node_modules/.bin/python", "#!/usr/bin/env python3\n"),
            ("node_modules/.bin/native", "\x7fELF\0"),
            ("src/node_modules/.bin/near.js", js),
            ("global/eslint", node),
            ("global/global", node),
            ("global/nodejs", "\x7fELF\0"),
            ("global/test", "\x7fELF\0"),
            ("global/cat", "\x7fELF\0"),
        ] {
            let path = project.folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let path = project.folder.path();
        fs::write(path.join("global/not-executable"), node).unwrap();
        for (name, target) in
            [("eslint", "eslint/bin/eslint.js"), ("tool", "tool/bin.js"), ("plain", "tool/no-extension")]
        {
            symlink(Path::new("..").join(target), path.join("node_modules/.bin").join(name)).unwrap();
        }
        project
    }

    /// The command line that a command becomes, with its variables before and its name after `#`; or the error.
    fn resolve(&self, command: &[OsString]) -> String {
        let folder = self.folder.path();
        let path = format!("/nowhere:{}", folder.join("global").display());
        let search =
            SearchPath { directory: folder.join("src"), path: path.into(), node_path: "/mine".into() };
        let text = match NodeCommand::new(command, &search) {
            Ok(command) => {
                let NodeCommand { node, arguments, variables, name } = command;
                let mut words: Vec<String> = Vec::new();
                let text = |word: &OsStr| word.to_string_lossy().into_owned();
                words.extend(variables.iter().map(|(name, value)| format!("{}={}", text(name), text(value))));
                words.push(node.map_or_else(|| "node".to_owned(), |node| text(node.as_os_str())));
                words.extend(arguments.iter().map(|word| text(word)));
                format!("{} # {}", words.join(" "), name.display())
            }
            Err(failure) => failure.to_string(),
        };
        text.replace(&folder.join("global").display().to_string(), "G")
            .replace(&folder.display().to_string(), "P")
    }

    /// `command` has spaces between its words.
    #[track_caller]
    fn check(&self, command: &str, expected: &str) {
        let words: Vec<_> = command.split(' ').map(OsString::from).collect();
        assert_eq!(self.resolve(&words), expected, "{command}");
    }

    #[track_caller]
    fn check_all(&self, cases: &[(&str, &str)]) {
        for (command, expected) in cases {
            self.check(command, expected);
        }
    }
}

#[test]
fn scripts_are_run_as_by_node() {
    Project::new().check_all(&[
        ("a.js -o b", "node a.js -o b # a.js"),
        ("a", "node a # a.js"),
        ("./a.js", "node ./a.js # ./a.js"),
        ("../src/a", "node ../src/a # ../src/a.js"),
        ("text", "node text # text"),
        ("cli x", "node cli x # cli"),
        ("typed.mts", "node typed.mts # typed.mts"),
        ("flagged.mjs", "node flagged.mjs # flagged.mjs"),
        ("for-bun", "node for-bun # for-bun"),
        ("data", "node data # data.json"),
        ("test", "node test # test"),
        ("./eslint", "node ./eslint # ./eslint"),
        ("npm", "node npm # npm.js"),
        ("/dev/null", "node /dev/null # /dev/null"),
        ("b.js", "no such script: b.js (hint: the usage is `selfprof run [OPTIONS] COMMAND [ARGS]...`)"),
        ("./b", "no such script: ./b (hint: the usage is `selfprof run [OPTIONS] COMMAND [ARGS]...`)"),
        ("", "no such script:  (hint: the usage is `selfprof run [OPTIONS] COMMAND [ARGS]...`)"),
        ("esm", "no such script or program: esm (hint: Node.js does not add this extension; did you mean esm.mjs?)"),
    ]);
}

#[test]
fn node_is_given_its_options() {
    Project::new().check_all(&[
        ("node a.js -o", "node a.js -o # a.js"),
        ("node --import tsx lib/a.mts x", "node --import tsx lib/a.mts x # lib/a.mts"),
        ("--import tsx a.mts", "node --import tsx a.mts # a.mts"),
        ("node -e 1 a.js", "node -e 1 a.js # node"),
        ("node --test", "node --test # node"),
        ("node nowhere.js", "node nowhere.js # nowhere.js"),
        ("node", "node # node"),
        ("-", "node - # node"),
        ("nodejs a.js", "G/nodejs a.js # a.js"),
        ("bin/node --flag a.js", "bin/node --flag a.js # a.js"),
    ]);
}

#[test]
fn programs_are_found_as_by_npm() {
    Project::new().check_all(&[
        ("eslint .", "node P/node_modules/.bin/eslint . # eslint"),
        ("../node_modules/.bin/eslint .", "node ../node_modules/.bin/eslint . # ../node_modules/.bin/eslint"),
        ("plain", "node P/node_modules/.bin/plain # plain"),
        ("tool -x", "A=1 node --import a b P/node_modules/.bin/tool -x # tool"),
        ("near.js", "node P/src/node_modules/.bin/near.js # near.js"),
        ("global", "node G/global # global"),
        (
            "shim --fix",
            "NODE_PATH=/store/x/node_modules:/store/node_modules:/mine node --flag P/node_modules/.bin/../tool/bin.js --fix # shim",
        ),
        (
            "../node_modules/.bin/shim",
            "NODE_PATH=/store/x/node_modules:/store/node_modules:/mine node --flag P/src/../node_modules/.bin/../tool/bin.js # ../node_modules/.bin/shim",
        ),
        (
            "new-shim --fix",
            "NODE_PATH=P/node_modules/.bin/../x/node_modules:P/node_modules/.bin/../node_modules:/mine node P/node_modules/.bin/../tool/bin.js --fix # new-shim",
        ),
        ("npx -y eslint .", "node P/node_modules/.bin/eslint . # eslint"),
        ("npx -- tool", "A=1 node --import a b P/node_modules/.bin/tool # tool"),
        ("npx @scope/tool .", "A=1 node --import a b P/node_modules/.bin/tool . # tool"),
    ]);
}

#[test]
fn what_cannot_be_profiled_is_an_error() {
    let direct = "so far, selfprof profiles only Node.js programs that it starts directly";
    let hint =
        "if it starts a Node.js program, profile that one: `selfprof run node [OPTIONS] SCRIPT [ARGS]...`";
    let searched =
        "programs are searched for in node_modules/.bin of this directory and its parents, and on PATH";
    let project = Project::new();
    let foreign = |command: &str, path: &str, kind: &str| {
        project.check(command, &format!("{path} is {kind}; {direct} (hint: {hint})"));
    };
    foreign("cat a.js", "G/cat", "a native program");
    foreign("../global/cat", "../global/cat", "a native program");
    foreign("native", "P/node_modules/.bin/native", "a native program");
    foreign("python", "P/node_modules/.bin/python", "a script of `python3`");
    foreign("./deploy.sh", "./deploy.sh", "a script of `bash`");
    foreign("lost-shim", "P/node_modules/.bin/lost-shim", "a script of `sh`");
    foreign("evil-shim", "P/node_modules/.bin/evil-shim", "a script of `sh`");
    let script = "P/node_modules/.bin/../tool/bin.js";
    project.check(
        "wrapper",
        &format!("P/node_modules/.bin/wrapper is a shell script; {direct} (hint: it starts {script}; try `selfprof run {script}`)"),
    );
    project.check("not-executable", &format!("no such script or program: not-executable (hint: {searched})"));
    project.check("..", "node .. # ..");
    project.check(
        "npx cowsay",
        "no program `cowsay` in node_modules/.bin of this directory or its parents (hint: `npm install cowsay` may install it; selfprof does not download programs)",
    );
    project.check(
        "npx ../../src",
        "no program `../../src` in node_modules/.bin of this directory or its parents (hint: `npm install ../../src` may install it; selfprof does not download programs)",
    );
    project
        .check("npx", "`npx` needs the name of a program (hint: for example, `selfprof run npx eslint .`)");
    project.check(
        "npx -c eslint",
        "cannot profile `npx -c`: selfprof does not know this option (hint: name the program without npx, e.g. `selfprof run eslint .`)",
    );
}

#[test]
fn package_managers_are_errors_with_the_command_to_use() {
    let project = Project::new();
    // The script `npm` would be preferred.
    fs::remove_file(project.folder.path().join("src/npm.js")).unwrap();
    let check = |command: &str, hint: &str| {
        project.check(command, &format!(
            "cannot profile `{command}`: so far, selfprof profiles only Node.js programs that it starts directly (hint: {hint})"
        ));
    };
    let lint = "start the command of this script directly: `selfprof run eslint . --max-warnings 0";
    check("npm run lint", &format!("{lint}`, in P"));
    check("npm run lint -- --fix a;b", &format!("{lint} --fix 'a;b'`, in P"));
    check("npm run lint --silent x", &format!("{lint} x`, in P"));
    check("pnpm lint --fix", &format!("{lint} --fix`, in P"));
    check("yarn run lint", &format!("{lint}`, in P"));
    check(
        "npm run-script build",
        r#"start the command of this script directly: `NODE_ENV=production selfprof run tool --out "a b"`, in P"#,
    );
    check(
        "npm run cross",
        "start the command of this script directly: `A=1 selfprof run node build.js`, in P",
    );
    check(
        "npm run both",
        "this script is `rm -rf out && tool | cat`; start one of its commands directly: `selfprof run tool`, in P",
    );
    let no_program = "if that starts a Node.js program, profile it with `selfprof run COMMAND`, in P";
    check("npm run shell", &format!("this script is `rm -rf out`; {no_program}"));
    check("npm run again", &format!("this script is `npm run lint`; {no_program}"));
    check("npm run hostile", &format!("this script is `rm \u{FFFD}[2J`; {no_program}"));
    check("npm run number", "P/package.json has no script `number`");
    check("npm test", "P/package.json has no script `test`");
    check("npm exec -- eslint .", "start the program directly: `selfprof run eslint .`");
    check("yarn eslint src/*.js", "start the program directly: `selfprof run eslint 'src/*.js'`");
    let general = "name the program itself, e.g. `selfprof run eslint .`";
    check("yarn", general);
    check("npm install", general);
    check("npm --prefix x run lint", general);
    check("pnpm -r lint", general);
    check("npm exec cowsay", general);
}
