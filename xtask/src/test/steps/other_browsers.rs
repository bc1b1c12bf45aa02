//! Firefox and WebKit, in which tests run where they are installed. A step says which are missing.

use crate::firefox;
use crate::webkit;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The browsers that are installed.
pub struct OtherBrowsers {
    firefox: Option<PathBuf>,
    webkit: Option<PathBuf>,
}

impl OtherBrowsers {
    pub fn find() -> Self {
        Self { firefox: firefox::find(), webkit: webkit::find() }
    }

    /// What the tests find them by.
    pub fn environment(&self) -> impl Iterator<Item = (&'static str, &OsStr)> {
        let all = [("SELFPROF_TEST_FIREFOX", &self.firefox), ("SELFPROF_TEST_WEBKIT", &self.webkit)];
        all.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?.as_os_str())))
    }

    /// What the summary of a step says of those that are missing.
    pub fn missing(&self) -> String {
        let mut text = String::new();
        if self.firefox.is_none() {
            text.push_str("; skipped: Firefox, which is not installed");
        }
        if self.webkit.is_none() {
            text.push_str("; skipped: WebKit, which is not installed (");
            text.push_str(webkit::HINT);
            text.push(')');
        }
        text
    }
}
