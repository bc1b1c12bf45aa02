//! `selfprof instrument`: copies scripts and pages with checks, so that browsers without the API can profile them.

mod build;
mod checksums;
mod function_patterns;
mod functions_table;
mod inputs;
mod map_links;
mod markup;
mod mode;
mod output_folder;
mod pages;
mod positions;
mod runtime;
mod scripts;
mod summary;
mod workers;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use selfprof_instrument::{Goal, NamesInUse};

use crate::arguments::InstrumentArguments;
use crate::failure::Failure;
use crate::files::stdout;
use crate::terminal::color::Colors;

use build::{Build, MAX_BYTES, split_mark};
use checksums::KnownChecksums;
use functions_table::FunctionsTable;
use inputs::{Input, Inputs, Kind, Places, RUNTIME, TABLE};
use mode::Mode;
use output_folder::OutputFolder;
use pages::{Load, Site};
use runtime::RuntimeTemplate;
use summary::{Counts, LeftOut, Reason, Summary};

/// What servers and builds add to the names of files that they have compressed.
const COMPRESSED: [&str; 3] = [".gz", ".br", ".zst"];

/// Runs the command.
pub fn instrument(arguments: &InstrumentArguments) -> Result<ExitCode, Failure> {
    let mode = Mode::of(arguments)?;
    let is_trace = mode.is_trace();
    let template = RuntimeTemplate::find(is_trace)?;
    let mut inputs = Inputs::find(arguments)?;
    if is_trace {
        inputs.number_functions()?;
    }
    let files = &inputs.files;
    let Scan { names, goals, instrumented } = scan(files)?;
    if let Some((file, sign)) = instrumented.first() {
        let sign = sign.as_ref().map_or(String::new(), |sign| format!(": {sign}"));
        return Err(Failure::usage(format!("{} is already instrumented{sign}", file.source.display()))
            .hint("give the plain file, as the build writes it"));
    }
    let names = names.absent();
    let runtime = template.render(&names).unwrap_or_default();
    let output = OutputFolder::create(&inputs.output)?;
    // The folder is known as one of ours from now on, even if something fails.
    let mut table = FunctionsTable::new(is_trace);
    output.replace(Path::new(TABLE), |file| table.write(file))?;
    let build =
        Build { names, mode, has_source_maps: arguments.source_map, output, compressed: AtomicU64::new(0) };

    let mut done = Done { left_out: inputs.left_out.clone(), ..Done::default() };
    let of_kind = |kind| -> Vec<(usize, &Input)> {
        files.iter().enumerate().filter(|(_, file)| file.kind == kind).collect()
    };
    let (scripts, pages) = (of_kind(Kind::Script), of_kind(Kind::Page));
    instrument_scripts(&scripts, files, &goals, &build, &mut done, &mut table)?;
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
    let results = workers::map(&pages, |(_, page)| site.instrument(page))?;
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
    copy_others(files, &build, &mut done)?;
    build.output.write(Path::new(RUNTIME), runtime.as_bytes())?;
    build.output.replace(Path::new(TABLE), |file| {
        let mut out = BufWriter::new(file);
        table.write(&mut out)?;
        out.flush()
    })?;

    let is_instrumented = done.counts.scripts + done.counts.inline_scripts > 0;
    let is_traced = done.counts.checked_functions > 0;
    let has_instrumented_inputs = done.left_out.iter().any(|one| one.is_for(Reason::AlreadyInstrumented));
    let output = arguments.output.display().to_string();
    let unmatched_functions = build.mode.unmatched_patterns();
    let summary = Summary {
        output,
        is_trace,
        counts: done.counts,
        unmatched_functions,
        left_out: done.left_out,
        pages: choices,
    };
    if arguments.json {
        let json = summary.json();
        stdout::write(|out| {
            serde_json::to_writer_pretty(&mut *out, &json)?;
            out.write_all(b"\n")
        })?;
    } else {
        // A closed stderr is no failure, as for other messages.
        let _ = summary.write(&mut std::io::stderr().lock(), Colors::for_stderr());
    }
    if is_instrumented && is_trace && !is_traced {
        let hint = if arguments.functions.is_empty() {
            "the scripts have no functions, or the summary says why they cannot be traced"
        } else {
            "`--functions GLOB` takes patterns of whole names, such as `parse*`"
        };
        return Err(Failure::job("no function is traced").hint(hint));
    }
    if is_instrumented {
        return Ok(ExitCode::SUCCESS);
    }
    let hint = if has_instrumented_inputs {
        "give the plain files, as the build writes them"
    } else {
        "the summary says why"
    };
    Err(Failure::job("nothing was instrumented").hint(hint))
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

/// How pages load scripts, by the indexes of the inputs; `None` for scripts that only browsers without modules load.
type Goals = HashMap<usize, Option<Goal>>;

/// What must be known of all scripts and pages before the first is instrumented.
struct Scan<'a> {
    /// Which names they use.
    names: NamesInUse,
    goals: Goals,
    /// The files of the command line that are already instrumented, with what shows it.
    instrumented: Vec<(&'a Input, Option<String>)>,
}

/// Reads all scripts and pages.
fn scan(files: &[Input]) -> Result<Scan<'_>, Failure> {
    let places = Places::of(files);
    let read: Vec<&Input> = files.iter().filter(|file| file.kind != Kind::Other).collect();
    let scanned = workers::map(&read, |file| {
        let failed = |error: &std::io::Error| {
            Failure::job(format!("cannot read {}", file.source.display())).because(error)
        };
        let mut names = NamesInUse::default();
        if fs::metadata(&file.source).map_err(|error| failed(&error))?.len() > MAX_BYTES {
            return Ok((names, Vec::new(), None));
        }
        let bytes = fs::read(&file.source).map_err(|error| failed(&error))?;
        let text = String::from_utf8_lossy(&bytes);
        names.add(&text);
        let html = split_mark(&text).1;
        let markup = (file.kind == Kind::Page).then(|| markup::read(html));
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

fn instrument_scripts(
    scripts: &[(usize, &Input)],
    files: &[Input],
    goals: &Goals,
    build: &Build,
    done: &mut Done,
    table: &mut FunctionsTable,
) -> Result<(), Failure> {
    let places: scripts::Places<'_> = files.iter().map(|file| (file.place.as_path(), file)).collect();
    let results = workers::map(scripts, |(index, script)| {
        let goal = goals.get(index).copied().unwrap_or(Some(Goal::Unknown));
        scripts::instrument(script, goal, &places, build)
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
fn copy_others(files: &[Input], build: &Build, done: &mut Done) -> Result<(), Failure> {
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
    workers::map(&others, |(file, stale)| match stale {
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
