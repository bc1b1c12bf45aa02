//! WebKit's WebDriver server, if it is installed. Nobody has to have it: no registry of packages that xtask fetches
//! from has a build of it.

use std::env;
use std::path::PathBuf;

/// How it is installed.
pub const HINT: &str = "on Debian, apt-get install webkit2gtk-driver xvfb";

/// What `SELFPROF_WEBKIT` names, or `WebKitWebDriver` on PATH. The browser that it starts needs a screen, which Xvfb
/// makes.
pub fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path =
        |name: &str| env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    on_path("Xvfb")?;
    match env::var_os("SELFPROF_WEBKIT").filter(|value| !value.is_empty()) {
        Some(named) => Some(PathBuf::from(named)),
        None => on_path("WebKitWebDriver"),
    }
}
