//! Which files are chosen.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{PatternKind, SiteError};
use crate::options::Options;

/// What patterns include and exclude.
pub struct Selection {
    included: Option<GlobSet>,
    excluded: GlobSet,
}

impl Selection {
    pub fn new(options: &Options) -> Result<Self, SiteError> {
        let included = Some(&options.include).filter(|patterns| !patterns.is_empty());
        Ok(Self {
            included: included.map(|patterns| globs(patterns, PatternKind::Include)).transpose()?,
            excluded: globs(&options.exclude, PatternKind::Exclude)?,
        })
    }

    pub fn selects(&self, path: &Path) -> bool {
        self.included.as_ref().is_none_or(|included| included.is_match(path)) && !self.excluded.is_match(path)
    }
}

fn globs(patterns: &[String], of: PatternKind) -> Result<GlobSet, SiteError> {
    let mut set = GlobSetBuilder::new();
    let failed = |error: globset::Error| SiteError::Pattern { of, error: Some(error) };
    for pattern in patterns {
        let from_input = pattern.trim_start_matches("./").trim_start_matches('/');
        let anywhere = if pattern.contains('/') { from_input.to_owned() } else { format!("**/{pattern}") };
        set.add(GlobBuilder::new(&anywhere).literal_separator(true).build().map_err(failed)?);
    }
    set.build().map_err(failed)
}
