//! Compiles the shim against the headers of one Node major, and writes the numbers that the shim and Rust share.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

const SOURCES: [&str; 12] = [
    "shim/cpu_times.cc",
    "shim/environment.cc",
    "shim/heap_limit.cc",
    "shim/mapping_urls.cc",
    "shim/pages/hooks.cc",
    "shim/pages/modules.cc",
    "shim/pages/muted_exceptions.cc",
    "shim/pages/scripts.cc",
    "shim/pages/structured_clone.cc",
    "shim/profiler.cc",
    "shim/sample_labels.cc",
    "shim/timeline.cc",
];

/// Enumerations whose numbers cross the border: the name, and the names of the numbers from 0 on.
const SHARED_NUMBERS: [(&str, &[&str]); 3] = [
    // What is known of a script: nothing, or which page it is of, and whether its errors are muted.
    ("ScriptKind", &["Unknown", "Shown", "Muted"]),
    // How a function that compiles or runs a script ended.
    ("Status", &["Ok", "Thrown", "NoContext", "OwnContext", "NoSource", "OutOfOrder"]),
    // What the agent was doing when a sample was taken.
    (
        "AgentState",
        &[
            "JavaScript",
            "GarbageCollection",
            "Parser",
            "BytecodeCompiler",
            "Compiler",
            "Other",
            "External",
            "AtomicsWait",
            "Idle",
        ],
    ),
];

fn main() {
    println!("cargo:rerun-if-env-changed=SELFPROF_NODE_INCLUDE");
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-changed=build.rs");
    let include = env::var_os("SELFPROF_NODE_INCLUDE").map(PathBuf::from).or_else(headers_of_node_on_path);
    let Some(include) = include.filter(|dir| dir.join("v8-profiler.h").is_file()) else {
        eprintln!(
            "no Node headers (v8-profiler.h) were found\n\nhint: `cargo xtask build` finds or fetches them; or set \
             SELFPROF_NODE_INCLUDE to the include/node folder of the Node to build for"
        );
        exit(1);
    };
    let generated = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    write_shared_numbers(&generated);
    let shim = generated.join("selfprof_v8_shim.cc");
    write_shim(&shim);
    cc::Build::new()
        .cpp(true)
        .std("c++20")
        .file(shim)
        .include(include)
        .include(generated)
        // The node executable exports V8 without run-time type information, and no exception crosses the shim.
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag_if_supported("-fvisibility=hidden")
        // V8's headers cause these two warnings of -Wextra.
        .flag("-Wno-unused-parameter")
        .flag("-Wno-cast-function-type")
        .compile("selfprof_v8_shim");
}

/// Writes a file that includes all sources: compiling V8's headers takes longer than compiling the rest.
fn write_shim(file: &Path) {
    let folder = env::current_dir().expect("cargo sets the current folder");
    let include = |source: &&str| format!("#include \"{}\"\n", folder.join(source).display());
    fs::write(file, SOURCES.iter().map(include).collect::<String>()).expect("the build folder is writable");
}

fn write_shared_numbers(folder: &Path) {
    let mut header = String::from("#pragma once\n#include <cstdint>\nnamespace selfprof {\n");
    let mut module = String::new();
    for (name, members) in SHARED_NUMBERS {
        let _ = writeln!(header, "enum class {name} : int32_t {{");
        let _ = writeln!(module, "#[allow(non_upper_case_globals)]\npub mod {name} {{");
        for (number, member) in members.iter().enumerate() {
            let _ = writeln!(header, "  k{member} = {number},");
            let _ = writeln!(module, "    pub const {member}: i32 = {number};");
        }
        header.push_str("};\n");
        module.push_str("}\n");
    }
    header.push_str("}  // namespace selfprof\n");
    fs::write(folder.join("selfprof_numbers.h"), header).expect("the build folder is writable");
    fs::write(folder.join("numbers.rs"), module).expect("the build folder is writable");
}

fn headers_of_node_on_path() -> Option<PathBuf> {
    let output = Command::new("node").args(["-p", "process.execPath"]).output().ok()?;
    let node = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()).canonicalize().ok()?;
    Some(node.parent()?.parent()?.join("include/node"))
}
