//! Compiles the shim against the headers of one Node major.

use std::env;
use std::path::PathBuf;
use std::process::{Command, exit};

fn main() {
    println!("cargo:rerun-if-env-changed=SELFPROF_NODE_INCLUDE");
    println!("cargo:rerun-if-changed=shim");
    let include = env::var_os("SELFPROF_NODE_INCLUDE").map(PathBuf::from).or_else(headers_of_node_on_path);
    let Some(include) = include.filter(|dir| dir.join("v8-profiler.h").is_file()) else {
        eprintln!(
            "no Node headers (v8-profiler.h) found\n\nhint: `cargo xtask build` finds or fetches them; or set \
             SELFPROF_NODE_INCLUDE to the include/node folder of the Node to build for"
        );
        exit(1);
    };
    cc::Build::new()
        .cpp(true)
        .std("c++20")
        .files(["shim/shim.cc", "shim/scripts.cc", "shim/hosting.cc", "shim/timeline.cc"])
        .include(include)
        // The node executable exports V8 without run-time type information, and no exception crosses the shim.
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag_if_supported("-fvisibility=hidden")
        // V8's headers warn under -Wextra; our own file is compiled with -Wall all the same.
        .flag("-Wno-unused-parameter")
        .flag("-Wno-cast-function-type")
        .compile("selfprof_v8_shim");
}

fn headers_of_node_on_path() -> Option<PathBuf> {
    let output = Command::new("node").args(["-p", "process.execPath"]).output().ok()?;
    let node = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()).canonicalize().ok()?;
    Some(node.parent()?.parent()?.join("include/node"))
}
