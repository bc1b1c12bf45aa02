//! Running `selfprof` in tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `selfprof` with the npm package of the checkout and a clean environment.
pub fn selfprof() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfprof"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SELFPROF_NPM", npm())
        .env_remove("SELFPROF_NODE")
        .env_remove("SELFPROF_JSDOM")
        .env_remove("SELFPROF_PROFILING_MODE")
        .env_remove("SELFPROF_NODE_FRAMES")
        .env_remove("NODE_OPTIONS")
        .env_remove("SSL_CERT_FILE")
        .env_remove("SSL_CERT_DIR");
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
}

/// The npm package in the checkout.
pub fn npm() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/selfprof")
}

/// A stream as text.
pub fn text(stream: &[u8]) -> String {
    String::from_utf8_lossy(stream).into_owned()
}

/// Runs the command to its end.
pub fn output(command: &mut Command) -> Output {
    command.output().expect("selfprof starts")
}
