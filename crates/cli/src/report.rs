//! `selfprof report`: traces in one HTML file that needs nothing else.
//!
//! The page is made from `report/` of the repository and lies in the npm package; here its traces are put in.

mod embedded;
mod page;
mod serve;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::arguments::{ReportArguments, SourceMapArguments};
use crate::failure::Failure;
use crate::input;
use crate::source_maps;
use crate::stdout;
use crate::talk::say;
use crate::whole_file;

use embedded::Titled;
use page::Page;

/// Runs the command.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let page = Page::find()?;
    if arguments.serve {
        return serve::serve(arguments.port, || make(&page, &arguments.files, &arguments.source_maps));
    }
    let html = make(&page, &arguments.files, &arguments.source_maps)?;
    if arguments.output.as_deref().is_some_and(input::is_stream) {
        return stdout::write(|out| out.write_all(&html));
    }
    let path = arguments.output.clone().unwrap_or_else(|| default_name(&arguments.files[0]));
    write_file(&path, &html)?;
    say(format_args!("report: {}", path.display()));
    if arguments.open {
        show(&path);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the report of a trace file beside it, and opens it: what `selfprof run --report` does when the run has ended.
pub fn report_run(trace: &Path) -> Result<(), Failure> {
    let page = Page::find()?;
    let html = make(&page, &[trace.to_owned()], &SourceMapArguments::default())?;
    let path = default_name(trace);
    write_file(&path, &html)?;
    say(format_args!("report: {}", path.display()));
    show(&path);
    Ok(())
}

/// The page with the traces of these files.
fn make(page: &Page, files: &[PathBuf], maps: &SourceMapArguments) -> Result<Vec<u8>, Failure> {
    let mut traces = Vec::new();
    for file in files {
        traces.extend(read(file, maps)?);
    }
    page.with(&traces).map_err(|error| Failure::job("cannot put the traces into the page").because(&error))
}

/// The threads of a file. A file of several says which is which.
fn read(file: &Path, maps: &SourceMapArguments) -> Result<Vec<Titled>, Failure> {
    let name = match file.file_name() {
        Some(name) if !input::is_stream(file) => name.to_string_lossy().into_owned(),
        _ => "stdin".to_owned(),
    };
    let (threads, problems): (Vec<_>, Vec<_>) = input::profile(file, None)?.into_iter().unzip();
    let is_alone = threads.len() == 1;
    let placed = source_maps::place_with_snippets(threads, maps)?;
    let titled = placed.into_iter().zip(problems).map(|((thread, snippets), problems)| {
        let notes = match problems.total() {
            0 => Vec::new(),
            1 => vec!["1 problem in the file".to_owned()],
            total => vec![format!("{total} problems in the file")],
        };
        let name = if is_alone { name.clone() } else { format!("{name}: {}", thread.name) };
        Titled { name, notes, trace: thread.trace, snippets }
    });
    Ok(titled.collect())
}

/// `build.selfprof.json.gz` gives `build.selfprof.html`, in the same directory; stdin gives `report.html` in this one.
fn default_name(file: &Path) -> PathBuf {
    let Some(name) = file.file_name().filter(|_| !input::is_stream(file)) else {
        return "report.html".into();
    };
    let name = name.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    file.with_file_name(format!("{stem}.html"))
}

fn write_file(path: &Path, html: &[u8]) -> Result<(), Failure> {
    whole_file::write(path, |mut file| file.write_all(html)).map_err(|error: io::Error| {
        Failure::job(format!("cannot write {}", path.display()))
            .because(&error)
            .hint("`-o FILE` writes the report elsewhere")
    })
}

/// Shows the report in the browser, where there is one.
fn show(path: &Path) {
    if open::that_detached(path).is_err() {
        say("no browser could be started here; open the file in one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_named_after_their_traces() {
        #[track_caller]
        fn check(file: &str, expected: &str) {
            assert_eq!(default_name(Path::new(file)), Path::new(expected));
        }
        check("build.selfprof.json", "build.selfprof.html");
        check("out/build.json.gz", "out/build.html");
        check("/tmp/a.cpuprofile", "/tmp/a.html");
        check("trace", "trace.html");
        check(".json", ".json.html");
        check("-", "report.html");
    }
}
