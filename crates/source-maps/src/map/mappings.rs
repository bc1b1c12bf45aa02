//! Decoding `mappings` and `rangeMappings`.

use crate::scopes::Position;
use crate::vlq::{BadNumber, Numbers};

/// A mapping, with 0-based lines and columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    pub(super) generated: Position,
    /// `None` if the generated code has no source.
    pub(super) source: Option<u32>,
    pub(super) original: Position,
    pub(super) name: Option<u32>,
    /// Whether it maps every position up to the next mapping, each to another one.
    pub(super) is_range: bool,
}

/// The mappings of a map, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    pub(super) list: Vec<Mapping>,
    /// How many have numbers that cannot be, and the 0-based line of the first of them.
    pub(super) bad: usize,
    pub(super) first_bad: u32,
}

/// The values that the numbers of the next mapping are relative to.
#[derive(Default)]
struct State {
    line: u32,
    column: i64,
    source: i64,
    original_line: i64,
    original_column: i64,
    name: i64,
}

/// Decodes the mappings of a map with this many sources and names.
///
/// The numbers may be anything: a mapping whose original cannot be has none, and one whose generated column cannot be
/// is left out. Fails if the text does not consist of numbers.
pub(super) fn decode(
    text: &str,
    ranges: &mut RangeMappings<'_>,
    (sources, names): (usize, usize),
) -> Result<Mappings, String> {
    let mut mappings = Mappings::default();
    let mut state = State::default();
    let mut numbers = Numbers(text.as_bytes());
    loop {
        match numbers.0 {
            [] => break,
            [b';', rest @ ..] => {
                numbers.0 = rest;
                state.line = state.line.saturating_add(1);
                state.column = 0;
                ranges.next_line();
            }
            // Two commas in a row have nothing between them.
            [b',', rest @ ..] => numbers.0 = rest,
            _ => {
                let decoded = state
                    .read(&mut numbers, (sources, names))
                    .map_err(|reason| format!("a mapping of line {} {reason}", u64::from(state.line) + 1))?;
                if decoded.is_bad {
                    if mappings.bad == 0 {
                        mappings.first_bad = state.line;
                    }
                    mappings.bad += 1;
                }
                let is_range = decoded.mapping.is_some() && ranges.next_mapping();
                mappings.list.extend(decoded.mapping.map(|mapping| Mapping { is_range, ..mapping }));
            }
        }
    }
    ranges.finish();
    Ok(mappings)
}

struct Decoded {
    /// `None` if the generated column cannot be.
    mapping: Option<Mapping>,
    is_bad: bool,
}

impl State {
    fn read(
        &mut self,
        numbers: &mut Numbers<'_>,
        (sources, names): (usize, usize),
    ) -> Result<Decoded, &'static str> {
        let is_end = |numbers: &Numbers<'_>| matches!(numbers.0, [] | [b',' | b';', ..]);
        add(&mut self.column, numbers)?;
        let has_original = !is_end(numbers);
        let mut has_name = false;
        if has_original {
            add(&mut self.source, numbers)?;
            add(&mut self.original_line, numbers)?;
            add(&mut self.original_column, numbers)?;
            has_name = !is_end(numbers);
            if has_name {
                add(&mut self.name, numbers)?;
            }
            if !is_end(numbers) {
                return Err("has more than 5 numbers");
            }
        }
        let column = place(self.column);
        let source = index(self.source, sources).filter(|_| has_original);
        let original = place(self.original_line).zip(place(self.original_column));
        let source = source.filter(|_| original.is_some());
        let name = index(self.name, names).filter(|_| has_name);
        let is_bad = column.is_none() || has_original && source.is_none() || has_name && name.is_none();
        let mapping = column.map(|column| Mapping {
            generated: (self.line, column),
            source,
            original: original.unwrap_or_default(),
            name,
            is_range: false,
        });
        Ok(Decoded { mapping, is_bad })
    }
}

/// Adds the next number.
fn add(sum: &mut i64, numbers: &mut Numbers<'_>) -> Result<(), &'static str> {
    let number = numbers.signed().map_err(|bad| match bad {
        BadNumber::Missing => "does not have 1, 4 or 5 whole numbers",
        BadNumber::NotDigit => "has a character that is not a base64 digit",
    })?;
    *sum = sum.saturating_add(number);
    Ok(())
}

/// A line or column. Those of the standard have 31 bits.
fn place(number: i64) -> Option<u32> {
    u32::try_from(i32::try_from(number).ok()?).ok()
}

fn index(number: i64, count: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|&index| (index as usize) < count)
}

/// Which mappings are [range mappings]: for each line, the indices of such mappings, each relative to the one before.
///
/// [range mappings]: https://tc39.es/ecma426/branch/proposal-range-mappings/#sec-rangeMappings
#[derive(Debug, Default)]
pub(super) struct RangeMappings<'text> {
    numbers: Numbers<'text>,
    /// The index of the next range mapping of the line, and of its next mapping.
    next: Option<u64>,
    index: u64,
    problem: Option<&'static str>,
}

impl<'text> RangeMappings<'text> {
    /// A text with other characters has no range mappings.
    pub(super) fn new(text: &'text str) -> Self {
        let mut check = Numbers(text.as_bytes());
        loop {
            match check.0 {
                [] => break,
                [b';', rest @ ..] => check.0 = rest,
                _ => {
                    if check.unsigned().is_err() {
                        return Self { problem: Some("they are not numbers in base64"), ..Self::default() };
                    }
                }
            }
        }
        let mut ranges = Self { numbers: Numbers(text.as_bytes()), ..Self::default() };
        ranges.next = ranges.read();
        ranges
    }

    /// What is wrong with them.
    pub(super) fn problem(&self) -> Option<&'static str> {
        self.problem
    }

    /// The next number of the line.
    fn read(&mut self) -> Option<u64> {
        if matches!(self.numbers.0, [] | [b';', ..]) { None } else { self.numbers.unsigned().ok() }
    }

    /// Whether the next mapping of the line is a range mapping.
    fn next_mapping(&mut self) -> bool {
        let is_range = self.next == Some(self.index);
        if is_range {
            self.next = self.read().map(|distance| self.index + distance);
            if self.next == Some(self.index) {
                self.problem = Some("one is listed twice");
                self.next = None;
            }
        }
        self.index += 1;
        is_range
    }

    fn next_line(&mut self) {
        if self.next.is_some() {
            self.problem = Some("there are more of them than mappings");
        }
        while self.read().is_some() {}
        if let [_, rest @ ..] = self.numbers.0 {
            self.numbers.0 = rest;
        }
        self.index = 0;
        self.next = self.read();
    }

    fn finish(&mut self) {
        if self.next.is_some() || self.numbers.0.iter().any(|byte| *byte != b';') {
            self.problem = Some("there are more of them than mappings");
        }
    }
}
