//! The state of a process, as in `/proc/PID/status`.

/// The lines that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// `R` running, `S` sleeping, `T` stopped, `Z` ended; `?` if unknown.
    pub state: char,
    /// The effective user.
    pub user: Option<u32>,
    /// The process that traces it.
    pub tracer: Option<u32>,
    /// The signals that its main thread blocks, one bit each.
    pub blocked: u64,
    /// The signals that it has handlers for.
    pub caught: u64,
}

impl Status {
    /// Parses the file. What is missing is unknown, or empty.
    pub fn parse(text: &str) -> Self {
        let value = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let number = |name: &str, index: usize| value(name)?.split_whitespace().nth(index)?.parse().ok();
        let set = |name: &str| value(name).and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
        Self {
            state: value("State").and_then(|state| state.chars().next()).unwrap_or('?'),
            user: number("Uid", 1),
            tracer: number("TracerPid", 0).filter(|&tracer| tracer != 0),
            blocked: set("SigBlk"),
            caught: set("SigCgt"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_found() {
        let text = "Name:\tState: x\nState:\tT (stopped)\nTracerPid:\t7\nUid:\t1\t2\t3\t4\nSigBlk:\t0000000000000200\n\
            SigCgt:\t0000000100004602\n";
        let expected =
            Status { state: 'T', user: Some(2), tracer: Some(7), blocked: 0x200, caught: 0x1_0000_4602 };
        assert_eq!(Status::parse(text), expected);
        let nothing = Status { state: '?', user: None, tracer: None, blocked: 0, caught: 0 };
        assert_eq!(Status::parse("Uid:\tx\nState:\nTracerPid:\t0\nSigCgt:\tz"), nothing);
    }
}
