//! The signals that a command handles.

use std::fs;

/// Those of `signals` that this process did not inherit as ignored, e.g. from `nohup`. A handler would replace that,
/// and a program that is started would not inherit it.
pub fn not_ignored<const N: usize>(signals: [i32; N]) -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored(&status);
    signals.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0).collect()
}

/// The set of ignored signals, one bit each (`SigIgn` in proc(5)); empty if it is not there.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_found() {
        assert_eq!(
            ignored("Name:\tSigIgn: 1\nSigBlk:\t0000000000000200\nSigIgn:\t0000000000001000\n"),
            0x1000
        );
        for text in ["", "SigIgn:\tz\n", "SigIgn:\n"] {
            assert_eq!(ignored(text), 0, "{text}");
        }
    }
}
