//! The file of tests that are known to fail or that are skipped, each with its reason: read, compared with results,
//! rewritten.

use super::outcome::Outcome;
use crate::problem::Problem;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What is expected of one test, or of all tests below a folder if the name ends in a slash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Why it is skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
    /// Why it takes longer than in a browser and gets more time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<String>,
    /// Why it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The status of the whole test, if it is not OK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The subtests that do not pass, with their statuses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub subtests: BTreeMap<String, String>,
}

/// An unexpected result.
#[derive(Debug, PartialEq, Eq)]
pub struct Surprise {
    /// The subtest; `None` for the test as a whole.
    pub subtest: Option<String>,
    /// Its status; `None` if it did not run.
    pub status: Option<String>,
    /// The expected status.
    pub expected: String,
    /// The message of testharness.js.
    pub message: Option<String>,
}

/// The file.
pub struct Expectations {
    path: PathBuf,
    /// The comment at its top.
    head: String,
    entries: BTreeMap<String, Entry>,
}

impl Expectations {
    /// Reads the file. Without a file, every test is expected to pass.
    pub fn read(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let entries: BTreeMap<String, Entry> =
            toml_edit::de::from_str(text).with_context(|| format!("cannot read {}", path.display()))?;
        for (name, entry) in &entries {
            let fails = entry.reason.is_some() || entry.status.is_some() || !entry.subtests.is_empty();
            let problem = if entry.skip.is_some() {
                (fails || entry.slow.is_some())
                    .then_some("it is skipped, so nothing else can be expected of it")
            } else if name.ends_with('/') {
                Some("a folder can only be skipped")
            } else if entry.slow.is_some() && !fails {
                None
            } else if entry.reason.as_deref().unwrap_or_default().trim().is_empty() {
                Some("it has no reason")
            } else if entry.status.is_none() && entry.subtests.is_empty() {
                Some("it does not say what fails")
            } else {
                None
            };
            if let Some(problem) = problem {
                bail!("{}: [\"{name}\"]: {problem}", path.display());
            }
        }
        let head =
            text.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        Ok(Self { path: path.to_owned(), head, entries })
    }

    /// Why a test is skipped, if it is.
    pub fn skip(&self, id: &str) -> Option<&str> {
        let entry = self.entries.get(id).filter(|entry| entry.skip.is_some());
        let folder = || {
            let below =
                self.entries.iter().filter(|(name, _)| name.ends_with('/') && id.starts_with(name.as_str()));
            below.map(|(_, entry)| entry).next_back()
        };
        entry.or_else(folder)?.skip.as_deref()
    }

    /// Whether it is known to take longer than in a browser.
    pub fn is_slow(&self, id: &str) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.slow.is_some())
    }

    /// Why it fails.
    pub fn reason(&self, id: &str) -> Option<&str> {
        self.entries.get(id)?.reason.as_deref()
    }

    /// The expected status of a test as a whole.
    pub fn status(&self, id: &str) -> &str {
        self.entries.get(id).and_then(|entry| entry.status.as_deref()).unwrap_or("OK")
    }

    /// The expected status of a subtest.
    pub fn subtest(&self, id: &str, name: &str) -> &str {
        self.entries.get(id).and_then(|entry| entry.subtests.get(name)).map_or("PASS", String::as_str)
    }

    /// The differences between an outcome and the expected one.
    pub fn surprises(&self, id: &str, outcome: &Outcome) -> Vec<Surprise> {
        let mut surprises = Vec::new();
        let expected = self.status(id);
        if outcome.status != expected {
            surprises.push(Surprise {
                subtest: None,
                status: Some(outcome.status.clone()),
                expected: expected.to_owned(),
                message: outcome.message.clone(),
            });
        }
        let mut seen = BTreeSet::new();
        for subtest in &outcome.subtests {
            seen.insert(subtest.name.as_str());
            let expected = self.subtest(id, &subtest.name);
            if subtest.status != expected {
                surprises.push(Surprise {
                    subtest: Some(subtest.name.clone()),
                    status: Some(subtest.status.clone()),
                    expected: expected.to_owned(),
                    message: subtest.message.clone(),
                });
            }
        }
        // A test that was cut short is reported as a whole already.
        if outcome.status == "OK" {
            let known = self.entries.get(id).map(|entry| entry.subtests.iter()).into_iter().flatten();
            for (name, expected) in known.filter(|(name, _)| !seen.contains(name.as_str())) {
                surprises.push(Surprise {
                    subtest: Some(name.clone()),
                    status: None,
                    expected: expected.clone(),
                    message: None,
                });
            }
        }
        surprises
    }

    /// Makes these outcomes the expected ones. Tests keep their reasons; `reason` is for those that have none.
    pub fn update(&mut self, outcomes: &[(String, Outcome)], reason: Option<&str>) -> Result<()> {
        for (id, outcome) in outcomes {
            let slow = self.entries.get(id).and_then(|entry| entry.slow.clone());
            if outcome.is_passed() {
                match slow {
                    Some(_) => self.entries.insert(id.clone(), Entry { slow, ..Entry::default() }),
                    None => self.entries.remove(id),
                };
                continue;
            }
            let known = self.entries.get(id).and_then(|entry| entry.reason.clone());
            let Some(reason) = known.or_else(|| reason.map(str::to_owned)) else {
                return Err(Problem::error(
                    format!("{id} does not pass, and no reason is given"),
                    "--update --reason 'what is missing' adds it to the expectations; name tests to give each its own reason",
                ));
            };
            let failing = outcome.subtests.iter().filter(|subtest| subtest.status != "PASS");
            let entry = Entry {
                skip: None,
                slow,
                reason: Some(reason),
                status: (outcome.status != "OK").then(|| outcome.status.clone()),
                subtests: failing.map(|subtest| (subtest.name.clone(), subtest.status.clone())).collect(),
            };
            self.entries.insert(id.clone(), entry);
        }
        Ok(())
    }

    /// Writes the file.
    pub fn write(&self) -> Result<()> {
        let text = self.text()?;
        fs::write(&self.path, text).with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn text(&self) -> Result<String> {
        let gap = if self.head.is_empty() { "" } else { "\n" };
        Ok(format!("{}{gap}{}", self.head, toml_edit::ser::to_string_pretty(&self.entries)?))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::super::outcome::Subtest;
    use super::*;

    const FILE: &str = "# What is expected.\n\n[\"a/\"]\nskip = \"no such thing\"\n\n[\"b/c.html\"]\nreason = \"it is hard\"\n\
        status = \"TIMEOUT\"\n\n[\"b/c.html\".subtests]\n\"one \\\"two\\\"\" = \"FAIL\"\n";

    fn expectations(text: &str) -> Expectations {
        Expectations::parse(Path::new("x.toml"), text).unwrap_or_else(|error| panic!("{error:#}"))
    }

    fn outcome(status: &str, subtests: &[(&str, &str)]) -> Outcome {
        let subtests = subtests
            .iter()
            .map(|(name, status)| Subtest {
                name: (*name).to_owned(),
                status: (*status).to_owned(),
                message: None,
            })
            .collect();
        Outcome { status: status.to_owned(), message: None, subtests, notes: Vec::new(), duration: 1 }
    }

    fn check(text: &str, id: &str, outcome: &Outcome, expected: &[(Option<&str>, Option<&str>, &str)]) {
        let surprises = expectations(text).surprises(id, outcome);
        let found: Vec<_> = surprises
            .iter()
            .map(|surprise| {
                (surprise.subtest.as_deref(), surprise.status.as_deref(), surprise.expected.as_str())
            })
            .collect();
        assert_eq!(found, expected, "{id}");
    }

    #[test]
    fn what_differs_is_a_surprise() {
        check("", "x.html", &outcome("OK", &[("a", "PASS")]), &[]);
        check("", "x.html", &outcome("OK", &[("a", "FAIL")]), &[(Some("a"), Some("FAIL"), "PASS")]);
        check("", "x.html", &outcome("CRASH", &[]), &[(None, Some("CRASH"), "OK")]);
        check(FILE, "b/c.html", &outcome("TIMEOUT", &[("one \"two\"", "FAIL")]), &[]);
        check(
            FILE,
            "b/c.html",
            &outcome("OK", &[("one \"two\"", "PASS"), ("more", "PASS")]),
            &[(None, Some("OK"), "TIMEOUT"), (Some("one \"two\""), Some("PASS"), "FAIL")],
        );
        check(
            FILE,
            "b/c.html",
            &outcome("OK", &[]),
            &[(None, Some("OK"), "TIMEOUT"), (Some("one \"two\""), None, "FAIL")],
        );
    }

    #[test]
    fn a_folder_is_skipped_with_all_in_it() {
        let expectations = expectations(FILE);
        assert_eq!(expectations.skip("a/x/y.html"), Some("no such thing"));
        assert_eq!(expectations.skip("ab.html"), None);
        assert_eq!(expectations.skip("b/c.html"), None);
    }

    #[test]
    fn an_update_keeps_reasons_and_the_head() {
        let mut file = expectations(FILE);
        let outcomes = [
            ("b/c.html".to_owned(), outcome("OK", &[("three", "FAIL"), ("four", "PASS")])),
            ("b/d.html".to_owned(), outcome("CRASH", &[])),
        ];
        assert!(file.update(&outcomes, None).is_err());
        assert!(file.update(&outcomes, Some("it falls")).is_ok());
        let text = file.text().unwrap_or_default();
        assert!(text.starts_with("# What is expected.\n\n[\"a/\"]\nskip = \"no such thing\"\n"), "{text}");
        let again = expectations(&text);
        assert_eq!(again.entries, file.entries);
        assert_eq!(again.reason("b/c.html"), Some("it is hard"));
        assert_eq!(again.reason("b/d.html"), Some("it falls"));
        assert_eq!(again.subtest("b/c.html", "three"), "FAIL");
        for (id, outcome) in &outcomes {
            assert_eq!(again.surprises(id, outcome), [], "{id}");
        }
        assert!(file.update(&[("b/c.html".to_owned(), outcome("OK", &[("three", "PASS")]))], None).is_ok());
        assert!(!file.entries.contains_key("b/c.html"));
    }

    #[test]
    fn a_slow_test_stays_slow() {
        let text = "[\"a.html\"]\nslow = \"it does much\"\n";
        let mut file = expectations(text);
        assert!(file.is_slow("a.html") && !file.is_slow("b.html"));
        for subtests in [&[("one", "FAIL")][..], &[("one", "PASS")]] {
            assert!(file.update(&[("a.html".to_owned(), outcome("OK", subtests))], Some("so")).is_ok());
            assert!(file.is_slow("a.html"));
        }
        assert_eq!(file.text().unwrap_or_default(), text);
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        for text in [
            "[\"a.html\"]\nstatus = \"FAIL\"\n",
            "[\"a.html\"]\nreason = \" \"\nstatus = \"FAIL\"\n",
            "[\"a.html\"]\nreason = \"so\"\n",
            "[\"a/\"]\nreason = \"so\"\nstatus = \"ERROR\"\n",
            "[\"a.html\"]\nskip = \"so\"\nstatus = \"ERROR\"\n",
            "[\"a/\"]\nslow = \"so\"\n",
            "[\"a.html\"]\nskipped = \"so\"\n",
            "[\"a.html\"\n",
        ] {
            assert!(Expectations::parse(Path::new("x.toml"), text).is_err(), "{text}");
        }
    }
}
