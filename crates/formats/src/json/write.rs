//! Writing JSON as a stream.

use std::io::{self, Write};

use selfprof_trace::Micros;

/// Writes `before`, then the items separated by commas.
pub(crate) fn write_list<W: Write, T>(
    out: &mut W,
    before: &str,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write(out, item)?;
    }
    Ok(())
}

/// Writes an object whose members are strings.
pub(crate) fn write_strings<'a, W: Write>(
    out: &mut W,
    members: impl Iterator<Item = (&'a str, &'a str)>,
) -> io::Result<()> {
    write_list(out, "{", members, |out, (name, value)| {
        string(out, name)?;
        out.write_all(b":")?;
        string(out, value)
    })?;
    out.write_all(b"}")
}

/// Writes a quoted and escaped string.
pub(crate) fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(out, text)?)
}

/// Writes an integer.
pub(crate) fn number(out: &mut impl Write, number: impl itoa::Integer) -> io::Result<()> {
    out.write_all(itoa::Buffer::new().format(number).as_bytes())
}

/// Writes an integer or `null`.
#[cfg(feature = "conversion")]
pub(crate) fn number_or_null(out: &mut impl Write, value: Option<impl itoa::Integer>) -> io::Result<()> {
    match value {
        Some(value) => number(out, value),
        None => out.write_all(b"null"),
    }
}

/// Writes a time in milliseconds, without trailing zeros.
pub(crate) fn millis(out: &mut impl Write, time: Micros) -> io::Result<()> {
    number(out, time.0 / 1000)?;
    let rest = time.0 % 1000;
    let digit = |number: u64| b'0' + (number % 10) as u8;
    let digits = [b'.', digit(rest / 100), digit(rest / 10), digit(rest)];
    let length =
        digits.iter().rposition(|&digit| digit != b'0').filter(|&last| last > 0).map_or(0, |last| last + 1);
    out.write_all(&digits[..length])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn milliseconds_are_written_as_they_are_displayed() {
        #[track_caller]
        fn check(micros: u64) {
            let mut written = Vec::new();
            millis(&mut written, Micros(micros)).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), Micros(micros).to_string());
        }
        (0..2000).for_each(check);
        proptest!(|(micros: u64)| check(micros));
    }
}
