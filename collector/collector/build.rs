//! Takes the pages of the collector into the program, if they were built.

use std::path::Path;
use std::{env, fs, io};

/// Where `npm run build` in `collector/page` writes the pages.
const FOLDER: &str = "../page/dist";

/// The files of the pages, and their names in the program.
const PAGES: [(&str, &str); 2] = [("index.html", "page.html"), ("profile.html", "profile.html")];

/// What is shown in its place.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>selfprof collector</title>\
    <h1>This collector was built without its page</h1>\
    <p>It takes in profiles and answers <code>selfprof-collector query</code>. To build it with its page, run in the checkout:\
    <pre>cargo xtask build collector</pre>";

fn main() -> io::Result<()> {
    // A file that is not there would count as changed in each build.
    let watched = [FOLDER, "../page"].into_iter().find(|path| Path::new(path).exists());
    println!("cargo::rerun-if-changed={}", watched.unwrap_or("build.rs"));
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    for (file, name) in PAGES {
        let page = match fs::read_to_string(Path::new(FOLDER).join(file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => NOT_BUILT.to_owned(),
            page => page?,
        };
        fs::write(Path::new(&folder).join(name), page)?;
    }
    Ok(())
}
