//! What a collector says of two of its selections.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::arguments::DiffArguments;
use crate::collector::{ComparedFunction, Comparison, Side, Verdict};
use crate::failure::Failure;
use crate::files::stdout;
use crate::terminal::color::Colors;
use crate::terminal::names::printable;

/// Prints the comparison, or with `--json` the collector's answer.
pub fn show(comparison: &Comparison, json: &[u8], arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    stdout::write(|out| match arguments.json {
        true => {
            out.write_all(json.trim_ascii_end())?;
            writeln!(out)
        }
        false => write_table(out, comparison, arguments),
    })
}

fn is_told(function: &ComparedFunction) -> bool {
    matches!(function.self_time.verdict, Verdict::Slower | Verdict::Faster)
}

fn write_table(out: &mut impl Write, comparison: &Comparison, arguments: &DiffArguments) -> io::Result<()> {
    let told = comparison.functions.iter().filter(|function| is_told(function)).count();
    let wanted = || comparison.functions.iter().filter(|function| arguments.all || is_told(function));
    for (number, function) in wanted().take(arguments.top).enumerate() {
        if number == 0 {
            let heading = format!(
                "{:>10} {:>10} {:>24} {:>8}  self time per session",
                "base", "new", "change (95 % interval)", "p-value"
            );
            writeln!(out, "{}", Colors::for_stdout().heading(heading))?;
        }
        write_row(out, function)?;
    }
    let more = wanted().count().saturating_sub(arguments.top);
    if more > 0 {
        writeln!(out, "{:>10} and {more} more", "...")?;
    }
    let too_few = |function: &ComparedFunction| function.self_time.verdict == Verdict::TooFewSessions;
    if comparison.tested == 0 && comparison.functions.iter().any(too_few) {
        writeln!(out, "there are too few sessions to compare")?;
    } else if told == 0 {
        writeln!(out, "no function changed significantly")?;
    }
    let extent = |side: &Side| {
        format!(
            "{} profiles of {} sessions, busy for {:.1} ms each",
            side.profiles, side.sessions, side.busy_time
        )
    };
    writeln!(out, "base: {}", extent(&comparison.base))?;
    writeln!(out, "new: {}", extent(&comparison.new))?;
    writeln!(out, "{} functions were tested by the collector", comparison.tested)
}

fn write_row(out: &mut impl Write, function: &ComparedFunction) -> io::Result<()> {
    let time = &function.self_time;
    let interval = time.difference_interval.map(|(low, high)| format!(" ({low:+.1} to {high:+.1})"));
    let change = format!("{:+.1}{}", time.difference, interval.unwrap_or_default());
    let p = time.probability.map_or(String::new(), |p| format!("{p:.4}"));
    let name = if function.name.is_empty() { "(anonymous)" } else { &function.name };
    let verdict = match time.verdict {
        Verdict::Slower => "slower: ",
        Verdict::Faster => "faster: ",
        Verdict::NoEvidence | Verdict::TooFewSessions => "",
    };
    let file = function.resource.as_deref().unwrap_or_default();
    let line = format!(
        "{:>7.1} ms {:>7.1} ms {change:>24} {p:>8}  {verdict}{}  {}",
        time.base,
        time.new,
        printable(name),
        printable(file)
    );
    writeln!(out, "{}", line.trim_end())
}
