//! `selfprof-collector query`

mod coverage;
mod series;
mod spans;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::client::Client;
use crate::answers::profiles::ProfilesAnswer;
use crate::answers::{
    ChangeAnswer, DiffAnswer, FlameGraphAnswer, FunctionName, FunctionsAnswer, NodeAnswer, VerdictAnswer,
};
use crate::arguments::{Moment, QueryArguments, Question, now};

/// Runs the command.
pub async fn query(arguments: QueryArguments) -> Result<ExitCode> {
    let text = ask(&arguments).await?;
    let out = &mut io::stdout().lock();
    let mut code = ExitCode::SUCCESS;
    let answer = "the collector's answer";
    let written = match arguments.what {
        Question::Diff => {
            let diff: DiffAnswer = serde_json::from_str(&text).context(answer)?;
            // A slip in a condition must not pass for two equal releases.
            for (name, side) in [("base", &diff.base), ("new", &diff.new)] {
                if side.profiles == 0 {
                    bail!("no profile meets the condition of --{name}; `query profiles` lists the profiles");
                }
            }
            warn_of_minified(&diff);
            if arguments.fail_on_regression && slower(&diff).next().is_some() {
                code = ExitCode::FAILURE;
            }
            if arguments.json { writeln!(out, "{}", text.trim_end()) } else { write_diff(out, &diff) }
        }
        _ if arguments.json => writeln!(out, "{}", text.trim_end()),
        Question::Functions => write_functions(out, &serde_json::from_str(&text).context(answer)?),
        Question::Series => series::write_series(out, &serde_json::from_str(&text).context(answer)?),
        Question::Spans if arguments.span.is_some() => {
            spans::write_slow(out, &serde_json::from_str(&text).context(answer)?)
        }
        Question::Spans => {
            spans::write_spans(out, &serde_json::from_str(&text).context(answer)?, arguments.top)
        }
        Question::Coverage => coverage::write_coverage(out, &serde_json::from_str(&text).context(answer)?),
        Question::Profiles => write_profiles(out, &serde_json::from_str(&text).context(answer)?),
        Question::Flamegraph => {
            write_flame_graph(out, &serde_json::from_str(&text).context(answer)?, arguments.top)
        }
    };
    match written {
        // `head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(code),
        written => Ok(written.map(|()| code)?),
    }
}

/// The functions whose own code is slower.
fn slower(diff: &DiffAnswer) -> impl Iterator<Item = &ChangeAnswer> {
    diff.functions.iter().filter(|row| row.self_time.verdict == VerdictAnswer::Slower)
}

/// Says which releases have no source maps, because their functions then cannot be matched.
fn warn_of_minified(diff: &DiffAnswer) {
    for one in diff.base.minified.iter().chain(&diff.new.minified) {
        let release = if one.release.is_empty() { "profiles without a release" } else { &one.release };
        let maps = if one.has_maps { "no source map for their scripts" } else { "no source maps" };
        eprintln!(
            "warning: {release}: {} of {} functions have minified names and there are {maps}, so functions of the two sides may be \
             matched wrongly\n\nhint: selfprof-collector maps upload --app APP --release RELEASE DIR\n",
            one.minified, one.functions
        );
    }
}

fn write_diff(out: &mut impl Write, diff: &DiffAnswer) -> io::Result<()> {
    let told = diff
        .functions
        .iter()
        .filter(|row| matches!(row.self_time.verdict, VerdictAnswer::Slower | VerdictAnswer::Faster));
    let mut count = 0;
    for row in told {
        if count == 0 {
            writeln!(
                out,
                "{:>9} {:>9} {:>23} {:>8}  function, self time per session",
                "base", "new", "change (95% interval)", "p"
            )?;
        }
        count += 1;
        let time = &row.self_time;
        let interval = time.difference_interval.map(|(low, high)| format!(" ({low:+.1} to {high:+.1})"));
        let change = format!("{:+.1}{}", time.difference, interval.unwrap_or_default());
        let p = time.probability.map_or(String::new(), |p| format!("{p:.3}"));
        let verdict = if time.verdict == VerdictAnswer::Slower { "slower" } else { "faster" };
        let function =
            FunctionName { name: row.name.clone(), resource: row.resource.clone(), line: None, column: None };
        writeln!(
            out,
            "{:>6.1} ms {:>6.1} ms {change:>23} {p:>8}  {verdict}: {}",
            time.base,
            time.new,
            shown(&function)
        )?;
    }
    let too_few = diff.functions.iter().any(|row| row.self_time.verdict == VerdictAnswer::TooFewSessions);
    match count {
        0 if diff.tested == 0 && too_few => {
            writeln!(out, "there are too few sessions to compare")?;
        }
        0 => writeln!(out, "no function is slower or faster than chance explains")?,
        _ => writeln!(out)?,
    }
    for (name, side) in [("base", &diff.base), ("new", &diff.new)] {
        writeln!(
            out,
            "{name}: {} profiles of {} sessions, busy for {:.1} ms each",
            side.profiles, side.sessions, side.busy_time
        )?;
    }
    writeln!(
        out,
        "{} functions were tested; p is the probability of any such difference by chance",
        diff.tested
    )
}

async fn ask(arguments: &QueryArguments) -> Result<String> {
    let path = match arguments.what {
        Question::Functions => "/api/v1/functions",
        Question::Flamegraph => "/api/v1/flamegraph",
        Question::Series => "/api/v1/series",
        Question::Spans if arguments.span.is_some() => "/api/v1/spans/slow",
        Question::Spans => "/api/v1/spans",
        Question::Profiles => "/api/v1/profiles",
        Question::Diff => "/api/v1/diff",
        Question::Coverage => "/api/v1/coverage",
    };
    let now = now();
    let time = |moment: Moment| {
        chrono::DateTime::from_timestamp_micros(moment.resolve(now))
            .map(|time| time.to_rfc3339())
            .unwrap_or_default()
    };
    let mut parameters = vec![
        ("app", arguments.app.clone()),
        ("from", time(arguments.from)),
        ("where", arguments.filter.clone()),
        ("top", arguments.top.to_string()),
    ];
    parameters.extend(arguments.order.map(|order| ("order", order.as_str().to_owned())));
    parameters.extend(arguments.span.clone().map(|span| ("span", span)));
    parameters.extend(arguments.step.map(|step| ("step", step.as_str().to_owned())));
    parameters.extend(arguments.to.map(|to| ("to", time(to))));
    parameters.extend(arguments.base.clone().map(|base| ("base", base)));
    parameters.extend(arguments.new.clone().map(|new| ("new", new)));
    Client::new(&arguments.collector).get(path, &parameters).await
}

fn write_functions(out: &mut impl Write, answer: &FunctionsAnswer) -> io::Result<()> {
    let sessions = answer.sessions.max(1) as f64;
    writeln!(out, "{:>12} {:>7} {:>12} {:>7}  function", "self/session", "self", "total/session", "total")?;
    let share = |time: f64| if answer.busy.time > 0.0 { 100.0 * time / answer.busy.time } else { 0.0 };
    for row in &answer.functions {
        writeln!(
            out,
            "{:>9.2} ms {:>6.1}% {:>10.2} ms {:>6.1}%  {}",
            row.self_time / sessions,
            share(row.self_time),
            row.total_time / sessions,
            share(row.total_time),
            shown(&row.function),
        )?;
    }
    writeln!(
        out,
        "\n{} profiles of {} sessions, {} samples; busy for {:.1} s, idle for {:.1} s",
        answer.profiles,
        answer.sessions,
        answer.samples,
        answer.busy.time / 1_000.0,
        answer.idle.time / 1_000.0,
    )
}

fn write_profiles(out: &mut impl Write, answer: &ProfilesAnswer) -> io::Result<()> {
    writeln!(
        out,
        "{:16} {:24} {:>8} {:>10} {:>10}  {:10} page",
        "id", "received", "samples", "duration", "busy", "release"
    )?;
    for profile in &answer.profiles {
        writeln!(
            out,
            "{:16} {:24} {:>8} {:>7.0} ms {:>7.0} ms  {:10} {}",
            profile.id,
            profile.time,
            profile.samples,
            profile.duration,
            profile.busy_time,
            profile.release,
            profile.page
        )?;
    }
    Ok(())
}

fn write_flame_graph(out: &mut impl Write, answer: &FlameGraphAnswer, top: usize) -> io::Result<()> {
    let mut children = vec![Vec::new(); answer.nodes.len()];
    let mut roots = Vec::new();
    for (index, node) in answer.nodes.iter().enumerate() {
        match node.parent {
            Some(parent) if parent < index => children[parent].push(index),
            _ => roots.push(index),
        }
    }
    let total = |&index: &usize| std::cmp::Reverse((answer.nodes[index].total_time * 1_000.0) as i64);
    roots.sort_by_key(total);
    let mut open: Vec<(usize, usize)> = roots.into_iter().rev().map(|root| (root, 0)).collect();
    let mut rows = 0;
    while let Some((index, depth)) = open.pop() {
        if rows == top {
            writeln!(out, "... (--top shows more)")?;
            break;
        }
        rows += 1;
        let NodeAnswer { function, total_time, .. } = answer.nodes[index];
        let name = answer.functions.get(function).map(shown).unwrap_or_default();
        writeln!(out, "{total_time:>10.1} ms {:indent$}{name}", "", indent = depth.min(60))?;
        children[index].sort_by_key(total);
        open.extend(children[index].iter().rev().map(|&child| (child, depth + 1)));
    }
    writeln!(out, "\n{} profiles of {} sessions", answer.profiles, answer.sessions)
}

fn shown(function: &FunctionName) -> String {
    let name = if function.name.is_empty() { "(anonymous)" } else { &function.name };
    let plain: String = name.chars().filter(|c| !c.is_control()).collect();
    match (&function.resource, function.line) {
        (Some(file), Some(line)) => format!("{plain}  {file}:{line}"),
        (Some(file), None) => format!("{plain}  {file}"),
        (None, _) => plain,
    }
}
