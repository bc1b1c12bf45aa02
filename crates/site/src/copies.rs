//! The copies of a site.

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use selfprof_instrument::Goal;

use crate::build::Build;
use crate::error::SiteError;
use crate::files::inputs::{Input, Inputs, Kind};
use crate::files::output_folder::OutputFolder;
use crate::files::places::Places;
use crate::functions_table::{FunctionsTable, TABLE};
use crate::html::checksums::KnownChecksums;
use crate::html::pages::Site;
use crate::options::Options;
use crate::runtime::{RUNTIME, RuntimeTemplate};
use crate::scan::{Goals, Scan, scan};
use crate::scripts::instrumenter::Instrumenter;
use crate::scripts::script_files;
use crate::summary::{Counts, LeftOut, Reason, Summary};
use crate::workers::Workers;

/// What servers and builds add to the names of files that they have compressed.
const COMPRESSED: [&str; 3] = [".gz", ".br", ".zst"];

/// Copies a site with instrumented scripts and pages. `runtime` is the template of the polyfill's runtime.
///
/// # Errors
///
/// The options or the inputs are wrong, or a file cannot be read or written. Nothing is changed but the output folder.
pub fn instrument(options: &Options, runtime: &str) -> Result<Summary, SiteError> {
    let is_trace = options.mode.is_trace();
    let instrumenter = Instrumenter::new(&options.mode)?;
    let template = RuntimeTemplate::new(runtime, is_trace)?;
    let mut inputs = Inputs::find(options)?;
    if is_trace {
        inputs.number_functions()?;
    }
    let files = &inputs.files;
    let workers = Workers::start()?;
    let Scan { names, goals, instrumented } = scan(files, &workers)?;
    if let Some((file, sign)) = instrumented.into_iter().next() {
        return Err(SiteError::AlreadyInstrumented { path: file.source.clone(), sign });
    }
    let names = names.absent();
    let runtime = template.render(&names).unwrap_or_default();
    let output = OutputFolder::create(&inputs.output)?;
    // The folder is known as one of ours from now on, even if something fails.
    let mut table = FunctionsTable::new(is_trace);
    output.replace(Path::new(TABLE), |file| table.write(file))?;
    let build = Build {
        names,
        instrumenter,
        has_source_maps: options.has_source_maps,
        output,
        compressed: AtomicU64::new(0),
    };

    let mut done = Done { left_out: inputs.left_out.clone(), ..Done::default() };
    let of_kind = |kind| -> Vec<(usize, &Input)> {
        files.iter().enumerate().filter(|(_, file)| file.kind == kind).collect()
    };
    let (scripts, pages) = (of_kind(Kind::Script), of_kind(Kind::Page));
    instrument_scripts((&scripts, files), &goals, (&build, &workers), &mut done, &mut table)?;
    let site = Site {
        build: &build,
        files,
        places: Places::of(files),
        is_instrumented: scripts
            .iter()
            .map(|(index, file)| (*index, done.changed.contains(&file.place)))
            .collect(),
        checksums: KnownChecksums::default(),
        output_within: inputs.output_within.as_deref(),
    };
    let results = workers.map(&pages, |(_, page)| site.instrument(page))?;
    let mut choices = Vec::new();
    for ((_, page), result) in pages.iter().zip(results) {
        done.add(&result.counts, result.left_out);
        if result.is_changed {
            done.changed.insert(page.place.clone());
        }
        if !result.functions.is_empty() {
            table.add(page.url(), page.first_id, result.functions);
        }
        choices.extend(result.choice);
    }
    copy_others(files, (&build, &workers), &mut done)?;
    build.output.write(Path::new(RUNTIME), runtime.as_bytes())?;
    build.output.replace(Path::new(TABLE), |file| {
        let mut out = BufWriter::new(file);
        table.write(&mut out)?;
        out.flush()
    })?;

    Ok(Summary {
        counts: done.counts,
        unmatched_functions: build.instrumenter.unmatched_patterns(),
        left_out: done.left_out,
        pages: choices,
    })
}

/// The sums of what was done so far.
#[derive(Default)]
struct Done {
    counts: Counts,
    left_out: Vec<LeftOut>,
    /// The places of files that differ from the plain ones.
    changed: HashSet<PathBuf>,
    /// The places of the maps of instrumented scripts.
    own_maps: HashSet<PathBuf>,
}

impl Done {
    fn add(&mut self, counts: &Counts, left_out: Vec<LeftOut>) {
        self.counts.add(counts);
        self.left_out.extend(left_out);
    }
}

fn instrument_scripts(
    (scripts, files): (&[(usize, &Input)], &[Input]),
    goals: &Goals,
    (build, workers): (&Build, &Workers),
    done: &mut Done,
    table: &mut FunctionsTable,
) -> Result<(), SiteError> {
    let places: script_files::Places<'_> = files.iter().map(|file| (file.place.as_path(), file)).collect();
    let results = workers.map(scripts, |(index, script)| {
        let goal = goals.get(index).copied().unwrap_or(Some(Goal::Unknown));
        script_files::instrument(script, goal, &places, build)
    })?;
    for ((_, script), result) in scripts.iter().zip(results) {
        done.add(&result.counts, result.left_out);
        if let Some(functions) = result.functions {
            done.changed.insert(script.place.clone());
            // Whatever a script says, only maps are left out.
            let is_map = |place: &PathBuf| place.extension().is_some_and(|extension| extension == "map");
            done.own_maps.extend(result.own_maps.into_iter().filter(is_map));
            table.add(script.url(), script.first_id, functions);
        }
    }
    Ok(())
}

/// Copies what is neither a script nor a page, except what no longer fits to those.
fn copy_others(
    files: &[Input],
    (build, workers): (&Build, &Workers),
    done: &mut Done,
) -> Result<(), SiteError> {
    let is_stale = |file: &Input| {
        let name = file.place.to_str().unwrap_or_default();
        let of_changed =
            |end: &str| name.strip_suffix(end).is_some_and(|plain| done.changed.contains(Path::new(plain)));
        if done.own_maps.contains(&file.place) {
            Some(Reason::SourceMap)
        } else {
            COMPRESSED.into_iter().any(of_changed).then_some(Reason::Compressed)
        }
    };
    let others: Vec<(&Input, Option<Reason>)> =
        files.iter().filter(|file| file.kind == Kind::Other).map(|file| (file, is_stale(file))).collect();
    workers.map(&others, |(file, stale)| match stale {
        None => build.output.copy(&file.place, &file.source),
        Some(_) => Ok(()),
    })?;
    for (file, stale) in others {
        match stale {
            None => done.counts.copied += 1,
            // It is replaced by one that fits.
            Some(Reason::SourceMap) if build.has_source_maps => {}
            Some(reason) => done.left_out.push(LeftOut::new(file.name(), reason)),
        }
    }
    Ok(())
}
