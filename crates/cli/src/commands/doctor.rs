//! `selfprof doctor`: says why a page cannot be profiled in browsers.

mod fetch;
mod findings;

use std::io::{self, Write};
use std::process::ExitCode;

use selfprof_http::Url;
use selfprof_site::{Markup, ScriptElement, Surroundings};

use crate::arguments::DoctorArguments;
use crate::failure::Failure;
use crate::files::stdout;
use crate::terminal::color::Colors;
use crate::terminal::names::printable;
use crate::urls;

use fetch::Fetcher;
use findings::{Finding, Loaded, Severity, of_policy, of_script, of_security_policy, origin_of, shown};

/// Further scripts are not looked at.
const MAX_SCRIPTS: usize = 50;

/// Runs the command: exit code 0 if the page can be profiled.
pub fn doctor(arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let Some(url) = urls::of_argument(arguments.url.as_ref())? else {
        return Err(Failure::usage(format!(
            "{} is not a URL that begins with http:// or https://",
            arguments.url
        )));
    };
    let fetcher = Fetcher::new();
    let page = fetcher.fetch(&url, None);
    if let Some(problem) = page.problem() {
        let failure = Failure::job(format!("cannot fetch {}: {problem}", urls::shown(&url)));
        return Err(match page.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        });
    }
    let html = Markup::read(&page.body);
    let origin = origin_of(&page.url).unwrap_or_default().to_owned();
    let mut findings = vec![of_policy(&page, &html)];
    findings.extend(of_security_policy(&page, &html));

    let scripts: Vec<_> = html.scripts.iter().filter(|script| is_loaded(script)).collect();
    let looked_at = &scripts[..scripts.len().min(MAX_SCRIPTS)];
    let page_url = Url::parse(&page.url).unwrap_or(url);
    let base = html.base.as_deref().and_then(|base| page_url.join(base).ok()).unwrap_or(page_url);
    for &script in looked_at {
        let source = script.src.as_ref().map_or("", |src| src.value.as_str());
        let resource = &fetcher.fetch_relative(&base, source, &origin);
        findings.extend(of_script(&Loaded { script, resource }, &origin));
    }
    let is_profiled = findings.iter().all(|finding| finding.severity < Severity::Problem);
    let count = match (scripts.len(), looked_at.len()) {
        (all, some) if all > some => format!("the first {some} of {all} scripts were checked"),
        (1, _) => "1 script was looked at".to_owned(),
        (all, _) => format!("{all} scripts were checked"),
    };
    let colors = Colors::for_stdout();
    stdout::write(|out| {
        writeln!(out, "{}", shown(&page.url))?;
        findings.iter().try_for_each(|finding| write_finding(out, finding, colors))?;
        writeln!(out, "\n{count}; scripts that other scripts load were not")
    })?;
    Ok(if is_profiled { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether browsers load a script when they read the page.
fn is_loaded(script: &ScriptElement) -> bool {
    script.src.is_some() && script.surroundings == Surroundings::Document && !script.is_nomodule
}

fn write_finding(out: &mut impl Write, finding: &Finding, colors: Colors) -> io::Result<()> {
    let Finding { severity, text, hint } = finding;
    // Headers of a foreign server must not control the terminal.
    let text: String = printable(text).chars().take(600).collect();
    match severity {
        Severity::Ok => writeln!(out, "  ok       {text}")?,
        Severity::Note => writeln!(out, "  note     {text}")?,
        Severity::Warning => writeln!(out, "  {}  {text}", colors.warning("warning"))?,
        Severity::Problem => writeln!(out, "  {}  {text}", colors.error("problem"))?,
    }
    hint.map_or(Ok(()), |hint| writeln!(out, "           {} {hint}", colors.hint("hint:")))
}
