//! The outcome of a test, in the terms of the suite's own runner.

use serde::{Deserialize, Serialize};

/// The outcome of one subtest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subtest {
    /// Its name, which testharness.js keeps unique in a test.
    pub name: String,
    /// PASS, FAIL, TIMEOUT, NOTRUN, PRECONDITION_FAILED.
    pub status: String,
    /// What failed.
    pub message: Option<String>,
}

/// The outcome of one test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The status of the test as a whole: OK, ERROR, TIMEOUT, CRASH, PRECONDITION_FAILED.
    pub status: String,
    /// Why it is not OK.
    pub message: Option<String>,
    /// The subtests that ended, or were ended.
    pub subtests: Vec<Subtest>,
    /// What else the page reported: exceptions, resources that did not load.
    #[serde(default)]
    pub notes: Vec<String>,
    /// In milliseconds.
    pub duration: u64,
}

impl Outcome {
    /// The process that ran it crashed.
    pub fn crash(message: String) -> Self {
        Self {
            status: "CRASH".to_owned(),
            message: Some(message),
            subtests: Vec::new(),
            notes: Vec::new(),
            duration: 0,
        }
    }

    /// How many subtests passed.
    pub fn passed(&self) -> usize {
        self.subtests.iter().filter(|subtest| subtest.status == "PASS").count()
    }

    /// Whether the test and all its subtests passed.
    pub fn is_passed(&self) -> bool {
        self.status == "OK" && self.passed() == self.subtests.len()
    }
}
