//! The pages of a server: its routes, by the labels of samples.

use std::collections::BTreeMap;

use selfprof_trace::{Entries, Entry, LabelSet, Labels, Sample, Trace};

use crate::requests::route_of_slow_request;

/// The labels that name a route, the first that a sample has.
const NAMES: [&str; 2] = ["http.route", "route"];

/// At most this many pages of a trace get traces of their own; the others stay with what has no route.
const MAX_PAGES: usize = 100;

/// The trace of a page.
#[derive(Debug)]
pub struct Page {
    /// Its route; `None` for the samples without one.
    pub route: Option<String>,
    /// Its samples. Where samples of other pages were between them, the last of those is there, as an idle one: so each
    /// sample stands for as much time as before.
    pub trace: Trace,
}

/// Divides a trace by route. What has no route comes first, with the marks and measures, except those of slow requests.
pub fn divide(trace: Trace) -> Vec<Page> {
    let routes = routes(&trace);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for route in routes.iter().flatten() {
        let next = names.len() + 1;
        if next <= MAX_PAGES {
            names.entry(route).or_insert(next);
        }
    }
    if names.is_empty() {
        return vec![Page { route: None, trace }];
    }
    // Samples without a route are those of page 0.
    let page_of = |route: &Option<&str>| route.and_then(|route| names.get(route)).copied().unwrap_or(0);
    let pages: Vec<usize> = routes.iter().map(page_of).collect();
    let routes = std::iter::once(None).chain(by_number(&names).into_iter().map(Some));
    let divided = routes.enumerate().map(|(page, route)| Page {
        route,
        trace: of_page(&trace, &pages, page, |route| names.get(route).copied()),
    });
    divided
        .filter(|page| page.trace.samples().iter().any(|sample| !sample.is_idle()) || page.route.is_none())
        .collect()
}

fn by_number(names: &BTreeMap<&str, usize>) -> Vec<String> {
    let mut list: Vec<(usize, &str)> = names.iter().map(|(name, number)| (*number, *name)).collect();
    list.sort_unstable();
    list.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// The route of each sample.
fn routes(trace: &Trace) -> Vec<Option<&str>> {
    let Some(labels) = trace.labels() else { return Vec::new() };
    let sets: Vec<Option<&str>> = labels.sets().map(route).collect();
    let route = |id: Option<selfprof_trace::LabelSetId>| sets.get(id?.index()).copied().flatten();
    labels.of_samples(trace.samples()).into_iter().map(route).collect()
}

fn route(labels: &LabelSet) -> Option<&str> {
    NAMES.iter().find_map(|name| labels.get(name)).filter(|route| !route.is_empty())
}

/// The samples of a page. `pages` has the page of each sample.
fn of_page(
    trace: &Trace,
    pages: &[usize],
    page: usize,
    route_number: impl Fn(&str) -> Option<usize>,
) -> Trace {
    let samples = trace.samples();
    let mut own: Vec<Sample> = Vec::new();
    for (index, (sample, &of)) in samples.iter().zip(pages).enumerate() {
        if of == page {
            own.push(*sample);
        } else if pages.get(index + 1) == Some(&page) {
            own.push(Sample { stack: None, marker: None, ..*sample });
        }
    }
    let labels = trace.labels().map(|labels| labels_of(labels, &own));
    let mut part = trace.clone();
    part.drain_samples(usize::MAX);
    own.into_iter().for_each(|sample| part.push_sample(sample));
    part.set_labels(labels);
    part.set_entries(trace.entries().and_then(|entries| entries_of(entries, page, route_number)));
    part.narrowed()
}

/// The slow requests of a page, whose measures name their routes. All other marks and measures have no route, and are
/// those of page 0.
fn entries_of(entries: &Entries, page: usize, number: impl Fn(&str) -> Option<usize>) -> Option<Entries> {
    let of = |name: &str| route_of_slow_request(name).and_then(&number).unwrap_or(0);
    let mut own = Entries::new();
    for entry in entries.list() {
        let name = &entries.names()[entry.name];
        if of(name) == page {
            // There are not more names than before, so the table cannot be full.
            let name = own.name(name).ok()?;
            own.push(Entry { name, ..*entry }).ok()?;
        }
    }
    if page == 0 {
        own.count_dropped(entries.dropped());
    }
    (page == 0 || !own.is_empty()).then_some(own)
}

/// The labels of these samples alone: other pages have labels for each of their requests.
fn labels_of(labels: &Labels, samples: &[Sample]) -> Labels {
    let mut own = Labels::default();
    for sample in samples {
        let set = labels.of_sample(sample).and_then(|id| labels.get(id)).cloned();
        // There are not more sets than before, so the table cannot be full.
        let id = set.and_then(|set| own.set(set).ok());
        own.change(sample.timestamp, id);
    }
    own
}

#[cfg(test)]
mod tests {
    use selfprof_trace::{EntryType, Frame, Micros, Millis, Stack};

    use super::*;

    /// A trace of samples at 10 ms: each is the route that it has, `-` without one, or `.` if it is idle.
    fn trace(samples: &str) -> Trace {
        let mut trace = Trace::new();
        let mut labels = Labels::default();
        for (index, text) in samples.split(' ').enumerate() {
            let timestamp = Micros((index as u64 + 1) * 10_000);
            let name = trace.name(text).unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            let stack = trace.stack(Stack { parent: None, frame }).ok().filter(|_| text != ".");
            trace.push_sample(Sample { timestamp, stack, marker: None });
            let name = if index % 2 == 0 { "http.route" } else { "route" };
            let set = LabelSet::new([(name, text), ("request", &*index.to_string())]);
            let id = (text != "-").then(|| labels.set(set).unwrap());
            labels.change(timestamp, id);
        }
        trace.set_labels(Some(labels));
        trace
    }

    #[test]
    fn each_sample_is_in_one_page_with_its_time() {
        #[track_caller]
        fn check(samples: &str, expected: &str) {
            let pages = divide(trace(samples));
            let shown = |page: &Page| {
                let name = |sample: &Sample| {
                    let frame = page.trace.path(sample.stack?).next()?;
                    Some(&page.trace.names()[page.trace.frames()[frame].name])
                };
                let samples = page.trace.samples().iter().zip(page.trace.weights());
                let samples = samples
                    .map(|(sample, weight)| format!("{}*{}", name(sample).unwrap_or("."), weight.0 / 10_000));
                format!(
                    "{}: {}",
                    page.route.as_deref().unwrap_or("none"),
                    samples.collect::<Vec<_>>().join(" ")
                )
            };
            assert_eq!(pages.iter().map(shown).collect::<Vec<_>>().join("\n"), expected);
        }
        check("- - .", "none: -*1 -*1 .*1");
        check("/a /a /b . /a - /b", "none: .*1 .*1 .*1 -*1\n/a: /a*1 /a*1 .*2 /a*1\n/b: .*1 /b*1 .*3 /b*1");
    }

    #[test]
    fn a_page_has_its_own_labels_only() {
        let pages = divide(trace("/a /b /a /b"));
        let labels = pages[1].trace.labels().unwrap();
        let requests: Vec<_> = labels.sets().map(|set| set.get("request").unwrap()).collect();
        assert_eq!((pages[1].route.as_deref(), requests), (Some("/a"), vec!["0", "2"]));
        assert_eq!(pages[1].trace.names().len(), 1);
    }

    #[test]
    fn slow_requests_are_in_the_pages_of_their_routes() {
        let mut trace = trace("/a /b -");
        let mut entries = Entries::new();
        for name in ["slow request GET /b", "load", "slow request GET /c", "slow request GET"] {
            let name = entries.name(name).unwrap();
            let [start_time, duration] = [Millis::ZERO; 2];
            entries.push(Entry { entry_type: EntryType::Measure, name, start_time, duration }).unwrap();
        }
        entries.count_dropped(3);
        trace.set_entries(Some(entries));
        let shown = |page: &Page| {
            let entries = page.trace.entries()?;
            let names = entries.list().iter().map(|entry| entries.names()[entry.name].to_owned());
            Some((names.collect::<Vec<_>>().join(", "), entries.dropped()))
        };
        let found: Vec<_> = divide(trace).iter().map(shown).collect();
        let none = "load, slow request GET /c, slow request GET".to_owned();
        assert_eq!(found, [Some((none, 3)), None, Some(("slow request GET /b".to_owned(), 0))]);
    }

    #[test]
    fn the_number_of_pages_is_bounded() {
        let routes: Vec<String> = (0..300).map(|number| format!("/{number}")).collect();
        let pages = divide(trace(&routes.join(" ")));
        assert_eq!(pages.len(), MAX_PAGES + 1);
        let busy = |page: &Page| page.trace.samples().iter().filter(|sample| !sample.is_idle()).count();
        assert_eq!(busy(&pages[0]), 200);
    }
}
