//! `selfprof report`: writes traces into one self-contained HTML file.
//!
//! The npm package contains the report as an HTML template, built from `ui/report`; this command inserts the traces.

mod embedded;
mod serve;
mod template;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::arguments::{ReportArguments, SourceMapArguments};
use crate::failure::Failure;
use crate::files::{atomic, input, output, stdout};
use crate::source_maps::{self, ReadableThread};
use crate::terminal::messages::{say, warn};

use embedded::ReportTrace;
use template::Template;

/// Runs the command.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let template = Template::find()?;
    if arguments.serve {
        let (files, maps) = (arguments.files.clone(), arguments.source_maps.clone());
        return serve::serve(arguments.port, move || render(&template, &files, &maps));
    }
    let html = render(&template, &arguments.files, &arguments.source_maps)?;
    if arguments.output.as_deref().is_some_and(input::is_stream) {
        return stdout::write(|out| out.write_all(&html));
    }
    let path = arguments.output.clone().unwrap_or_else(|| default_name(&arguments.files[0]));
    write_file(&path, &html)?;
    if arguments.open {
        open_in_browser(&path);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the report of a trace beside it and opens it, for `selfprof run --report`.
pub fn report_run(trace: &Path) -> Result<(), Failure> {
    let template = Template::find()?;
    let html = render(&template, &[trace.to_owned()], &SourceMapArguments::default())?;
    let path = default_name(trace);
    write_file(&path, &html)?;
    open_in_browser(&path);
    Ok(())
}

/// The report of these files.
fn render(template: &Template, files: &[PathBuf], maps: &SourceMapArguments) -> Result<Vec<u8>, Failure> {
    let mut traces = Vec::new();
    for file in files {
        traces.extend(read(file, maps)?);
    }
    template.render(&traces).map_err(|error| Failure::job("cannot render the report").because(&error))
}

/// The threads of a file, with the thread's name in the title if there are several.
fn read(file: &Path, maps: &SourceMapArguments) -> Result<Vec<ReportTrace>, Failure> {
    let name = match file.file_name() {
        Some(name) if !input::is_stream(file) => name.to_string_lossy().into_owned(),
        _ => "stdin".to_owned(),
    };
    let (threads, problems): (Vec<_>, Vec<_>) = input::profile(file, None)?.into_iter().unzip();
    let is_alone = threads.len() == 1;
    let readable = source_maps::apply(threads, maps, input::recorded(file))?;
    let traces = readable.into_iter().zip(problems).map(|(readable, problems)| {
        let ReadableThread { mut thread, inferred, snippets } = readable;
        thread.trace.add_collector_frames();
        let notes = match problems.total() {
            0 => Vec::new(),
            1 => vec!["1 problem in the file".to_owned()],
            total => vec![format!("{total} problems in the file")],
        };
        let title = if is_alone { name.clone() } else { format!("{name}: {}", thread.name) };
        ReportTrace { title, notes, trace: thread.trace, inferred, snippets }
    });
    Ok(traces.collect())
}

/// `build.selfprof.html` beside `build.selfprof.json.gz`; for stdin, `report.html` in the working directory.
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
    let replacing = output::replacing(path);
    atomic::write(path, |mut file| file.write_all(html)).map_err(|error: io::Error| {
        Failure::job(format!("cannot write {}", path.display()))
            .because(&error)
            .hint("`-o FILE` writes the report to another path")
    })?;
    say(format_args!("report: {}{replacing}", path.display()));
    Ok(())
}

fn open_in_browser(path: &Path) {
    if open::that_detached(path).is_err() {
        warn("cannot start a browser; open the file in one yourself");
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
