//! The slow requests of a server, which `profileRequest()` of the agent keeps apart.

use std::collections::HashMap;

use selfprof_trace::{Entries, LabelSet, Labels, TableFull, Trace};

/// The label with the number of the request.
const LABEL: &str = "request";
/// How the measure of a slow request begins: then come its number, `: `, its method and its route.
const MEASURE: &str = "slow request ";

/// At most this many requests of a trace are kept apart.
const MAX_REQUESTS: usize = 100;

/// Names the slow requests in the labels of their samples and in their measures, and removes the label from the samples
/// of other requests. If a table is full, the trace does not change.
pub fn name_slow_requests(trace: &mut Trace) {
    let has_label = |labels: &Labels| labels.sets().any(|set| set.get(LABEL).is_some());
    if !trace.labels().is_some_and(has_label) {
        return;
    }
    let requests = trace.entries().map(slow_requests).unwrap_or_default();
    let labels = trace.labels().map(|labels| relabelled(labels, &requests));
    let entries = trace.entries().map(renamed);
    if let None | Some(Ok(_)) = &entries {
        trace.set_labels(labels);
        trace.set_entries(entries.and_then(Result::ok));
    }
}

/// The number of the request and its name, of a measure of this name.
fn parse(measure: &str) -> Option<(&str, &str)> {
    let (number, name) = measure.strip_prefix(MEASURE)?.split_once(": ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (number, name.trim()))
}

/// The route of the slow request that a measure is of, after its name was made plain.
pub fn route_of_slow_request(measure: &str) -> Option<&str> {
    measure.strip_prefix(MEASURE)?.split_once(' ').map(|(_, route)| route)
}

/// The names of the slow requests, by their numbers.
fn slow_requests(entries: &Entries) -> HashMap<&str, &str> {
    entries.names().iter().filter_map(|(_, name)| parse(name)).take(MAX_REQUESTS).collect()
}

fn relabelled(labels: &Labels, requests: &HashMap<&str, &str>) -> Labels {
    labels.map(|set| {
        let request = set.get(LABEL).and_then(|number| Some(format!("{} #{number}", requests.get(number)?)));
        let others = set.iter().filter(|(name, _)| *name != LABEL);
        let others = others.map(|(name, value)| (name, value.to_owned()));
        LabelSet::new(others.chain(request.map(|request| (LABEL, request))))
    })
}

/// The entries, with one name for all slow requests of a route.
fn renamed(entries: &Entries) -> Result<Entries, TableFull> {
    let mut own = Entries::new();
    for entry in entries.list() {
        let name = &entries.names()[entry.name];
        let name = match parse(name) {
            Some((_, request)) => own.name(&format!("{MEASURE}{request}"))?,
            None => own.name(name)?,
        };
        // The name is of this table.
        let _ = own.push(selfprof_trace::Entry { name, ..*entry });
    }
    own.count_dropped(entries.dropped());
    Ok(own)
}

#[cfg(test)]
mod tests {
    use selfprof_trace::{Entry, EntryType, Marker, Micros, Millis, Sample};

    use super::*;

    #[test]
    fn samples_of_slow_requests_name_them() {
        let mut trace = Trace::new();
        let (mut labels, mut entries) = (Labels::default(), Entries::new());
        let sets = ["1 /cart", "2 /cart", "3 -", "9 /"];
        for (index, text) in sets.iter().enumerate() {
            let timestamp = Micros(index as u64 * 1000);
            let (request, route) = text.split_once(' ').unwrap();
            let route = Some(("http.route", route)).filter(|(_, route)| *route != "-");
            let set = labels.set(LabelSet::new(route.into_iter().chain([(LABEL, request)]))).ok();
            labels.change(timestamp, set);
            trace.push_sample(Sample { timestamp, stack: None, marker: Some(Marker::Script) });
        }
        for (measure, start_time) in [
            ("slow request 2: GET /cart", 1.0),
            ("slow request x: y", 2.0),
            ("load", 3.0),
            ("slow request 9: GET /", 4.0),
        ] {
            let name = entries.name(measure).unwrap();
            let [start_time, duration] = [start_time, 0.5].map(|time| Millis::new(time).unwrap());
            entries.push(Entry { entry_type: EntryType::Measure, name, start_time, duration }).unwrap();
        }
        trace.set_labels(Some(labels));
        trace.set_entries(Some(entries));

        name_slow_requests(&mut trace);

        let labels = trace.labels().unwrap();
        let spelled = |sample: &Sample| {
            let set = labels.of_sample(sample).and_then(|id| labels.get(id)).cloned().unwrap_or_default();
            set.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        let found: Vec<String> = trace.samples().iter().map(spelled).collect();
        let expected = [
            "http.route=/cart",
            "http.route=/cart request=GET /cart #2",
            "",
            "http.route=/ request=GET / #9",
        ];
        assert_eq!(found, expected);
        let entries = trace.entries().unwrap();
        let names: Vec<&str> = entries.list().iter().map(|entry| &entries.names()[entry.name]).collect();
        assert_eq!(names, ["slow request GET /cart", "slow request x: y", "load", "slow request GET /"]);
    }

    #[test]
    fn traces_without_requests_stay_as_they_are() {
        let mut trace = Trace::new();
        let mut entries = Entries::new();
        let name = entries.name("slow request 7: mine").unwrap();
        let zero = Millis::ZERO;
        entries
            .push(Entry { entry_type: EntryType::Measure, name, start_time: zero, duration: zero })
            .unwrap();
        trace.set_entries(Some(entries));
        name_slow_requests(&mut trace);
        let entries = trace.entries().unwrap();
        assert_eq!(&entries.names()[entries.list()[0].name], "slow request 7: mine");
    }
}
