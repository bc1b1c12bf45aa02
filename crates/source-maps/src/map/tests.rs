//! Maps as tools make them, and as they should not be.

use proptest::prelude::*;

use super::*;

/// `line:column generated`, and what is found there: `source:line:column name`.
#[track_caller]
fn check(map: &Map, position: &str, expected: Option<&str>) {
    let (position, generated) = position.split_once(' ').unwrap();
    let (line, column) = position.split_once(':').unwrap();
    let place = map.find(line.parse().unwrap(), column.parse().unwrap(), generated);
    let spelled = place.map(|place| {
        format!("{}:{}:{} {}", place.source, place.line, place.column, place.name.unwrap_or("?"))
    });
    assert_eq!(spelled.as_deref(), expected);
}

#[test]
fn positions_are_found_on_their_line() {
    // Line 1: column 0 is a.js:1:0; column 9 is a.js:2:4 with a name. Line 2: column 4 comes from nothing, 8 is a.js:1:0.
    let map =
        Map::read(br#"{"version":3,"sources":["a.js"],"names":["original"],"mappings":"AAAA,SACIA;I,IADJ"}"#)
            .unwrap();
    check(&map, "1:1 x", Some("a.js:1:1 ?"));
    check(&map, "1:9 x", Some("a.js:1:1 ?"));
    check(&map, "1:10 x", Some("a.js:2:5 original"));
    check(&map, "1:999 x", Some("a.js:2:5 original"));
    check(&map, "2:1 x", None);
    check(&map, "2:6 x", None);
    check(&map, "2:9 x", Some("a.js:1:1 ?"));
    check(&map, "3:1 x", None);
}

#[test]
fn index_maps_are_put_together() {
    let section = |line: u32, column: u32, source: &str| {
        format!(
            r#"{{"offset":{{"line":{line},"column":{column}}},"map":{{"version":3,"sources":["{source}"],"names":[],"mappings":"AAAA;AACA"}}}}"#
        )
    };
    let json = format!(
        r#"{{"version":3,"file":"out.js","sections":[{},{},{}]}}"#,
        section(0, 0, "a.js"),
        section(2, 10, "b.js"),
        section(4_294_967_295, 4_294_967_295, "c.js"),
    );
    let map = Map::read(json.as_bytes()).unwrap();
    assert_eq!(map.file(), Some("out.js"));
    check(&map, "1:1 x", Some("a.js:1:1 ?"));
    check(&map, "2:1 x", Some("a.js:2:1 ?"));
    check(&map, "3:9 x", None);
    check(&map, "3:11 x", Some("b.js:1:1 ?"));
    check(&map, "4:1 x", Some("b.js:2:1 ?"));
}

#[test]
fn names_come_from_the_source_then_from_the_map() {
    let map = |text: &str, names: &str| {
        let json = format!(
            r#"{{"version":3,"sources":["a.js"],"names":[{names}],"sourcesContent":[{text}],"mappings":"{}"}}"#,
            if names.is_empty() { "AAAA" } else { "AAAAA" }
        );
        Map::read(json.as_bytes()).unwrap()
    };
    check(&map("\"function f() {}\"", ""), "1:1 a", Some("a.js:1:1 f"));
    check(&map("\"function f() {}\"", "\"g\""), "1:1 a", Some("a.js:1:1 f"));
    check(&map("\"x => 1\"", "\"g\""), "1:1 a", Some("a.js:1:1 g"));
    check(&map("\"x => 1\"", ""), "1:1 ", Some("a.js:1:1 "));
    check(&map("\"x => 1\"", ""), "1:1 a", Some("a.js:1:1 ?"));
    check(&map("null", "\"g\""), "1:1 a", Some("a.js:1:1 g"));
    check(&map("null", ""), "1:1 a", Some("a.js:1:1 ?"));
}

#[test]
fn maps_tell_who_they_are() {
    let id = "85314830-023f-4cf1-a267-535f4e37bb17";
    let json =
        format!(r#"{{"version":3,"file":"a.js","debugId":"{id}","sources":[],"names":[],"mappings":""}}"#);
    let map = Map::read(json.as_bytes()).unwrap();
    assert_eq!((map.debug_id(), map.file()), (Some(id), Some("a.js")));
    let inline = Map::from_data_url(
        "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IiJ9",
    );
    assert_eq!(inline.unwrap().debug_id(), None);
}

#[test]
fn what_is_no_map_is_refused() {
    for json in [
        "",
        "[]",
        "{",
        "hello",
        r#"{"version":3,"sources":7,"names":[],"mappings":""}"#,
        r#"{"version":3,"sources":[],"names":[],"mappings":"%%%"}"#,
        r#"{"version":3,"sources":[],"names":[],"mappings":"A"#,
    ] {
        assert!(matches!(Map::read(json.as_bytes()), Err(MapError::Invalid(_))), "{json}");
    }
    assert!(Map::from_data_url("data:text/plain,hello").is_err());
    let deep = format!(
        "{{\"version\":3,\"sections\":{}",
        "[{\"offset\":{\"line\":0,\"column\":0},\"map\":{\"sections\":".repeat(10_000)
    );
    assert!(Map::read(deep.as_bytes()).is_err());
    assert_eq!(Map::read(&vec![b' '; MOST_BYTES + 1]).unwrap_err(), MapError::TooLong);
}

proptest! {
    #[test]
    fn any_mappings_are_read(mappings in "[A-Za-z0-9+/,;]{0,40}", line in 0..5_u32, column in 0..99_u32) {
        let json = format!(
            r#"{{"version":3,"sources":["a.js"],"names":["n"],"sourcesContent":["function f() {{}}"],"mappings":"{mappings}"}}"#
        );
        if let Ok(map) = Map::read(json.as_bytes()) {
            let _ = map.find(line, column, "x");
        }
    }
}
