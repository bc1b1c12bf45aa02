//! Reads how many tests ran from the output of a test runner, so that a runner that found none does not pass.

use anyhow::{Result, bail};

/// The tests that passed in all of cargo's runs in this output.
pub fn cargo(output: &str) -> Result<usize> {
    let summaries = output.lines().filter_map(|line| line.trim().strip_prefix("test result: ok. "));
    some(summaries.filter_map(number).sum())
}

/// The tests that passed in one run of Node's test runner with its `spec` reporter.
pub fn node(output: &str) -> Result<usize> {
    some(output.lines().filter_map(|line| line.trim().strip_prefix("ℹ pass ")).filter_map(number).sum())
}

/// The tests of one run of Python's unittest that passed.
pub fn python(output: &str) -> Result<usize> {
    some(output.lines().filter_map(|line| line.trim().strip_prefix("Ran ")).filter_map(number).sum())
}

fn number(text: &str) -> Option<usize> {
    text.split_whitespace().next()?.parse().ok()
}

fn some(count: usize) -> Result<usize> {
    if count == 0 {
        bail!("no test ran");
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_cargo() {
        let output = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\n\
                    test result: ok. 40 passed; 0 failed; 0 ignored\n";
        assert_eq!(cargo(output).ok(), Some(42));
        assert_eq!(cargo("test result: ok. 0 passed; 0 failed").ok(), None);
    }

    #[test]
    fn sum_of_python() {
        assert_eq!(python("....\n-----\nRan 4 tests in 1.5s\n\nOK\n").ok(), Some(4));
        assert_eq!(python("Ran 0 tests in 0.0s\n\nOK\n").ok(), None);
    }

    #[test]
    fn sum_of_node() {
        assert_eq!(node("ℹ tests 8\nℹ pass 7\nℹ fail 0\n").ok(), Some(7));
        assert_eq!(node("ℹ tests 0\nℹ pass 0\n").ok(), None);
        assert_eq!(node("").ok(), None);
    }
}
