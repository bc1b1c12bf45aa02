//! What commands mean, in a project with programs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use super::{CommandLine, Program, SearchPath};

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

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        let js = "'use strict';\n";
        let node = "#!/usr/bin/env node\n'use strict';\n";
        let foreign = "#!/bin/bash\nexec something\n";
        for (name, content) in [
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
            ("global/npx", node),
            ("global/pnpm", node),
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
        let text = match CommandLine::new(command, &search) {
            Ok(command) => {
                let CommandLine { program, arguments, variables, name } = command;
                let mut words: Vec<String> = Vec::new();
                let text = |word: &OsStr| word.to_string_lossy().into_owned();
                words.extend(variables.iter().map(|(name, value)| format!("{}={}", text(name), text(value))));
                words.push(match program {
                    Program::Node => "node".to_owned(),
                    Program::NodeAt(path) => text(path.as_os_str()),
                    Program::Other(path, kind) => format!("[{kind}] {}", text(path.as_os_str())),
                });
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
fn other_programs_are_started_as_they_are() {
    Project::new().check_all(&[
        ("cat a.js", "[a native program] G/cat a.js # cat"),
        ("../global/cat", "[a native program] ../global/cat # ../global/cat"),
        ("native", "[a native program] P/node_modules/.bin/native # native"),
        ("python", "[a script of `python3`] P/node_modules/.bin/python # python"),
        ("./deploy.sh x", "[a script of `bash`] ./deploy.sh x # ./deploy.sh"),
        ("wrapper --fix", "[a shell script] P/node_modules/.bin/wrapper --fix # wrapper"),
        ("lost-shim", "[a script of `sh`] P/node_modules/.bin/lost-shim # lost-shim"),
        ("evil-shim", "[a script of `sh`] P/node_modules/.bin/evil-shim # evil-shim"),
        // npx may download what is not installed.
        ("npx cowsay hi", "node G/npx cowsay hi # npx"),
        ("npx ../../src", "node G/npx ../../src # npx"),
        ("npx -c eslint", "node G/npx -c eslint # npx"),
        ("npx", "node G/npx # npx"),
        ("pnpm run lint", "node G/pnpm run lint # pnpm"),
        ("..", "node .. # .."),
        (
            "not-executable",
            "no such script or program: not-executable (hint: programs are searched for in node_modules/.bin of this directory and its parents, and on PATH)",
        ),
    ]);
}
