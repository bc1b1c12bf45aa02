//! Numbers of variable length in base64, which `mappings`, `rangeMappings` and `scopes` consist of.

/// The least number that does not fit. Greater ones count as this one, so that a sum of several cannot wrap around.
const TOO_LARGE: u64 = 1 << 33;

/// Why text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadNumber {
    /// There is no text, or no last digit.
    Missing,
    /// There is another character.
    NotDigit,
}

/// The rest of a text of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers<'text>(pub(crate) &'text [u8]);

impl Numbers<'_> {
    pub(crate) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// [VLQUnsignedValue](https://tc39.es/ecma426/#sec-VLQUnsignedValue), or a number that is too large for 32 bits if
    /// it is.
    pub(crate) fn unsigned(&mut self) -> Result<u64, BadNumber> {
        let mut value = 0_u64;
        let mut shift = 0_u32;
        loop {
            let (&byte, rest) = self.0.split_first().ok_or(BadNumber::Missing)?;
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b',' | b';' => return Err(BadNumber::Missing),
                _ => return Err(BadNumber::NotDigit),
            };
            self.0 = rest;
            let bits = u64::from(digit & 31);
            if shift <= 35 {
                value |= bits << shift;
                shift += 5;
            } else if bits != 0 {
                value = TOO_LARGE;
            }
            if digit < 32 {
                return Ok(value.min(TOO_LARGE));
            }
        }
    }

    /// [VLQSignedValue](https://tc39.es/ecma426/#sec-VLQSignedValue), or one of more than 32 bits.
    pub(crate) fn signed(&mut self) -> Result<i64, BadNumber> {
        let unsigned = self.unsigned()?;
        let value = (unsigned >> 1) as i64;
        Ok(match unsigned {
            1 => i64::from(i32::MIN),
            _ if unsigned & 1 == 1 => -value,
            _ => value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        #[track_caller]
        fn check(text: &str, unsigned: Result<u64, BadNumber>, signed: Result<i64, BadNumber>) {
            assert_eq!(Numbers(text.as_bytes()).unsigned(), unsigned, "{text}");
            assert_eq!(Numbers(text.as_bytes()).signed(), signed, "{text}");
        }
        check("A", Ok(0), Ok(0));
        check("B", Ok(1), Ok(-1 << 31));
        check("iB", Ok(34), Ok(17));
        check("V", Ok(21), Ok(-10));
        check("+/////D", Ok((1 << 32) - 2), Ok((1 << 31) - 1));
        check("//////D", Ok((1 << 32) - 1), Ok(1 - (1 << 31)));
        check("ggggggE", Ok(1 << 32), Ok(1 << 31));
        // Any length is allowed.
        check(&format!("i{}A", "g".repeat(1000)), Ok(2), Ok(1));
        check(&format!("i{}B", "g".repeat(1000)), Ok(TOO_LARGE), Ok(1 << 32));
        check(&format!("/{}f", "/".repeat(1000)), Ok(TOO_LARGE), Ok(1 << 32));
        check("", Err(BadNumber::Missing), Err(BadNumber::Missing));
        check("g", Err(BadNumber::Missing), Err(BadNumber::Missing));
        check("g,", Err(BadNumber::Missing), Err(BadNumber::Missing));
        check("g=", Err(BadNumber::NotDigit), Err(BadNumber::NotDigit));
    }
}
