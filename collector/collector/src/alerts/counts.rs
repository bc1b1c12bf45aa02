//! Counts of what the search for regressions has done.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

/// What has been counted since the start.
#[derive(Debug, Default)]
pub struct Counts {
    /// Searches through the releases of all applications, and those in which an application could not be searched.
    pub searches: Counter,
    pub failed_searches: Counter,
    /// Comparisons of a release with the one before, each on one page.
    pub comparisons: Counter,
    pub found: Counter,
    /// Alerts that a webhook has taken, and attempts that failed.
    pub posted: Counter,
    pub failed_posts: Counter,
}

impl Counts {
    /// Adds them to the metrics.
    pub fn register(&self, registry: &mut Registry) {
        let mut counter = |name, help, counter: &Counter| registry.register(name, help, counter.clone());
        counter("alerts_searches", "Searches for regressions in all applications", &self.searches);
        counter(
            "alerts_searches_failed",
            "Searches for regressions in which an application could not be searched",
            &self.failed_searches,
        );
        counter(
            "alerts_comparisons",
            "Comparisons of a new release with the one before, each on one page",
            &self.comparisons,
        );
        counter("alerts_found", "Alerts that were found", &self.found);
        counter("alerts_posted", "Alerts that the webhook has taken", &self.posted);
        counter("alerts_posts_failed", "Attempts to post alerts that failed", &self.failed_posts);
    }
}
