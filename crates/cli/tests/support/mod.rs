//! Running `selfprof` in tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, told to use the checkout's npm package, in a clean environment.
pub fn selfprof() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfprof"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SELFPROF_NPM", npm())
        .env_remove("SELFPROF_NODE")
        .env_remove("SELFPROF_JSDOM")
        .env_remove("SELFPROF_PROFILING_MODE")
        .env_remove("SELFPROF_NODE_FRAMES")
        .env_remove("NODE_OPTIONS");
    command
}

/// The npm package in the checkout.
pub fn npm() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../npm")
}

/// One of the streams as text.
pub fn text(stream: &[u8]) -> String {
    String::from_utf8_lossy(stream).into_owned()
}

/// Runs to the end.
pub fn output(command: &mut Command) -> Output {
    command.output().expect("selfprof starts")
}
