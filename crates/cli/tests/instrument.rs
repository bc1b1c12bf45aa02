//! Tests of `selfprof instrument`. Real bundles are instrumented in `packages/instrument/test`.

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::{output, selfprof, text};
use tempfile::TempDir;

/// What the instrumented code needs of a runtime, as a template.
const RUNTIME: &str = "\
let SELFPROF_ENTER,SELFPROF_CHECK,SELFPROF_LEAVE=v=>(SELFPROF_CHECK?.(),v),SELFPROF_NATIVE=SELFPROF_LEAVE,\
SELFPROF_SCAN=SELFPROF_LEAVE,SELFPROF_RESUME=SELFPROF_LEAVE;\
(()=>{let ticks=0;globalThis.testRuntime={start(){SELFPROF_ENTER=SELFPROF_CHECK=()=>{ticks++}},get ticks(){return ticks},\
table:\"SELFPROF_FUNCTIONS\"}})();";

/// The same for traced code.
const TRACING: &str = "\
let SELFPROF_ACTIVE=true,SELFPROF_ENTRY,SELFPROF_EXIT,SELFPROF_FIRST;\
(()=>{globalThis.log=[];SELFPROF_ENTRY=(id)=>log.push(id);SELFPROF_EXIT=(id,n,s)=>{log.push(-id);return -1};\
SELFPROF_FIRST=v=>v;globalThis.table=\"SELFPROF_FUNCTIONS\"})();";

/// A folder with a package and a site.
struct Site {
    folder: TempDir,
}

impl Site {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = Self { folder };
        for (name, content) in [
            ("npm/package.json", "{}"),
            ("npm/run.cjs", ""),
            ("npm/polyfill/polyfill.js", RUNTIME),
            ("npm/polyfill/tracing.js", TRACING),
        ] {
            site.write(name, content);
        }
        for (name, content) in files {
            site.write(&format!("dist/{name}"), content);
        }
        site
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = selfprof();
        command.arg("instrument").args(arguments);
        command.current_dir(self.folder.path()).env("SELFPROF_NPM", self.path("npm"));
        command
    }

    /// Runs the command, which succeeds. Gives its messages.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = output(&mut self.command(arguments));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    }

    /// Runs the command, which fails with an exit code and these words.
    #[track_caller]
    fn fail(&self, arguments: &[&str], code: i32, expected: &str) {
        let output = output(&mut self.command(arguments));
        let messages = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{messages}");
        assert!(messages.contains(expected) && messages.contains("hint:"), "{messages}");
    }

    /// The functions of a file in the table of an output folder.
    fn functions(&self, output: &str, file: &str) -> Vec<Value> {
        let table: Value =
            serde_json::from_str(&self.read(&format!("{output}/selfprof-functions.json"))).unwrap();
        assert_eq!(table["version"], 1);
        table["files"][file]["functions"].as_array().unwrap_or_else(|| panic!("{file}: {table}")).clone()
    }

    /// Runs JavaScript in Node with the folder as its working directory. Gives what it prints.
    #[track_caller]
    fn node(&self, script: &str) -> String {
        let mut node = Command::new(std::env::var_os("SELFPROF_NODE").unwrap_or_else(|| "node".into()));
        node.args(["--input-type=module", "--eval", script]).current_dir(self.folder.path());
        let output = node.env_remove("NODE_OPTIONS").output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }
}

/// What follows a place in a text, counted as browsers do: lines end at `\n`, `\r` and `\r\n`.
fn at(text: &str, line: &Value, column: &Value) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let line = text.split('\n').nth(line.as_u64().unwrap() as usize - 1).unwrap().to_owned();
    let units: Vec<u16> = line.encode_utf16().collect();
    String::from_utf16_lossy(&units[column.as_u64().unwrap() as usize - 1..])
}

const APPLICATION: &str = "import { twice } from './twice.js';\n\
    export function total(prices) { let sum = 0; for (const price of prices) sum += twice(price); return sum }\n\
    //# sourceMappingURL=app.js.map\n";
const TWICE: &str = "export const twice = value => { const one = Math.abs(value); let both = one; both += String(one).length; return both };\n";

#[test]
fn a_folder_is_copied() {
    let page = "<!doctype html>\n<html><head><title>é</title>\n<script type=\"module\" src=\"/assets/app.js\"></script></head>\n\
                <body onload=\"go()\"><script type=application/json>{\"$t\": 1}</script></body></html>\n";
    let files = [
        ("index.html", page),
        ("deep/er/x.html", page),
        ("assets/app.js", APPLICATION),
        ("assets/twice.js", TWICE),
        ("style.css", "a {}"),
    ];
    let site = Site::new(&files);
    site.write("dist/image.png", [0xFF, 0xD8, 0]);
    let messages = site.run(&["dist", "-o", "out"]);
    assert!(messages.contains("2 scripts, 2 pages with 0 inline scripts"), "{messages}");
    assert!(
        messages
            .contains("2 pages with event handlers in attributes: deep/er/x.html (1 of them), index.html"),
        "{messages}"
    );
    assert!(messages.contains("2 files copied unchanged"), "{messages}");
    for (name, content) in files {
        assert_eq!(site.read(&format!("dist/{name}")), content, "the plain file stays");
    }
    assert_eq!(fs::read(site.path("out/image.png")).unwrap(), [0xFF, 0xD8, 0]);
    assert_eq!(site.read("out/style.css"), "a {}");
    let changed = page.replace("<head>", "<head><script src=\"selfprof-polyfill.js\"></script>");
    assert_eq!(site.read("out/index.html"), changed);
    let deeper = changed.replace("\"selfprof-polyfill.js", "\"../../selfprof-polyfill.js");
    assert_eq!(site.read("out/deep/er/x.html"), deeper);

    // `$t` occurs in a page, so the name is another one.
    let application = site.read("out/assets/app.js");
    assert!(application.contains("for (const price of prices) {$a?.();"), "{application}");
    assert!(!application.contains("sourceMappingURL"), "{application}");
    let runtime = site.read("out/selfprof-polyfill.js");
    assert!(runtime.starts_with("let $e,$a,$x="), "{runtime}");
    assert!(runtime.contains("\"selfprof-functions.json\""), "{runtime}");

    let functions = site.functions("out", "assets/app.js");
    assert_eq!(functions[0].as_array().unwrap()[..3], [Value::from(""), 1.into(), 1.into()]);
    let [name, line, column, start_line, start_column, end_line, end_column, parent] =
        &functions[1].as_array().unwrap()[..]
    else {
        panic!("{functions:?}")
    };
    assert_eq!((name.as_str(), parent.as_i64()), (Some("total"), Some(0)));
    assert!(at(APPLICATION, line, column).starts_with("(prices) {"));
    assert!(at(&application, start_line, start_column).starts_with("(prices) {"));
    assert_eq!(at(&application, end_line, end_column), "");
    assert_eq!(site.functions("out", "assets/twice.js")[0][7], -1);
}

#[test]
fn instrumented_code_does_the_same() {
    let classic = "var results = []; function f(x) { for (let i = 0; i < 3; i++) results.push(JSON.stringify({ x, i })); return results }\n\
                   f(1); f('é');";
    let site = Site::new(&[
        ("app.js", APPLICATION),
        ("twice.js", TWICE),
        ("package.json", "{\"type\":\"module\"}"),
        ("classic.js", classic),
    ]);
    site.run(&["dist", "-o", "out", "--min-statements", "0"]);
    let run = |folder: &str, before: &str, after: &str| {
        site.node(&format!(
            "import vm from 'node:vm'; import fs from 'node:fs';
             const load = (file) => vm.runInThisContext(fs.readFileSync(file, 'utf8'));
             {before}
             const {{ total }} = await import(process.cwd() + '/{folder}/app.js');
             load('{folder}/classic.js');
             console.log(total([1, 20, -300]), results.join());
             {after}"
        ))
    };
    let plain = run("dist", "", "");
    assert!(plain.starts_with("327 {"), "{plain}");
    // As in a worker, where nothing declares the names.
    assert_eq!(run("out", "", ""), plain);
    let runtime = "load('out/selfprof-polyfill.js');";
    assert_eq!(run("out", runtime, ""), plain);
    let started = run(
        "out",
        &format!("{runtime} testRuntime.start();"),
        "console.log(testRuntime.ticks > 10, testRuntime.table)",
    );
    assert_eq!(started, format!("{plain}true selfprof-functions.json\n"));
    // The runtime may come late.
    assert_eq!(
        run("out", "", &format!("{runtime} testRuntime.start(); f(2); console.log(testRuntime.ticks > 3)")),
        format!("{plain}true\n")
    );
}

#[test]
fn inline_scripts_have_their_places_in_the_page() {
    let page = "<!doctype html>\r\n<title>𝒳</title><body>é𝒳<script>function first(a) { for (;;) return a }\r\n\
                \tvar second = (b) => { while (b) b-- }; //# sourceMappingURL=data:application/json;base64,e30=\r\n</script>\r\
                <script type=module>\r\nexport const third = async (c) => { await c }\r\n</script><script nonce=\"a&quot;b\">function fourth() { for (;;) return }</script>\
                <template><script>function no() { for (;;); }</script></template><script type=text/x>function no() {}</script>\
                <script>function (</script><script>'\u{2028}'</script>";
    let site = Site::new(&[("a b.html", page)]);
    let messages = site.run(&["dist/a b.html", "-o", "out"]);
    assert!(messages.contains("0 scripts, 1 page with 3 inline scripts"), "{messages}");
    assert!(
        messages.contains("1 script that cannot be parsed, copied unchanged: a b.html:7 (1:10: "),
        "{messages}"
    );
    assert!(messages.contains("1 inline script in a <template>: a b.html:7"), "{messages}");
    assert!(
        messages.contains("copied unchanged: a b.html:7 (it has a line end of Unicode, U+2028 or U+2029)"),
        "{messages}"
    );
    let instrumented = site.read("out/a b.html");
    assert!(
        instrumented.starts_with(
            "<!doctype html>\r\n<script src=\"selfprof-polyfill.js\" nonce=\"a&quot;b\"></script><title>"
        ),
        "{instrumented}"
    );
    assert!(!instrumented.contains("sourceMappingURL"), "{instrumented}");
    assert_eq!(instrumented.matches("<script").count(), page.matches("<script").count() + 1);
    let functions = site.functions("out", "a%20b.html");
    let names: Vec<&str> = functions.iter().map(|function| function[0].as_str().unwrap()).collect();
    assert_eq!(names, ["", "first", "second", "", "third", "", "fourth"]);
    let parents: Vec<i64> = functions.iter().map(|function| function[7].as_i64().unwrap()).collect();
    assert_eq!(parents, [-1, 0, 0, -1, 3, -1, 5]);
    let starts = ["function first", "(a) {", "(b) =>", "", "async (c)", "function fourth", "() {"];
    for (function, start) in functions.iter().zip(starts) {
        assert!(at(page, &function[1], &function[2]).starts_with(start), "{function} in the plain page");
        let place = at(&instrumented, &function[3], &function[4]);
        // A script begins with what was inserted.
        let place = if start.starts_with("function ") {
            place.split_once("(globalThis);").unwrap().1.to_owned()
        } else {
            place
        };
        assert!(place.starts_with(start), "{function}: {place}");
    }
    let ends: Vec<String> =
        functions.iter().map(|function| at(&instrumented, &function[5], &function[6])).collect();
    assert!([0, 3, 5].iter().all(|&index| ends[index].starts_with("</script>")), "{ends:?}");
    assert!(ends[2].starts_with("; "), "{ends:?}");
}

#[test]
fn source_maps_are_composed() {
    // One mapping: `total` in line 2, column 16 is line 5, column 3 of total.ts.
    let map =
        r#"{"version":3,"sources":["total.ts"],"names":[],"mappings":";gBAIG","sourcesContent":["text"]}"#;
    let hidden = "function hidden(a) { for (;;) return a }";
    let inline = format!("{hidden}\n//# sourceMappingURL=data:application/json;base64,{}", base64(map));
    let files = [
        ("app.js", APPLICATION),
        ("app.js.map", map),
        ("hidden.js", hidden),
        ("hidden.js.map", map),
        ("inline.js", &inline),
        ("none.js", hidden),
        ("bad.js", "function bad(a) { for (;;) return a }\n//# sourceMappingURL=bad.js.map"),
        ("bad.js.map", "{"),
        ("other.css.map", "{}"),
    ];
    let site = Site::new(&files);
    let messages = site.run(&["dist", "-o", "out", "--source-map"]);
    assert!(messages.contains("with 5 source maps"), "{messages}");
    assert!(
        messages
            .contains("1 source map that cannot be read; the new one leads to the plain script: bad.js ("),
        "{messages}"
    );
    let read = |name: &str| -> Value { serde_json::from_str(&site.read(&format!("out/{name}"))).unwrap() };
    let composed = read("app.js.map");
    assert_eq!(
        (&composed["sources"][0], &composed["sourcesContent"][0]),
        (&"total.ts".into(), &"text".into())
    );
    // The name of the function is where it was: only the fallback was inserted before, in another line.
    assert_eq!(composed["mappings"], ";gBAIG");
    assert_ne!(read("hidden.js.map")["mappings"], ";gBAIG", "the mapping is moved");
    assert_eq!(read("inline.js.map")["sources"][0], "total.ts");
    for name in ["none", "bad"] {
        let map = read(&format!("{name}.js.map"));
        assert_eq!(map["sources"][0], format!("plain/{name}.js"));
        assert_eq!(map["sourcesContent"][0], site.read(&format!("dist/{name}.js")));
    }
    for name in ["app", "inline", "none", "bad"] {
        let text = site.read(&format!("out/{name}.js"));
        assert!(text.ends_with(&format!("\n//# sourceMappingURL={name}.js.map\n")), "{text}");
        assert_eq!(text.matches("sourceMappingURL").count(), 1, "{text}");
    }
    assert!(!site.read("out/hidden.js").contains("sourceMappingURL"));

    let messages = site.run(&["dist", "-o", "without"]);
    assert!(messages.contains("3 source maps of the plain scripts, not copied"), "{messages}");
    for name in ["app", "hidden", "inline", "bad"] {
        assert!(!site.read(&format!("without/{name}.js")).contains("sourceMappingURL"));
        assert!(!site.path(&format!("without/{name}.js.map")).exists());
    }
    assert_eq!(site.read("without/other.css.map"), "{}");
    // The map of a script that is given alone is found beside it.
    site.run(&["dist/app.js", "-o", "alone", "--source-map"]);
    assert_eq!(site.read("alone/app.js.map"), site.read("out/app.js.map"));
}

fn base64(text: &str) -> String {
    data_encoding::BASE64.encode(text.as_bytes())
}

#[test]
fn what_cannot_be_instrumented_comes_through() {
    let deep = format!("x={}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let good = "function good(a) { for (;;) return a }";
    let files = [
        ("good.js", good),
        ("syntax.js", "function ("),
        ("types.js", "const a: number = 1;"),
        ("deep.js", &deep),
        ("left/vendor-1.js", good),
        ("left/out/x.mjs", good),
        ("module.mjs", "import a from './good.js'; var await = a;"),
        ("common.cjs", "return; function common(a) { for (;;) return a }"),
        ("good.js.gz", "stale"),
        ("style.css.gz", "right"),
        ("mark.js", "\u{FEFF}function mark(a) { for (;;) return a }"),
        (
            "old.html",
            "<script nomodule src=legacy.js></script><script nomodule>function no() { for (;;); }</script>",
        ),
        ("legacy.js", good),
        ("part.html", "<p>a part of a page</p>"),
    ];
    let site = Site::new(&files);
    site.write("dist/latin.js", b"'\xE9'");
    site.write("dist/latin.html", b"<script>'\xE9'</script>");
    site.write("secret.js", good);
    symlink(site.path("secret.js"), site.path("dist/leads-out.js")).unwrap();
    symlink(site.path("dist"), site.path("dist/circle")).unwrap();
    symlink("good.js", site.path("dist/within.js")).unwrap();
    let messages = site.run(&["dist", "-o", "out", "--exclude", "vendor-*.js", "--exclude", "left/**/*.mjs"]);
    for expected in [
        "2 scripts left out by --include or --exclude: left/out/x.mjs, left/vendor-1.js",
        "3 scripts that cannot be parsed, copied unchanged: module.mjs (1:32: ",
        "syntax.js (1:10: ",
        "types.js (1:7: ",
        "1 script that nests too deeply, copied unchanged: deep.js (it may nest 100",
        "2 files that are not UTF-8, copied unchanged: latin.js (at byte 1), latin.html (at byte 9)",
        "1 script for browsers without modules: legacy.js",
        "1 compressed copy of a file that changed, not copied: good.js.gz",
        "2 symbolic links that lead out of the input or to folders, not copied: ",
    ] {
        assert!(messages.contains(expected), "{expected}:\n{messages}");
    }
    for same in [
        "syntax.js",
        "types.js",
        "deep.js",
        "left/vendor-1.js",
        "left/out/x.mjs",
        "module.mjs",
        "style.css.gz",
        "old.html",
        "legacy.js",
        "part.html",
    ] {
        assert_eq!(site.read(&format!("out/{same}")), site.read(&format!("dist/{same}")), "{same}");
    }
    assert_eq!(fs::read(site.path("out/latin.js")).unwrap(), b"'\xE9'");
    for gone in ["good.js.gz", "leads-out.js", "circle"] {
        assert!(!site.path(&format!("out/{gone}")).exists(), "{gone}");
    }
    assert!(site.read("out/common.cjs").starts_with("typeof $x=="));
    assert!(site.read("out/mark.js").starts_with("\u{FEFF}typeof $x=="));
    assert_eq!(site.functions("out", "mark.js")[1][2], 14, "the mark is no column");
    assert!(site.read("out/within.js").starts_with("typeof $x=="));

    let messages = site.run(&["dist", "-o", "some", "--include", "left/**", "--exclude", "*.mjs"]);
    assert!(messages.contains("instrumented: 1 script,"), "{messages}");
    assert_eq!(site.read("some/good.js"), good);
    assert_ne!(site.read("some/left/vendor-1.js"), good);
}

#[test]
fn pages_decide_what_scripts_are_and_have_their_checksums() {
    // `await` is a name in scripts alone.
    let sloppy = "function f(a) { for (;;) return a } var await = f;";
    let old = "sha384-OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb";
    let page = format!(
        "<script type=module src=module.js></script><script src='classic.js?v=1'></script><script src=missing.js></script>\
         <script src=https://cdn.test/app.js></script><script src=good.js integrity='{old}'></script>\
         <link rel=preload as=script href=good.js integrity={old}><script src=good.js integrity='sha256-wrong'></script>"
    );
    let policy = format!(
        "<meta http-equiv=Content-Security-Policy content=\"script-src 'sha256-x='\"><script>function a() {{ for (;;); }}</script>{page}"
    );
    let site = Site::new(&[
        ("index.html", &page),
        ("policy.html", &policy),
        ("module.js", sloppy),
        ("classic.js", sloppy),
        ("good.js", "a"),
    ]);
    let node = "const { createHash } = await import('node:crypto'); const { readFileSync } = await import('node:fs');
                console.log('sha384-' + createHash('sha384').update(readFileSync(process.env.FILE)).digest('base64'))";
    let checksum =
        |file: &str| site.node(&node.replace("process.env.FILE", &format!("'{file}'"))).trim().to_owned();
    site.write("dist/good.js", "function good(a) { for (;;) return a }");
    for name in ["index.html", "policy.html"] {
        let text = site.read(&format!("dist/{name}")).replace(old, &checksum("dist/good.js"));
        site.write(&format!("dist/{name}"), text);
    }
    let messages = site.run(&["dist", "-o", "out"]);
    assert!(messages.contains("1 script that cannot be parsed, copied unchanged: module.js"), "{messages}");
    assert!(
        messages
            .contains("2 scripts that pages load and that are not in the input: index.html:1 (missing.js)"),
        "{messages}"
    );
    assert!(
        messages.contains("1 inline script whose checksum a Content Security Policy may name: policy.html:1"),
        "{messages}"
    );
    assert!(site.read("out/classic.js").starts_with("typeof $x=="));
    let (before, after) = (site.read("dist/index.html"), site.read("out/index.html"));
    let expected = before.replace(&checksum("dist/good.js"), &checksum("out/good.js"));
    assert_eq!(after, format!("<script src=\"selfprof-polyfill.js\"></script>{expected}"));
    assert_eq!(after.matches(&checksum("out/good.js")).count(), 2);
}

#[test]
fn inputs_are_never_overwritten() {
    let good = "function good(a) { for (;;) return a }";
    let site = Site::new(&[("app.js", good), ("app.html", "<script>1</script>")]);
    site.write("other/file.txt", "mine");
    symlink(site.path("dist"), site.path("link")).unwrap();
    site.fail(&["dist", "-o", "dist"], 2, "would overwrite");
    site.fail(&["dist", "-o", "link"], 2, "would overwrite");
    site.fail(&["dist", "-o", "link/../dist/."], 2, "would overwrite");
    site.fail(&["dist", "-o", "."], 2, "would overwrite");
    site.fail(&["dist/app.js", "-o", "dist"], 2, "would overwrite");
    site.fail(&["dist", "-o", "other"], 2, "has files that `selfprof instrument` did not write");
    site.fail(&["dist", "-o", "other/file.txt"], 2, "is not a folder");
    site.fail(&["dist/app.js", "link/app.js", "-o", "out"], 2, "would be written to one file");
    site.fail(&["other", "-o", "out"], 2, "there are no scripts");
    site.fail(&["dist", "-o", "out", "--include", "{"], 2, "--include has a bad pattern");
    site.fail(&["dist", "-o", "out", "--exclude", "*"], 1, "nothing was instrumented");
    assert_eq!(site.read("other/file.txt"), "mine");
    assert_eq!(output(&mut site.command(&["nowhere", "-o", "out"])).status.code(), Some(2));

    // A folder in the input is left out of it, and written again by the next run.
    site.run(&["dist", "-o", "dist/selfprof"]);
    let first = site.read("dist/selfprof/selfprof-functions.json");
    site.run(&["link", "-o", "dist/selfprof"]);
    assert_eq!(site.read("dist/selfprof/selfprof-functions.json"), first);
    assert!(!site.path("dist/selfprof/selfprof").exists());
    assert_eq!(site.read("dist/app.js"), good);
    site.fail(&["dist/selfprof", "-o", "again"], 2, "is already instrumented");
    site.fail(&["dist/selfprof", "other", "-o", "again"], 2, "is already instrumented");
    let messages = site.run(&["dist", "-o", "again"]);
    assert!(
        messages.contains("1 folder that an earlier run has written, not copied: selfprof"),
        "{messages}"
    );
    assert!(!site.path("again/selfprof").exists());
    // Several inputs keep their names.
    site.run(&["dist/app.js", "dist", "-o", "several"]);
    assert!(site.path("several/app.js").is_file() && site.path("several/dist/app.html").is_file());
}

#[test]
fn what_is_instrumented_already_is_not_instrumented_again() {
    let good = "function good(a) { for (;;) return a }";
    let page = "<!doctype html><script>function inline(a) { for (;;) return a }</script>";
    let chooser = "<!doctype html><script data-selfprof-chooser>1</script><script src=app.js></script>";
    for mode in ["sample", "trace"] {
        let site = Site::new(&[
            ("app.js", good),
            ("page.html", page),
            ("strict.mjs", "'use strict'\nfunction f() {}"),
        ]);
        site.run(&["dist", "-o", "out", "--mode", mode]);
        // What is named is refused, and nothing is written.
        let refused = |arguments: &[&str], expected: &str| {
            let arguments = [arguments, &["-o", "again", "--mode", mode]].concat();
            site.fail(&arguments, 2, expected);
            assert!(!site.path("again").exists());
        };
        refused(&["out/page.html"], "out/page.html is already instrumented: it loads selfprof-polyfill.js");
        refused(&["out/app.js"], "out/app.js is already instrumented");
        refused(&["dist/page.html", "out/app.js"], "out/app.js is already instrumented");
        refused(&["out"], "out is already instrumented: it has selfprof-functions.json");
        refused(&["out/strict.mjs"], "out/strict.mjs is already instrumented");

        // In a folder it is copied unchanged, and named.
        site.write("mixed/app.js", site.read("out/app.js"));
        site.write("mixed/strict.mjs", site.read("out/strict.mjs"));
        site.write("mixed/page.html", site.read("out/page.html").replace("selfprof-polyfill.js", "other.js"));
        site.write(
            "mixed/byhand.html",
            "<script src='/x/selfprof-polyfill.js?v=1'></script><script>f()</script>",
        );
        site.write("mixed/chooser.html", chooser);
        site.fail(&["mixed", "-o", "nothing", "--mode", mode], 1, "hint: give the plain files");
        // These only look like it.
        let quoted = format!("function good(a) {{ for (;;) return a }} /*{}*/", site.read("out/app.js"));
        site.write("mixed/plain.js", &quoted);
        site.write(
            "mixed/plain.html",
            format!("<script>{quoted}</script><!--<script src=selfprof-polyfill.js></script>-->"),
        );
        let messages = site.run(&["mixed", "-o", "again", "--mode", mode]);
        assert!(messages.contains("1 script, 1 page with 1 inline script"), "{messages}");
        for expected in [
            "5 files that are already instrumented, copied unchanged: app.js, strict.mjs, ",
            "byhand.html (it loads selfprof-polyfill.js), ",
            "chooser.html (it chooses between plain and instrumented scripts), ",
            "page.html (it has an instrumented script)",
        ] {
            assert!(messages.contains(expected), "{expected}:\n{messages}");
        }
        for same in ["app.js", "strict.mjs", "page.html", "byhand.html", "chooser.html"] {
            assert_eq!(site.read(&format!("again/{same}")), site.read(&format!("mixed/{same}")), "{same}");
        }
        // It may be left out by name, too.
        site.run(&["mixed/plain.js", "out/app.js", "-o", "chosen", "--exclude", "app.js", "--mode", mode]);
        assert_eq!(site.read("chosen/app.js"), site.read("out/app.js"));
    }
    // The plugin may run twice over one output, whose pages then choose.
    let site = Site::new(&[("app.js", good), ("index.html", chooser)]);
    let messages = site.run(&["dist", "-o", "dist/selfprof"]);
    assert!(messages.contains("1 script, 1 page with 1 inline script"), "{messages}");
}

#[test]
fn the_summary_is_also_json() {
    let page = "<!--é--><head><script src=/shop/assets/app.js></script><script nomodule src=/shop/assets/app.js></script>\
                <script src=\"https://cdn.test/x.js\"></script><script src='assets/app.js' data-a='-->'></script>";
    let site =
        Site::new(&[("index.html", page), ("assets/app.js", "function good(a) { for (;;) return a }")]);
    let output = output(&mut site.command(&["dist", "-o", "dist/selfprof", "--json"]));
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (key, expected) in
        [("scripts", 1), ("functions", 1), ("checkedFunctions", 1), ("loops", 1), ("pagesWithRuntime", 1)]
    {
        assert_eq!(summary[key], expected, "{key}");
    }
    assert!(summary["bytes"]["instrumented"].as_u64() > summary["bytes"]["plain"].as_u64());
    // What a chooser needs: the elements of the plain page, and those that would load the instrumented scripts.
    let choice = &summary["pages"][0];
    assert_eq!(
        (&choice["path"], &choice["runtime"]),
        (&"index.html".into(), &"/shop/selfprof/selfprof-polyfill.js".into())
    );
    assert_eq!(choice["head"], "<!--é--><head>".len());
    let scripts = choice["scripts"].as_array().unwrap();
    assert_eq!(scripts.len(), 1, "{choice}");
    let range = scripts[0]["start"].as_u64().unwrap() as usize..scripts[0]["end"].as_u64().unwrap() as usize;
    assert_eq!(&page[range], "<script src=/shop/assets/app.js></script>");
    assert_eq!(scripts[0]["instrumented"], "<script src=/shop/selfprof/assets/app.js></script>");
}

#[test]
fn hostile_inputs_do_no_harm() {
    let many = "<script>1</script>".repeat(2_000);
    let site = Site::new(&[
        ("many.html", &many),
        ("\u{1b}[31m.js", "function ("),
        ("<script>.js", "function good(a) { for (;;) return a }"),
        ("nul.js", "\0"),
        ("empty.js", ""),
        ("link.js", "function a() { for (;;); }\n//# sourceMappingURL=../../../../../etc/passwd"),
        ("css.js", "function a() { for (;;); }\n//# sourceMappingURL=style.css"),
        ("style.css", "a {}"),
    ]);
    let messages = site.run(&["dist", "-o", "out", "--source-map"]);
    assert!(!messages.contains('\u{1b}'), "{messages}");
    assert!(messages.contains("2000 inline scripts"), "{messages}");
    assert_eq!(site.read("out/style.css"), "a {}");
    assert!(!site.read("out/link.js.map").contains("root:"));
    assert_eq!(site.functions("out", "%3Cscript%3E.js").len(), 2);
    // A link in the output folder leads nowhere else.
    fs::remove_dir_all(site.path("out/")).unwrap();
    site.run(&["dist", "-o", "out"]);
    site.write("victim", "mine");
    fs::remove_file(site.path("out/empty.js")).unwrap();
    symlink(site.path("victim"), site.path("out/empty.js")).unwrap();
    site.run(&["dist", "-o", "out"]);
    assert_eq!((site.read("victim"), site.read("out/empty.js")), ("mine".to_owned(), String::new()));
}

#[test]
fn a_package_without_the_polyfill_is_named() {
    let site = Site::new(&[("app.js", "1")]);
    site.write("npm/polyfill/polyfill.js", "let SELFPROF_ACTIVE;");
    site.fail(&["dist", "-o", "out"], 1, "is not the polyfill's template");
    fs::remove_file(site.path("npm/polyfill/polyfill.js")).unwrap();
    site.fail(&["dist", "-o", "out"], 1, "`cargo xtask build` builds it");
    assert!(!Path::new(&site.path("out")).exists());
}

#[test]
fn calls_are_traced() {
    let page = "<!doctype html><html><head></head><body>\n<script>function inline() { return two() }</script>\
                <script>const two = () => 2; var x = function () { var g; function g() {} }</script></body></html>";
    let site = Site::new(&[
        ("index.html", page),
        ("app.js", "class A { get total() { return inline() } }\nnew A().total;"),
    ]);
    let messages = site.run(&["dist", "-o", "out", "--mode", "trace", "--source-map"]);
    assert!(messages.contains("4 of 5 functions are traced"), "{messages}");
    assert!(
        messages.contains("1 function that cannot be traced; docs/polyfill.md says why: index.html:2:98 (x)"),
        "{messages}"
    );
    let table: Value = serde_json::from_str(&site.read("out/selfprof-functions.json")).unwrap();
    assert_eq!(table["files"]["app.js"]["functions"][0][8], 0);
    // Functions have the numbers that the code has, also those of a second script of a page.
    let script = |html: &str, from: &str| {
        let rest = &html[html.find(from).unwrap()..];
        rest[rest.find('>').unwrap() + 1..rest.find("</script>").unwrap()].to_owned()
    };
    let html = site.read("out/index.html");
    let program = format!(
        "import vm from 'node:vm'; import fs from 'node:fs';\
         for (const text of [fs.readFileSync('out/selfprof-polyfill.js', 'utf8'), {}, {}, fs.readFileSync('out/app.js', 'utf8')]) \
           vm.runInThisContext(text);\
         const names = id => Object.values(JSON.parse(fs.readFileSync('out/' + table, 'utf8')).files)\
           .map(({{functions}}) => functions[Math.abs(id) - functions[0][8]] ?? []).map(([name]) => name).filter(Boolean).join();\
         console.log(log.map(id => (id < 0 ? '/' : '') + names(id)).join(' '))",
        serde_json::to_string(&script(&html, "<script>typeof")).unwrap(),
        serde_json::to_string(&script(&html[html.rfind("<script>").unwrap()..], "<script>")).unwrap(),
    );
    assert_eq!(site.node(&program).trim(), "get total inline two /two /inline /get total");
    // Only chosen ones.
    let messages =
        site.run(&["dist", "-o", "out", "--mode", "trace", "--functions", "get *", "--functions", "t[wx]o"]);
    assert!(messages.contains("2 of 5 functions are traced") && !messages.contains("warning"), "{messages}");
    let some = [
        "dist",
        "-o",
        "out",
        "--mode",
        "trace",
        "--functions",
        "two",
        "--functions",
        "towrong*",
        "--functions",
        "Two",
    ];
    let messages = site.run(&some);
    assert!(
        messages.contains("warning: no function matches --functions 'towrong*'\nwarning: no function matches --functions Two\n"),
        "{messages}"
    );
    let json = output(&mut site.command(&[&some[..], &["--json"]].concat()));
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["unmatchedFunctions"], serde_json::json!(["towrong*", "Two"]));
    // Functions without a name are chosen by what tables call them.
    site.fail(
        &["dist", "-o", "out", "--mode", "trace", "--functions", ""],
        2,
        "`(anonymous)` chooses those without a name",
    );
    site.fail(
        &["dist", "-o", "out", "--mode", "trace", "--functions", "(anonymous)"],
        1,
        "no function is traced",
    );
    site.write("dist/nameless.js", "(() => 1)();");
    let messages = site.run(&["dist", "-o", "out", "--mode", "trace", "--functions", "(anonymous)"]);
    assert!(messages.contains("1 of 6 functions are traced"), "{messages}");
    fs::remove_file(site.path("dist/nameless.js")).unwrap();
    let json = output(&mut site.command(&["dist", "-o", "out", "--mode", "trace", "--json"]));
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["mode"], &json["checkedFunctions"]), (&"trace".into(), &4.into()));
    assert_eq!(json["leftOut"][0]["reason"], "untraceable");
    site.fail(&["dist", "-o", "out", "--mode", "trace", "--functions", "thre*"], 1, "no function is traced");
    site.fail(
        &["dist", "-o", "out", "--mode", "trace", "--functions", "["],
        2,
        "--functions has a bad pattern",
    );
    site.fail(&["dist", "-o", "out", "--functions", "two"], 2, "`--functions` is for `--mode trace`");
    site.fail(
        &["dist", "-o", "out", "--mode", "trace", "--min-statements", "0"],
        2,
        "`--min-statements` is for",
    );
}
