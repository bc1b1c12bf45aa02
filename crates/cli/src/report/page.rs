//! The page that traces are put into.

use std::fs;
use std::io;

use crate::failure::Failure;
use crate::package::Package;

use super::embedded::{self, Titled};

/// Where the traces go, as `report/index.html` has it.
const PLACE: &str = "<!--selfprof-traces-->";

/// The page, cut in two where the traces go.
#[derive(Debug)]
pub struct Page {
    before: String,
    after: String,
}

impl Page {
    /// Reads the page of the npm package.
    pub fn find() -> Result<Self, Failure> {
        let path = Package::find()?.report();
        let hint = "in a checkout, `cargo xtask build` makes it; an installed package has it";
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::job(format!("cannot read the report's page {}", path.display()))
                .because(&error)
                .hint(hint)
        })?;
        match text.split_once(PLACE) {
            Some((before, after)) => Ok(Self { before: before.to_owned(), after: after.to_owned() }),
            None => Err(Failure::job(format!("{} is not the report's page", path.display())).hint(hint)),
        }
    }

    /// The page with traces in it.
    pub fn with(&self, traces: &[Titled]) -> io::Result<Vec<u8>> {
        let mut html = self.before.clone().into_bytes();
        html.extend_from_slice(br#"<script type="text/plain" id="selfprof-traces">"#);
        embedded::write(traces, &mut html)?;
        html.extend_from_slice(b"</script>");
        html.extend_from_slice(self.after.as_bytes());
        Ok(html)
    }
}
