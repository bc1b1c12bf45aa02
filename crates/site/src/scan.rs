//! Reading all scripts and pages before the first is instrumented.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use selfprof_instrument::{Goal, NamesInUse};

use crate::error::SiteError;
use crate::files::inputs::{Input, Kind};
use crate::files::places::Places;
use crate::files::text::{MAX_BYTES, split_mark};
use crate::html::markup::Markup;
use crate::html::pages::{self, Load};
use crate::workers::Workers;

/// How pages load scripts, by the indexes of the inputs; `None` for scripts that only browsers without modules load.
pub type Goals = HashMap<usize, Option<Goal>>;

/// What must be known of all scripts and pages before the first is instrumented.
pub struct Scan<'a> {
    /// Which names they use.
    pub names: NamesInUse,
    pub goals: Goals,
    /// The files of the command line that are already instrumented, with what shows it.
    pub instrumented: Vec<(&'a Input, Option<String>)>,
}

/// Reads all scripts and pages.
pub fn scan<'a>(files: &'a [Input], workers: &Workers) -> Result<Scan<'a>, SiteError> {
    let places = Places::of(files);
    let read: Vec<&Input> = files.iter().filter(|file| file.kind != Kind::Other).collect();
    let scanned = workers.map(&read, |file| {
        let failed = |error| SiteError::Read(file.source.clone(), error);
        let mut names = NamesInUse::default();
        if fs::metadata(&file.source).map_err(failed)?.len() > MAX_BYTES {
            return Ok((names, Vec::new(), None));
        }
        let bytes = fs::read(&file.source).map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        names.add(&text);
        let html = split_mark(&text).1;
        let markup = (file.kind == Kind::Page).then(|| Markup::read(html));
        let loads = markup.as_ref().map(|markup| pages::loads(markup, &file.place, &places));
        let instrumented = match &markup {
            _ if !file.is_named || !file.is_selected => None,
            Some(markup) => pages::sign_of_instrumentation(html, markup).map(Some),
            None => selfprof_instrument::is_instrumented(html).then_some(None),
        };
        Ok((names, loads.unwrap_or_default(), instrumented.map(|sign| (*file, sign))))
    })?;
    let mut in_use = NamesInUse::default();
    let mut by_index: BTreeMap<usize, Vec<Option<Goal>>> = BTreeMap::new();
    let mut all_instrumented = Vec::new();
    for (names, loads, instrumented) in scanned {
        in_use.merge(names);
        all_instrumented.extend(instrumented);
        for Load { index, goal } in loads {
            let goals = by_index.entry(index).or_default();
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
    }
    let goals = by_index.into_iter().map(|(index, goals)| {
        let mut known = goals.into_iter().flatten();
        let goal = match (known.next(), known.next()) {
            (None, _) => None,
            (goal, None) => goal,
            // Some pages load it as a module and others as a classic script.
            (Some(_), Some(_)) => Some(Goal::Unknown),
        };
        (index, goal)
    });
    Ok(Scan { names: in_use, goals: goals.collect(), instrumented: all_instrumented })
}
