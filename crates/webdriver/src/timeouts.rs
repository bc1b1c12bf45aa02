//! Session timeouts. <https://www.w3.org/TR/webdriver2/#timeouts>

/// Timeouts in milliseconds; `None` means no timeout.
#[derive(Clone, Debug)]
pub struct Timeouts {
    pub script: Option<u64>,
    pub page_load: Option<u64>,
    pub implicit: Option<u64>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { script: Some(30_000), page_load: Some(300_000), implicit: Some(0) }
    }
}
