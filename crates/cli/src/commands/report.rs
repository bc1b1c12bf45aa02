//! `selfprof report`: writes traces into one self-contained HTML file.
//!
//! The npm package contains the report as an HTML template, built from `ui/report`; this command inserts the traces.

mod embedded;
mod report_trace;
mod serve;
mod template;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use selfprof_trace::foreign::Problems;

use crate::arguments::{LabelArguments, ReportArguments, SourceMapArguments};
use crate::collector::{Address, Fetched};
use crate::failure::Failure;
use crate::files::{atomic, input, output, stdout};
use crate::labels;
use crate::source_maps;
use crate::terminal::messages::{say, warn};
use crate::urls::is_url;

use report_trace::{FileThreads, ReportTrace};
use template::Template;

/// Runs the command.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let template = Template::find()?;
    let inputs = Inputs {
        files: arguments.files.clone(),
        are_together: arguments.together,
        labels: arguments.labels.clone(),
        maps: arguments.source_maps.clone(),
    };
    if inputs.are_one_trace() {
        warn("the files have no common time axis: in the report, each one begins at 0");
    }
    if arguments.serve {
        return serve::serve(arguments.port, move || inputs.render(&template));
    }
    let html = inputs.render(&template)?;
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
    let inputs = Inputs {
        files: vec![trace.to_owned()],
        are_together: false,
        labels: LabelArguments::default(),
        maps: SourceMapArguments::default(),
    };
    let html = inputs.render(&template)?;
    let path = default_name(trace);
    write_file(&path, &html)?;
    open_in_browser(&path);
    Ok(())
}

/// What a report is made of.
struct Inputs {
    files: Vec<PathBuf>,
    /// Whether all files are one trace.
    are_together: bool,
    labels: LabelArguments,
    maps: SourceMapArguments,
}

impl Inputs {
    fn are_one_trace(&self) -> bool {
        self.are_together && self.files.len() > 1
    }

    fn render(&self, template: &Template) -> Result<Vec<u8>, Failure> {
        let files = self
            .files
            .iter()
            .map(|file| read(file, (&self.labels, &self.maps)))
            .collect::<Result<Vec<_>, _>>()?;
        let traces = if self.are_one_trace() {
            ReportTrace::together(files).map(|trace| vec![trace])
        } else {
            files.into_iter().map(ReportTrace::of).collect()
        };
        let failure = || Failure::job("cannot render the report");
        let traces = traces.map_err(|error| failure().because(&error))?;
        template.render(&traces).map_err(|error| failure().because(&error))
    }
}

fn read(file: &Path, (labels, maps): (&LabelArguments, &SourceMapArguments)) -> Result<FileThreads, Failure> {
    labels::check_input(file, labels)?;
    if let Some(address) = Address::of(file)? {
        let Fetched { name, threads, remark } = input::of_collector(&address)?;
        let problems = threads.iter().map(|(_, problems)| problems.total()).sum();
        let mut threads: Vec<_> = threads.into_iter().map(|(thread, _)| thread).collect();
        labels::retain(&mut threads, labels);
        return Ok(FileThreads { name, threads: source_maps::apply(threads, maps, None)?, problems, remark });
    }
    let name = input::file_name(file).unwrap_or_else(|| input::name_of(file));
    let (mut threads, problems): (Vec<_>, Vec<_>) = input::profile(file, None)?.into_iter().unzip();
    labels::retain(&mut threads, labels);
    let problems = problems.iter().map(Problems::total).sum();
    let threads = source_maps::apply(threads, maps, input::recorded(file))?;
    Ok(FileThreads { name, threads, problems, remark: None })
}

/// `build.selfprof.html` beside `build.selfprof.json.gz`; for stdin and URLs, `report.html` in the working directory.
fn default_name(file: &Path) -> PathBuf {
    let Some(name) = file.file_name().filter(|_| !input::is_stream(file) && !is_url(file)) else {
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
        check("http://127.0.0.1:4319/?app=shop&page=/a.json", "report.html");
    }
}
