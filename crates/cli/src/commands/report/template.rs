//! The HTML template of the report.

use std::fs;
use std::io;

use crate::failure::Failure;
use crate::installation::package::Package;

use super::embedded;
use super::report_trace::ReportTrace;

/// The comment in `ui/report/index.html` that the traces replace.
const PLACEHOLDER: &str = "<!--selfprof-traces-->";

/// The template, split at the placeholder.
#[derive(Debug)]
pub struct Template {
    before: String,
    after: String,
}

impl Template {
    /// Reads the template from the npm package.
    pub fn find() -> Result<Self, Failure> {
        let path = Package::find()?.report();
        let hint = "in a checkout, `cargo xtask build` builds it; otherwise, install the npm package again";
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::job(format!("cannot read the report template {}", path.display()))
                .because(&error)
                .hint(hint)
        })?;
        match text.split_once(PLACEHOLDER) {
            Some((before, after)) => Ok(Self { before: before.to_owned(), after: after.to_owned() }),
            None => Err(Failure::job(format!("{} is not the report template", path.display())).hint(hint)),
        }
    }

    /// The HTML of a report with these traces.
    pub fn render(&self, traces: &[ReportTrace]) -> io::Result<Vec<u8>> {
        let mut html = self.before.clone().into_bytes();
        html.extend_from_slice(br#"<script type="text/plain" id="selfprof-traces">"#);
        html.extend_from_slice(embedded::encode(traces)?.as_bytes());
        html.extend_from_slice(b"</script>");
        html.extend_from_slice(self.after.as_bytes());
        Ok(html)
    }
}
