//! Maps from real tools, and invalid ones.

use proptest::prelude::*;

use super::*;
use crate::scopes::BadScopes;

/// Looks up `line:column generated`; `expected` is `source:line:column name`.
#[track_caller]
fn check(map: &Map, position: &str, expected: Option<&str>) {
    let (position, generated) = position.split_once(' ').unwrap();
    let (line, column) = position.split_once(':').unwrap();
    let location = map.find(line.parse().unwrap(), column.parse().unwrap(), generated);
    let spelled = location.map(|location| {
        let (source, name) = (location.source.unwrap_or("-"), location.name.unwrap_or("?"));
        format!("{source}:{}:{} {name}", location.line, location.column)
    });
    assert_eq!(spelled.as_deref(), expected);
}

#[test]
fn positions_are_found_on_their_line() {
    // Line 1: column 0 is a.js:1:0; column 9 is a.js:2:4 with a name. Line 2: column 4 comes from nothing, 8 is
    // a.js:1:0.
    let map =
        Map::read(br#"{"version":3,"sources":["a.js"],"names":["original"],"mappings":"AAAA,SACIA;I,IADJ"}"#)
            .unwrap();
    check(&map, "1:1 x", Some("a.js:1:1 ?"));
    check(&map, "1:9 x", Some("a.js:1:1 ?"));
    check(&map, "1:10 x", Some("a.js:2:5 ?"));
    check(&map, "1:999 x", Some("a.js:2:5 ?"));
    check(&map, "2:1 x", None);
    check(&map, "2:6 x", None);
    check(&map, "2:9 x", Some("a.js:1:1 ?"));
    check(&map, "3:1 x", None);
}

#[test]
fn sections_of_index_maps_are_merged() {
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

/// A map of one source with this text. Names and texts are JSON.
fn map_of(text: &str, names: &str, mappings: &str) -> Map {
    let json = format!(
        r#"{{"version":3,"sources":["a.js"],"names":[{names}],"sourcesContent":[{text}],"mappings":"{mappings}"}}"#
    );
    Map::read(json.as_bytes()).unwrap()
}

#[test]
fn names_come_from_the_map_then_from_the_source() {
    let map = |text: &str, names: &str| map_of(text, names, if names.is_empty() { "AAAA" } else { "AAAAA" });
    check(&map("\"function f() {}\"", ""), "1:1 a", Some("a.js:1:1 f"));
    check(&map("\"function f() {}\"", "\"g\""), "1:2 a", Some("a.js:1:1 g"));
    check(&map("\"x => 1\"", "\"g\""), "1:2 a", Some("a.js:1:1 g"));
    check(&map("\"x => 1\"", ""), "1:2 a", Some("a.js:1:1 ?"));
    // The script itself.
    check(&map("\"function f() {}\"", "\"g\""), "1:1 ", Some("a.js:1:1 ?"));
    check(&map("\"x => 1\"", ""), "1:1 a", Some("a.js:1:1 ?"));
    check(&map("null", "\"g\""), "1:2 a", Some("a.js:1:1 g"));
    check(&map("null", ""), "1:1 a", Some("a.js:1:1 ?"));
    // `g` may be a parameter, a function that is called, or a keyword.
    for (position, generated) in [("1:1", "a"), ("1:3", ""), ("1:3", "a"), ("1:2", "ab"), ("1:4", "ab")] {
        check(&map("null", "\"g\""), &format!("{position} {generated}"), Some("a.js:1:1 ?"));
    }
    check(&map("null", "\"g\""), "1:2 get a", Some("a.js:1:1 g"));
    check(&map("null", "\"constructor\""), "1:2 A", Some("a.js:1:1 ?"));
    check(&map("null", "\"async\""), "1:2 a", Some("a.js:1:1 ?"));
}

#[test]
fn an_earlier_mapping_does_not_name_anonymous_functions() {
    // The mapping is at column 5.
    let map = |text: &str| map_of(&format!("\"{text}\""), "", "IAAA");
    check(&map("on(event => 1)"), "1:8 ", Some("a.js:1:1 ?"));
    check(&map("const all = on(event => 1)"), "1:20 ", Some("a.js:1:1 ?"));
    check(&map("function later(event) {}"), "1:13 ", Some("a.js:1:1 later"));
    check(&map("async function later(event) {}"), "1:19 ", Some("a.js:1:1 later"));
    check(&map("event => 1"), "1:5 ", Some("a.js:1:1 ?"));
}

/// Looks up `before@after generated`, where `@` marks V8's position of the function.
#[track_caller]
fn check_code(map: &Map, code: &str, location: &str, expected: Option<&str>) {
    let (location, generated) = location.rsplit_once(' ').unwrap();
    let (before, after) = location.split_once('@').unwrap();
    let at = code.find(&format!("{before}{after}")).unwrap() + before.len();
    let line = code[..at].matches('\n').count() + 1;
    let column = at - code[..at].rfind('\n').map_or(0, |end| end + 1) + 1;
    check(map, &format!("{line}:{column} {generated}"), expected);
}

/// Terser maps a parameter in front of `=>`, and `async`, with a name.
#[test]
fn names_that_esbuild_keeps_do_not_hide_functions() {
    #[track_caller]
    fn check(mappings: &str, expected: u32) {
        let map = map_of("null", "", mappings);
        assert_eq!(map.find(1, 16, "").map(|original| original.ahead), Some(expected), "{mappings}");
    }
    // `const f=__name(({n})=>1)` of `const f = ({ n }) => 1`
    check("AAAA,QAAU,QAAC", 0);
    // `const f=__name(()=>{})` of `const f = () => {}`
    check("AAAA,QAAU,WAAM", 0);
    // Code that was copied, such as `const f=()=>fn(a=>1)`.
    check("AAAA,QAAU,QAAQ", 7);
    check("AAAA,QAAU,WAAW", 7);
    check("AAAA,QAAU,WACM", 7);
    check("AAAA,QAAU", 7);
    check("AAAA,SAAU,QAAC", 6);
}

#[test]
fn functions_do_not_get_the_names_of_parameters() {
    let code = include_str!("../../fixtures/parameters.min.js");
    let text = include_str!("../../fixtures/parameters.min.js.map");
    let map = Map::read(text.as_bytes()).unwrap();
    let bare = without_texts(text);
    for (location, with_text, without) in [
        ("const t=@t=> t", "1:16 double", "1:16 ?"),
        ("n=@(t,n)=> n", "2:13 sum", "2:13 ?"),
        ("s=@async t=> s", "3:14 load", "3:14 ?"),
        ("c=@async(t,n) c", "4:14 save", "4:14 ?"),
        ("r=async function@(t) r", "5:14 send", "5:14 ?"),
        ("{#t@(t) #t", "7:3 #take", "7:3 ?"),
        ("get size@() size", "8:7 size", "8:7 ?"),
        ("push=@t=> push", "9:10 push", "9:10 ?"),
        ("constructor@(t) e", "10:3 Queue", "10:3 ?"),
        ("find:@t=> find", "12:23 find", "12:23 ?"),
        ("list@(t) list", "12:35 list", "12:35 ?"),
        ("o=@t=>n=> o", "13:15 curry", "13:15 ?"),
        ("o=t=>@n=> ", "13:23 ?", "13:23 ?"),
        ("a.each=@t=> a.each", "14:14 each", "14:14 ?"),
        ("[1].map(@t=> ", "15:9 ?", "15:9 ?"),
        ("[1].map(@async t=> ", "16:9 ?", "16:9 ?"),
        ("[1].map(async function@(t) ", "17:9 ?", "17:9 ?"),
        ("(@t=>t)(2e4) ", "18:2 ?", "18:2 ?"),
        ("function u@(t) u", "19:10 call", "19:10 call"),
        ("default @n=> default", "20:16 default", "20:16 ?"),
    ] {
        check_code(&map, code, location, Some(&format!("parameters.js:{with_text}")));
        check_code(&bare, code, location, Some(&format!("parameters.js:{without}")));
    }
}

/// A map without the texts of its sources.
fn without_texts(map: &str) -> Map {
    let mut json: serde_json::Value = serde_json::from_str(map).unwrap();
    json.as_object_mut().unwrap().remove("sourcesContent");
    Map::read(json.to_string().as_bytes()).unwrap()
}

#[test]
fn names_come_from_scopes_first() {
    let code = include_str!("../../fixtures/orders.js");
    let map = Map::read(include_bytes!("../../fixtures/orders.js.map")).unwrap();
    assert_eq!(map.problems(), []);
    check_code(&map, code, "function s@(o) s", Some("orders.ts:1:1 submit"));
    check_code(&map, code, "function c@(o,n) c", Some("orders.ts:19:1 confirm"));
    // These functions are anonymous. `reserve` is inlined into the second one.
    check_code(&map, code, "function@(r) ", Some("orders.ts:20:25 ?"));
    check_code(&map, code, "return@()=>c ", Some("orders.ts:3:10 ?"));
    // Helpers of the compiler have no source, and this one is not hidden.
    check_code(&map, code, "function a@(o) a", None);
    assert!(map.hides(1, 11, "u") && map.hides(3, 11, "b"));
    assert!(!map.hides(2, 11, "a") && !map.hides(4, 18, "s") && !map.hides(0, 0, ""));
    assert!(!map.hides(9, 9, ""));
}

#[test]
fn the_source_text_supplements_scopes() {
    let code = include_str!("../../fixtures/basket.js");
    let text = include_str!("../../fixtures/basket.js.map");
    let map = Map::read(text.as_bytes()).unwrap();
    let bare = without_texts(text);
    for (location, with_text, without) in [
        ("function total@(t) total", "3:17 total", "3:17 total"),
        // The scopes have the minified name, the mappings the original one.
        ("function t@(t) t", "19:10 checksum", "19:10 checksum"),
        ("@({price:t,count:r})=> ", "24:46 ?", "24:46 ?"),
        // The same name.
        ("constructor@(t) Basket", "10:3 ?", "10:3 ?"),
        ("get size@() size", "11:7 size", "11:7 size"),
        ("async pay@(t=()=>100) pay", "12:9 pay", "12:9 pay"),
        ("setTimeout(function@() ", "13:46 later", "13:46 ?"),
        ("static\"of many\"@() of", "16:10 of many", "16:10 ?"),
    ] {
        check_code(&map, code, location, Some(&format!("basket.ts:{with_text}")));
        check_code(&bare, code, location, Some(&format!("basket.ts:{without}")));
    }
}

#[test]
fn scopes_without_generated_ranges_are_used() {
    // The scope of `f` on line 2 starts after its name, that of an arrow function is on line 3, that of `g` on line 5
    // before its name.
    let map = Map::read(
        br#"{"version":3,"sources":["a.js"],"names":["f","g"],"mappings":"AACS,KAAT,KACS,KADC,KAGD,KAFP",
            "scopes":"BAAA,BFBKA,BEBJ,CAF,CBB,BFBAC,CAP,CBA"}"#,
    )
    .unwrap();
    assert_eq!(map.problems(), []);
    check(&map, "1:1 x", Some("a.js:2:10 f"));
    check(&map, "1:6 x", Some("a.js:2:1 ?"));
    check(&map, "1:11 x", Some("a.js:3:10 ?"));
    check(&map, "1:16 x", Some("a.js:2:11 f"));
    check(&map, "1:21 x", Some("a.js:5:10 g"));
    check(&map, "1:26 x", Some("a.js:3:3 ?"));
}

#[test]
fn sections_have_their_own_scopes() {
    let section = |line: u32, column: u32, source: &str, name: &str, scopes: &str| {
        format!(
            r#"{{"offset":{{"line":{line},"column":{column}}},"map":{{"version":3,"sources":["{source}"],"names":["{name}"],"mappings":"AAAA;AACA","scopes":{scopes}}}}}"#
        )
    };
    let whole = r#""BFAAA,CCA,EGAA,FCA""#;
    let index = |second: &str| {
        // The sections are in the wrong order.
        let sections = [section(2, 10, "b.js", "beta", second), section(0, 0, "a.js", "alpha", whole)];
        let json = format!(r#")]}}'{}{{"version":3,"sections":[{}]}}"#, '\n', sections.join(","));
        Map::read(json.as_bytes()).unwrap()
    };
    let map = index(whole);
    assert_eq!(map.problems(), []);
    check(&map, "1:1 x", Some("a.js:1:1 alpha"));
    check(&map, "2:1 x", Some("a.js:2:1 ?"));
    check(&map, "3:10 x", None);
    check(&map, "3:11 x", Some("b.js:1:1 beta"));
    // Bad scopes in one section do not affect the others.
    let map = index(r#""BFAAA,CCA,E""#);
    assert_eq!(map.problems(), [Problem::Scopes(BadScopes::Item(3, "has too few numbers"))]);
    check(&map, "1:1 x", Some("a.js:1:1 alpha"));
    check(&map, "3:11 x", Some("b.js:1:1 ?"));
    let map = index("[7]");
    assert_eq!(map.problems(), [Problem::Field("scopes", "a string")]);
    check(&map, "1:1 x", Some("a.js:1:1 alpha"));
    check(&map, "3:11 x", Some("b.js:1:1 ?"));
}

#[test]
fn maps_have_a_debug_id_and_a_file() {
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
fn invalid_maps_are_errors() {
    for json in [
        "",
        "[]",
        "{",
        "hello",
        r#"{"version":3,"sources":7,"names":[],"mappings":""}"#,
        r#"{"version":3,"sources":[],"names":[],"mappings":"%%%"}"#,
        r#"{"version":3,"sources":[],"names":[],"mappings":"A"#,
        r#"{"version":3,"sources":[],"names":[]}"#,
        r#"{"version":3,"sources":[],"names":[],"mappings":7}"#,
        r#"{"version":3,"names":[],"mappings":""}"#,
        r#"{"version":2,"sources":[],"names":[],"mappings":""}"#,
        r#"{"version":3,"sections":7}"#,
        r#"{"version":3,"sources":[""],"names":[],"mappings":"AA"}"#,
        r#"{"version":3,"sources":[""],"names":[],"mappings":"AAAAAA"}"#,
        r#"{"version":3,"sources":[""],"names":[],"mappings":"g"}"#,
        r#"{"version":3,"sources":[""],"names":[],"mappings":"A=A"}"#,
    ] {
        assert!(matches!(Map::read(json.as_bytes()), Err(MapError::Invalid(_))), "{json}");
    }
    assert!(Map::from_data_url("data:text/plain,hello").is_err());
    let deep = format!(
        "{{\"version\":3,\"sections\":{}",
        "[{\"offset\":{\"line\":0,\"column\":0},\"map\":{\"sections\":".repeat(10_000)
    );
    assert!(Map::read(deep.as_bytes()).is_err());
    assert_eq!(Map::read(&vec![b' '; MAX_BYTES + 1]).unwrap_err(), MapError::TooLong);
}

proptest! {
    #[test]
    fn any_mappings_are_read(
        mappings in "[A-Za-z0-9+/,;]{0,40}",
        scopes in "([BCEF]?[A-Za-z0-9+/]{0,5},?){0,9}",
        line in 0..5_u32,
        column in 0..99_u32,
    ) {
        let json = |scopes: &str| format!(
            r#"{{"version":3,"sources":["a.js"],"names":["n"],"sourcesContent":["function f() {{}}"],"mappings":"{mappings}"{scopes}}}"#
        );
        let plain = Map::read(json("").as_bytes());
        let scoped = Map::read(json(&format!(",\"scopes\":\"{scopes}\"")).as_bytes());
        prop_assert_eq!(plain.is_ok(), scoped.is_ok());
        if let (Ok(plain), Ok(scoped)) = (plain, scoped) {
            let location = |map: &Map| map.find(line, column, "x").map(|location| (location.source.map(str::to_owned), location.line, location.column));
            prop_assert_eq!(location(&plain), location(&scoped));
            let _ = scoped.hides(line, column, "x");
        }
    }
}

#[test]
fn small_texts_that_take_much_memory_are_refused() {
    #[track_caller]
    fn check(root: &str, sources: usize, mappings: usize, expected: Option<&str>) {
        let sources = vec![r#""a""#; sources].join(",");
        let mappings = "A,".repeat(mappings);
        let map = format!(
            r#"{{"version":3,"source\u0052oot":"{root}","sources":[{sources}],"names":[],"mappings":"{mappings}"}}"#
        );
        let sections = format!(r#"[{{"offset":{{"line":0,"column":0}},"map":{map}}}]"#);
        let error = Map::read(map.as_bytes()).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
        let index = format!(")]}}'\n{{\"version\":3,\"sections\":{sections}}}");
        let index = Map::read(index.as_bytes()).unwrap();
        let problem = expected.map(|reason| Problem::Section(1, reason.to_owned()));
        assert_eq!(index.problems(), problem.as_slice());
        assert_eq!(index.mappings() > 1, expected.is_none() && !mappings.is_empty());
    }
    let root = "r".repeat(1 << 20);
    check(&root, 64, 0, None);
    check(&root, 65, 0, Some("the names of its sources have more than 64 MiB"));
    check("", 1, 100_000, None);
    check("", 1, (3 << 22) + 1, Some("it has more than 12582912 mappings"));
}

/// A map with these fields besides the version, whose only mappings are `A` to the start of `a.js` and `S` with a name.
#[track_caller]
fn check_fields(fields: &str, problems: &[Problem], first: Option<&str>) {
    let json = format!(r#"{{"version":3,{fields}}}"#);
    let map = Map::read(json.as_bytes()).unwrap_or_else(|error| panic!("{fields}: {error}"));
    assert_eq!(map.problems(), problems, "{fields}");
    check(&map, "1:1 x", first);
}

#[test]
fn a_bad_field_costs_only_itself() {
    let mappings = r#""mappings":"AAAA,SAAAA""#;
    let plain = r#""sources":["a.js"],"names":["n"]"#;
    let found = Some("a.js:1:1 ?");
    check_fields(&format!("{plain},{mappings}"), &[], found);
    for (field, name, expected) in [
        (r#""file":7"#, "file", "a string"),
        (r#""sourceRoot":["x"]"#, "sourceRoot", "a string"),
        (r#""sourcesContent":"x""#, "sourcesContent", "a list"),
        (r#""scopes":{}"#, "scopes", "a string"),
        (r#""rangeMappings":[]"#, "rangeMappings", "a string"),
        (r#""debugId":"this is not a UUID""#, "debugId", "a UUID"),
        (r#""ignoreList":[1]"#, "ignoreList", "a list of indices of sources"),
        (r#""ignoreList":["0"]"#, "ignoreList", "a list of indices of sources"),
    ] {
        check_fields(&format!("{plain},{mappings},{field}"), &[Problem::Field(name, expected)], found);
    }
    check_fields(
        &format!(r#""sources":["a.js"],"names":7,{mappings}"#),
        &[Problem::Field("names", "a list"), Problem::Mappings { count: 1, first_line: 1 }],
        found,
    );
    check_fields(
        &format!(r#""sources":["a.js",7,{{}}],"names":[3],"sourcesContent":[1,null,"\ud800"],{mappings}"#),
        &[Problem::Items("sources", 2), Problem::Items("sourcesContent", 2), Problem::Items("names", 1)],
        found,
    );
    // Tools write `null` for what is missing, and repeat fields.
    check_fields(
        &format!(
            r#"{plain},"file":7,"file":null,"sourceRoot":null,"sourcesContent":null,"scopes":null,"ignoreList":null,"debugId":null,{mappings}"#
        ),
        &[],
        found,
    );
    let json = format!(r#"{{{plain},{mappings}}}"#);
    assert_eq!(Map::read(json.as_bytes()).unwrap().problems(), [Problem::Version]);
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let mut json =
        br#"{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA","sourcesContent":["// "#.to_vec();
    json.extend(b"\xE9\\nfunction f() {}\"]}");
    let map = Map::read(&json).unwrap();
    assert_eq!(map.problems(), []);
    check(&map, "1:1 x", Some("a.js:1:1 ?"));
}

#[test]
fn numbers_never_wrap_around() {
    #[track_caller]
    fn check_mappings(mappings: &str, bad: usize, expected: &[(&str, Option<&str>)]) {
        let json = format!(r#"{{"version":3,"sources":["a.js"],"names":["n"],"mappings":"{mappings}"}}"#);
        let map = Map::read(json.as_bytes()).unwrap();
        let problems = (bad > 0).then_some(Problem::Mappings { count: bad, first_line: 1 });
        assert_eq!(map.problems(), problems.as_slice(), "{mappings}");
        for (position, expected) in expected {
            check(&map, position, *expected);
        }
    }
    // A negative line, and one that is right again.
    check_mappings("AAFA,SAEA", 1, &[("1:1 x", None), ("1:10 x", Some("a.js:1:1 ?"))]);
    check_mappings("AAAF", 1, &[("1:1 x", None)]);
    check_mappings("ADAA,SCAA", 1, &[("1:1 x", None), ("1:10 x", Some("a.js:1:1 ?"))]);
    check_mappings("ACAA,SDAA", 1, &[("1:1 x", None), ("1:10 x", Some("a.js:1:1 ?"))]);
    check_mappings("AAAAC,SAAAD", 1, &[("1:1 x", Some("a.js:1:1 ?")), ("1:11 x", Some("a.js:1:1 n"))]);
    check_mappings("DAAA,UAAA", 1, &[("1:1 x", None), ("1:10 x", Some("a.js:1:1 ?"))]);
    // The greatest numbers, and greater ones.
    check_mappings("AA+/////DA", 0, &[("1:1 x", Some("a.js:2147483648:1 ?"))]);
    let far = Some("a.js:2147483648:1 ?");
    check_mappings("AA+/////DA,SACA,SADA", 1, &[("1:1 x", far), ("1:10 x", None), ("1:19 x", far)]);
    check_mappings("AAggggggggggC+/////D,CAAA", 2, &[("1:1 x", None), ("1:2 x", None)]);
    check_mappings("gggggggggC,A", 2, &[("1:1 x", None)]);
    check_mappings("BAAA", 1, &[("1:1 x", None)]);
    // Nothing between two commas.
    check_mappings(",AAAA,,SAAA,", 0, &[("1:1 x", Some("a.js:1:1 ?")), ("1:10 x", Some("a.js:1:1 ?"))]);
}

#[test]
fn sources_may_be_null() {
    let map = Map::read(
        br#"{"version":3,"sources":[null,"b.js"],"sourceRoot":"src","names":["n"],"mappings":"AAAAA,SCAA","sourcesContent":["function f() {}"]}"#,
    )
    .unwrap();
    assert_eq!(map.problems(), []);
    check(&map, "1:1 x", Some("-:1:1 f"));
    check(&map, "1:10 x", Some("src/b.js:1:1 ?"));
    let at = |column| map.original_position(0, column);
    assert_eq!(at(0), Some(OriginalPosition { source: None, line: 0, column: 0, name: Some("n") }));
    assert_eq!(at(9), Some(OriginalPosition { source: Some("src/b.js"), line: 0, column: 0, name: None }));
}

#[test]
fn the_root_precedes_relative_sources() {
    #[track_caller]
    fn check_root(root: &str, source: &str, expected: &str) {
        let json =
            format!(r#"{{"version":3,"sourceRoot":"{root}","sources":["{source}"],"mappings":"AAAA"}}"#);
        let map = Map::read(json.as_bytes()).unwrap();
        assert_eq!(map.original_position(0, 0).unwrap().source, Some(expected));
    }
    check_root("", "a.js", "a.js");
    check_root("src", "a.js", "src/a.js");
    check_root("src/", "a.js", "src/a.js");
    check_root("https://host/src", "../a.js", "https://host/src/../a.js");
    check_root("src", "/a.js", "/a.js");
    check_root("src", "webpack://app/a.js", "webpack://app/a.js");
}

#[test]
fn a_byte_order_mark_and_a_guard_are_ignored() {
    let json = r#"{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA"}"#;
    for before in ["\u{FEFF}", ")]}'\n", ")]}\n", ")]}' while(1);\r\n", "\u{FEFF})]}'\n", " \n"] {
        let map = Map::read(format!("{before}{json}").as_bytes()).unwrap();
        check(&map, "1:1 x", Some("a.js:1:1 ?"));
    }
}

#[test]
fn bad_sections_do_not_cost_the_others() {
    let good = r#"{"offset":{"line":2,"column":0},"map":{"version":3,"sources":["a.js"],"mappings":"AAAA"}}"#;
    for (section, problem) in [
        ("7", Problem::Section(1, "it is not an object".to_owned())),
        (r#"{"map":{}}"#, Problem::Section(1, "its offset is not two numbers".to_owned())),
        (
            r#"{"offset":{"line":-1,"column":0}}"#,
            Problem::Section(1, "its offset is not two numbers".to_owned()),
        ),
        (r#"{"offset":{"line":0,"column":0}}"#, Problem::Section(1, "it has no map".to_owned())),
        (
            r#"{"offset":{"line":0,"column":0},"map":{"version":3,"sources":[]}}"#,
            Problem::Section(1, "it has no mappings".to_owned()),
        ),
        (
            r#"{"offset":{"line":0,"column":0},"url":"https://host/part.map"}"#,
            Problem::LinkedSection(1, "https://host/part.map".to_owned()),
        ),
    ] {
        let map = Map::read(format!(r#"{{"version":3,"sections":[{section},{good}]}}"#).as_bytes()).unwrap();
        assert_eq!(map.problems(), [problem]);
        check(&map, "3:1 x", Some("a.js:1:1 ?"));
    }
    let linked = Problem::LinkedSection(2, "https://host/part.map".to_owned());
    assert_eq!(linked.to_string(), "section 2 (it is at https://host/part.map, and URLs are not fetched)");
    let many =
        Map::read(format!(r#"{{"version":3,"sections":[{}{good}]}}"#, "7,".repeat(99)).as_bytes()).unwrap();
    assert_eq!(many.problems().len(), crate::problem::MAX_PROBLEMS);
}

#[test]
fn a_section_ends_where_the_next_one_starts() {
    let map = Map::read(
        br#"{"version":3,"sections":[
            {"offset":{"line":0,"column":0},"map":{"version":3,"sources":["a.js"],"mappings":"AAAA","rangeMappings":"A"}},
            {"offset":{"line":0,"column":20},"map":{"version":3,"sources":["b.js"],"mappings":"KAAA"}}]}"#,
    )
    .unwrap();
    check(&map, "1:20 x", Some("a.js:1:20 ?"));
    check(&map, "1:21 x", None);
    check(&map, "1:26 x", Some("b.js:1:1 ?"));
}

#[test]
fn range_mappings_map_every_position() {
    let map = |mappings: &str, ranges: &str| {
        let json = format!(
            r#"{{"version":3,"sources":["a.js"],"mappings":"{mappings}","rangeMappings":"{ranges}"}}"#
        );
        Map::read(json.as_bytes()).unwrap()
    };
    // The second mapping of the second line, and the first and third of the third one.
    let ranged = map(";AAAA,KACK;AACL,KAAK,KAAK;;;A", ";B;AC");
    assert_eq!(ranged.problems(), []);
    check(&ranged, "2:3 x", Some("a.js:1:1 ?"));
    check(&ranged, "2:9 x", Some("a.js:2:9 ?"));
    check(&ranged, "3:4 x", Some("a.js:3:4 ?"));
    check(&ranged, "3:8 x", Some("a.js:3:6 ?"));
    check(&ranged, "3:13 x", Some("a.js:3:13 ?"));
    // Across lines.
    check(&ranged, "4:1 x", Some("a.js:4:1 ?"));
    check(&ranged, "5:9 x", Some("a.js:5:9 ?"));
    check(&ranged, "6:1 x", None);
    assert_eq!(ranged.find(4, 5, "").unwrap().ahead, 0);
    // A position that does not exist.
    check(&ranged, "4:4294967295 x", Some("a.js:4:4294967295 ?"));
    for (ranges, reason) in [
        ("!", "they are not numbers in base64"),
        ("g", "they are not numbers in base64"),
        (";;g;", "they are not numbers in base64"),
        ("AA", "one is listed twice"),
        ("B", "there are more of them than mappings"),
        ("A;A", "there are more of them than mappings"),
        ("ggggggggggggB", "there are more of them than mappings"),
    ] {
        let bad = map("AAAA", ranges);
        assert_eq!(bad.problems(), [Problem::RangeMappings(reason)], "{ranges}");
    }
    assert_eq!(map("AAAA;AAAA", ";;;").problems(), []);
}
