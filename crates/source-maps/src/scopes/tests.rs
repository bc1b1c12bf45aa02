//! Scopes from real tools, and invalid ones.

use proptest::prelude::*;
use srcmap_scopes::{GeneratedRange, OriginalScope, ScopeInfo, encode_scopes};

use super::functions::MAX_HEAD;
use super::*;

/// Looks up a position; `expected` is the index of the name or `-`, and whether the function is hidden.
#[track_caller]
fn check(functions: &Functions, at: Position, expected: Option<&str>) {
    let spelled = functions.defined_at(at, 0).map(|function| {
        let name = function.name.map_or("-".to_owned(), |name| name.to_string());
        if function.is_hidden { format!("{name} hidden") } else { name }
    });
    assert_eq!(spelled.as_deref(), expected, "{at:?}");
}

#[test]
fn the_innermost_function_is_found() {
    // The proposal's own example, as Chrome's codec writes it: `z` with name 2 in a module, and inlined on line 5.
    let text = "BCAAA,DCC,BHBKEG,DEC,CDB,CBR,ECAA,GHI,EHBLC,GJK,FDB,EDBAA,GLM,IAFA,Fc,FA";
    let scopes = decode(text, 1, 10..22).unwrap();
    check(&scopes.generated, (0, 0), None);
    check(&scopes.generated, (1, 10), None);
    check(&scopes.generated, (1, 11), Some("12"));
    check(&scopes.generated, (4, 0), None);
    check(&scopes.generated, (5, 0), None);
    let [source] = scopes.original.try_into().unwrap();
    check(&source, (1, 9), None);
    check(&source, (1, 10), Some("12"));
    assert_eq!(
        source.next_from((1, 9)).map(|(function, distance)| (function.name, distance)),
        Some((Some(12), 1))
    );
    assert!(source.next_from((1, 11)).is_none() && source.next_from((0, 0)).is_none());
}

#[test]
fn functions_are_found_at_their_heads_only() {
    // A function from column 10 of line 1 to column 5 of line 3, with a hidden one at its column 30.
    let functions = decode("EFBK,EMU,FF,FCF", 0, 0..0).unwrap().generated;
    check(&functions, (1, 9), None);
    check(&functions, (1, 10), Some("-"));
    check(&functions, (1, 30), Some("- hidden"));
    check(&functions, (1, 35), Some("-"));
    // A position further inside belongs to another function.
    check(&functions, (1, 10 + MAX_HEAD), Some("-"));
    check(&functions, (1, 11 + MAX_HEAD), None);
    assert!(functions.defined_at((1, 11 + MAX_HEAD), 1).is_some());
    check(&functions, (2, 0), None);
    check(&functions, (3, 5), None);
}

#[test]
fn each_source_has_its_scopes() {
    // The second source is empty, as in the draft or in the proposal. Names are relative across sources, lines are not.
    for text in ["BFBAC,CBA,A,BFBAC,CBA", "BFBAC,CBA,,BFBAC,CBA", "BFBAC,CBA,,BFBAC,CBA,,,,,,"] {
        let scopes = decode(text, 3, 0..3).unwrap();
        assert_eq!(scopes.original.len(), 3);
        check(&scopes.original[0], (1, 0), Some("1"));
        check(&scopes.original[1], (1, 0), None);
        check(&scopes.original[2], (1, 0), Some("2"));
    }
}

#[test]
fn unknown_items_are_skipped() {
    for text in [
        // Vendor extensions and unassigned tags.
        "/A,BFAAC,/BCC,CAB,JABC,EGAA,/A,Z,FB",
        // Trailing numbers and unknown flags.
        "BFAACCC,CABCC,EmBAACC,FB",
    ] {
        check(&decode(text, 1, 0..2).unwrap().generated, (0, 0), Some("1"));
    }
    // Names and definitions that do not exist; negative indexes become 0.
    check(&decode("BFAAE,CAB,EGAA,FB", 1, 0..2).unwrap().generated, (0, 0), Some("-"));
    check(&decode("BFAAA,CAB,EGAC,FB", 1, 0..2).unwrap().generated, (0, 0), Some("-"));
    check(&decode("BFAAD,CAB,EGAD,FB", 1, 0..2).unwrap().generated, (0, 0), Some("0"));
    check(&decode("BFAAB,CAB,EGAB,FB", 1, 0..2).unwrap().generated, (0, 0), Some("0"));
}

#[test]
fn invalid_scopes_are_errors() {
    for (text, expected) in [
        ("B", "item 1 has too few numbers"),
        ("A,BAA", "item 2 has too few numbers"),
        ("Bg", "item 1 has too few numbers"),
        ("BFAA", "item 1 has too few numbers"),
        ("BAAA,CA", "item 2 has too few numbers"),
        ("EBA", "item 1 has too few numbers"),
        ("BA!A", "item 1 has a character that is not a base64 digit"),
        ("é", "item 1 has a character that is not a base64 digit"),
        ("BAggggggEA", "item 1 has a number of more than 32 bits"),
        ("BAgggggggggggggggggggggggggggggBA", "item 1 has a number of more than 32 bits"),
        ("BA//////DA,BABA", "item 2 exceeds 2^32 lines or columns"),
        ("EA//////D,FB", "item 2 exceeds 2^32 lines or columns"),
        ("CAA", "item 1 ends a scope that has not started"),
        ("EAA,FA,FA", "item 3 ends a range that has not started"),
        ("BAAA", "a scope is not closed"),
        ("EAA,EAA,FA", "a scope is not closed"),
    ] {
        assert_eq!(decode(text, 1, 0..2).map(|_| ()).unwrap_err().to_string(), expected, "{text}");
    }
    // Leading zeros are allowed.
    assert!(decode("BAgggggggggggggggggggggggggggggAA,CAA", 1, 0..0).is_ok());
}

#[test]
fn depth_and_counts_are_unlimited() {
    let deep = format!("{}{}EEA,FB", "BEAA,".repeat(300_000), "CAA,".repeat(300_000));
    check(&decode(&deep, 1, 0..0).unwrap().generated, (0, 0), Some("-"));
    let deep = format!("{}{}", "EEB,".repeat(300_000), ["FA"; 300_000].join(","));
    let functions = decode(&deep, 1, 0..0).unwrap().generated;
    check(&functions, (0, 299_999), Some("-"));
    check(&functions, (0, 300_001), None);
    // Never more sources than the map has.
    assert_eq!(decode(&",".repeat(300_000), 2, 0..0).unwrap().original.len(), 2);
}

#[test]
fn sections_are_merged() {
    let section = |text: &str| decode(text, 0, 0..0).unwrap().generated;
    let mut functions = Functions::default();
    functions.append(section("EEC,FE,EFBA,FB"), (2, 10));
    functions.append(section("EMA,FB"), (0, 5));
    functions.append(section("EEB,FB"), (u32::MAX, u32::MAX));
    functions.sort();
    check(&functions, (0, 5), Some("- hidden"));
    check(&functions, (2, 2), None);
    check(&functions, (2, 12), Some("-"));
    check(&functions, (3, 0), Some("-"));
}

fn scope(name: Option<&str>, is_stack_frame: bool, children: Vec<OriginalScope>) -> OriginalScope {
    let at = srcmap_scopes::Position { line: 0, column: 0 };
    let (name, variables) = (name.map(str::to_owned), Vec::new());
    OriginalScope { start: at, end: at, name, kind: None, is_stack_frame, variables, children }
}

/// The innermost function at a position, by linear search.
fn innermost(ranges: &[GeneratedRange], at: Position) -> Option<&GeneratedRange> {
    let contains = |range: &&GeneratedRange| {
        (range.start.line, range.start.column) <= at && at < (range.end.line, range.end.column)
    };
    ranges.iter().rfind(contains).and_then(|range| {
        innermost(&range.children, at).or_else(|| Some(range).filter(|range| range.is_stack_frame))
    })
}

/// Random nested ranges.
fn ranges() -> impl Strategy<Value = Vec<GeneratedRange>> {
    let step =
        (any::<bool>(), (0..2_u32, 0..20_u32), any::<bool>(), any::<bool>(), prop::option::of(0..7_u32));
    prop::collection::vec(step, 0..30).prop_map(|steps| {
        let mut open: Vec<GeneratedRange> = Vec::new();
        let mut roots = Vec::new();
        let mut at = srcmap_scopes::Position { line: 0, column: 0 };
        let mut end = |open: &mut Vec<GeneratedRange>, at| {
            let Some(range) = open.pop().map(|range| GeneratedRange { end: at, ..range }) else { return };
            open.last_mut().map_or(&mut roots, |parent| &mut parent.children).push(range);
        };
        for (begins, (down, right), is_stack_frame, is_hidden, definition) in steps {
            at.column = if down == 0 { at.column + right } else { right };
            at.line += down;
            match begins {
                false => end(&mut open, at),
                true => open.push(GeneratedRange {
                    start: at,
                    end: at,
                    is_stack_frame,
                    is_hidden: is_stack_frame && is_hidden,
                    definition,
                    call_site: None,
                    bindings: Vec::new(),
                    children: Vec::new(),
                }),
            }
        }
        while !open.is_empty() {
            end(&mut open, at);
        }
        roots
    })
}

proptest! {
    /// The scopes are encoded by another implementation.
    #[test]
    fn lookups_equal_a_linear_search(ranges in ranges(), line in 0..8_u32, column in 0..60_u32) {
        let alpha = scope(Some("alpha"), true, vec![scope(Some("block"), false, Vec::new())]);
        let module = scope(None, false, vec![alpha, scope(None, true, Vec::new())]);
        let info = ScopeInfo { scopes: vec![Some(module), None, Some(scope(Some("beta"), true, Vec::new()))], ranges };
        let mut names = Vec::new();
        let text = encode_scopes(&info, &mut names);
        let scopes = decode(&text, 3, 0..names.len() as u32).unwrap();
        let expected = innermost(&info.ranges, (line, column))
            .filter(|range| range.start.line == line && column - range.start.column <= MAX_HEAD)
            .map(|range| {
                let name = match range.definition {
                    Some(1 | 2) => Some("alpha"),
                    Some(4) => Some("beta"),
                    _ => None,
                };
                ((range.start.line, range.start.column), name, range.is_hidden)
            });
        let found = scopes.generated.defined_at((line, column), 0).map(|function| {
            (function.start, function.name.map(|name| names[name as usize].as_str()), function.is_hidden)
        });
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_scopes_are_read(text in "([BCDEFGHIA/][A-Za-z0-9+/]{0,6},?){0,20}", at in (0..4_u32, 0..40_u32)) {
        if let Ok(mut scopes) = decode(&text, 2, 3..5) {
            scopes.generated.append(decode(&text, 2, 3..5).unwrap().generated, (1, 1));
            scopes.generated.sort();
            for functions in scopes.original.iter().chain([&scopes.generated]) {
                let names = functions.functions.iter().filter_map(|function| function.name);
                prop_assert!(names.into_iter().all(|name| name == 3 || name == 4));
                let _ = (functions.defined_at(at, 9), functions.next_from(at));
            }
        }
    }
}
