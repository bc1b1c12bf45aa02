//! Links of samples to the spans in which they were taken: the labels `trace_id` and `span_id`.

use opentelemetry_proto::tonic::profiles::v1development::Link;
use selfprof_trace::LabelSet;

/// The names of the labels that a link replaces, as [`link_of`] takes and [`labels_of`] returns them.
pub(super) const NAMES: [&str; 2] = ["trace_id", "span_id"];

/// The link to the span that the labels name. `None` if they lack one of the two ids, or have one that OpenTelemetry
/// forbids: ids are 32 and 16 lowercase hexadecimal digits, and not all zero.
pub(super) fn link_of(labels: &LabelSet) -> Option<Link> {
    let [trace_id, span_id] = NAMES.map(|name| labels.get(name).and_then(bytes));
    let link = Link { trace_id: trace_id?, span_id: span_id? };
    is_valid(&link).then_some(link)
}

/// The labels that a link stands for, or `None` if it is not valid, as that of a sample without a link.
pub(super) fn labels_of(link: &Link) -> Option<[(&'static str, String); 2]> {
    let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let [trace_id, span_id] = NAMES;
    is_valid(link).then(|| [(trace_id, hexadecimal(&link.trace_id)), (span_id, hexadecimal(&link.span_id))])
}

fn is_valid(link: &Link) -> bool {
    let is_id = |bytes: &[u8], length| bytes.len() == length && bytes.iter().any(|&byte| byte != 0);
    is_id(&link.trace_id, 16) && is_id(&link.span_id, 8)
}

/// The bytes of lowercase hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn ids_become_a_link_and_ids_again() {
        let link = link_of(&LabelSet::new([("trace_id", TRACE), ("span_id", SPAN), ("a", "b")])).unwrap();
        assert_eq!((link.trace_id[0], link.span_id[1]), (0x4b, 0xf0));
        assert_eq!(labels_of(&link), Some([("trace_id", TRACE.to_owned()), ("span_id", SPAN.to_owned())]));
    }

    #[test]
    fn what_is_no_id_is_no_link() {
        let cases = [
            ("", SPAN),
            (TRACE, ""),
            ("00000000000000000000000000000000", SPAN),
            (TRACE, "0000000000000000"),
            ("4BF92F3577B34DA6A3CE929D0E0E4736", SPAN),
            (TRACE, "00f067aa0ba902b"),
            (TRACE, "00f067aa0ba902bz"),
            (SPAN, SPAN),
        ];
        for (trace_id, span_id) in cases {
            let labels = LabelSet::new([("trace_id", trace_id), ("span_id", span_id)]);
            assert_eq!(link_of(&labels), None, "{trace_id} {span_id}");
        }
        assert_eq!(link_of(&LabelSet::new([("trace_id", TRACE)])), None);
        assert_eq!(labels_of(&Link::default()), None);
        assert_eq!(labels_of(&Link { trace_id: vec![1; 99], span_id: vec![1; 8] }), None);
    }
}
