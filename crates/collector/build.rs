//! Takes the page of the collector into the program, if it was built.

use std::path::Path;
use std::{env, fs, io};

/// The page, as `npm run build` in `ui/collector` writes it.
const PAGE: &str = "../../ui/collector/dist/index.html";

/// What is shown in its place.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>selfprof collector</title>\
    <h1>This collector was built without its page</h1>\
    <p>It takes in profiles and answers <code>selfprof-collector query</code>. To build it with its page, run in the checkout:\
    <pre>npm ci\nnpm run build --workspace ui/collector\ncargo build --profile collector -p selfprof-store -p selfprof-collector</pre>";

fn main() -> io::Result<()> {
    // A file that is not there would count as changed in each build.
    let watched = [PAGE, "../../ui/collector"].into_iter().find(|path| Path::new(path).exists());
    println!("cargo::rerun-if-changed={}", watched.unwrap_or("build.rs"));
    let page = match fs::read_to_string(PAGE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => NOT_BUILT.to_owned(),
        page => page?,
    };
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&folder).join("page.html"), page)
}
