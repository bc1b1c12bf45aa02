//! Why a site is not instrumented, in the words of the command line.

use std::error::Error;
use std::path::Path;

use selfprof_site::{PatternKind, SiteError};

use crate::failure::Failure;
use crate::terminal::names::ANONYMOUS;

/// What to do without the polyfill.
pub const BUILD_POLYFILL: &str =
    "in a checkout, `cargo xtask build` builds it; otherwise, install the npm package again";

/// The failure for an error. `template` is the path of the runtime's template.
pub fn of(error: &SiteError, template: &Path) -> Failure {
    let with_cause = |failure: Failure| match error.source() {
        Some(cause) => failure.because(cause),
        None => failure,
    };
    let usage = || with_cause(Failure::usage(error.to_string()));
    match error {
        SiteError::Pattern { of, .. } => of_pattern(*of, error.source()),
        SiteError::Template => Failure::job(format!("{} is not the polyfill's template", template.display()))
            .hint(BUILD_POLYFILL),
        SiteError::Open(..) => usage(),
        SiteError::SpecialFile(_) => usage(),
        SiteError::TooManyFiles(_) => {
            usage().hint("give the folder that the build writes, not that of the project")
        }
        SiteError::TooManyFunctions => usage().hint("give fewer files, or choose scripts with `--include`"),
        SiteError::NoScripts => {
            usage().hint("scripts are .js, .mjs and .cjs files; TypeScript must be compiled first")
        }
        SiteError::AlreadyInstrumented { .. } => {
            usage().hint("give the plain files, as the build writes them")
        }
        SiteError::SamePlace(..) => {
            usage().hint("instrument them one after the other, each with its own `-o DIR`")
        }
        SiteError::Overwrites { .. } => {
            usage().hint("`-o DIR` must be another folder; it may be a new one inside the input")
        }
        SiteError::OutputIsNoFolder(_) => usage().hint("`-o DIR` sets the folder for the copies"),
        SiteError::OutputOfOthers(_) => {
            usage().hint("`-o DIR` must be a new or empty folder, or one that an earlier run has written")
        }
        SiteError::Read(..) | SiteError::Write(..) | SiteError::SourceMap(..) | SiteError::Threads(_) => {
            with_cause(Failure::job(error.to_string()))
        }
    }
}

fn of_pattern(of: PatternKind, error: Option<&(dyn Error + 'static)>) -> Failure {
    let (option, example) = match of {
        PatternKind::Include => ("--include", "`assets/*.js`"),
        PatternKind::Exclude => ("--exclude", "`assets/*.js`"),
        PatternKind::Functions => ("--functions", "`parse*`"),
    };
    match error {
        Some(error) => Failure::usage(format!("{option} has a bad pattern"))
            .because(error)
            .hint(format!("for example: {example}")),
        None => Failure::usage(format!("{option} has an empty pattern")).hint(format!(
            "leave the option out to trace all functions; `{ANONYMOUS}` chooses those without a name"
        )),
    }
}
