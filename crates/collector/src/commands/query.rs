//! `selfprof-collector query`

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::answers::{FlameGraphAnswer, FunctionName, FunctionsAnswer, NodeAnswer};
use crate::arguments::{QueryArguments, Question, now};

/// Runs the command.
pub async fn query(arguments: QueryArguments) -> Result<ExitCode> {
    let text = ask(&arguments).await?;
    let out = &mut io::stdout().lock();
    let written = match arguments.what {
        _ if arguments.json => writeln!(out, "{}", text.trim_end()),
        Question::Functions => write_functions(out, &serde_json::from_str(&text).context("the collector's answer")?),
        Question::Flamegraph => {
            write_flame_graph(out, &serde_json::from_str(&text).context("the collector's answer")?, arguments.top)
        }
    };
    match written {
        // `head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => Ok(written.map(|()| ExitCode::SUCCESS)?),
    }
}

async fn ask(arguments: &QueryArguments) -> Result<String> {
    let name = match arguments.what {
        Question::Functions => "functions",
        Question::Flamegraph => "flamegraph",
    };
    let now = now();
    let time = |moment: crate::arguments::Moment| {
        chrono::DateTime::from_timestamp_micros(moment.resolve(now)).map(|time| time.to_rfc3339()).unwrap_or_default()
    };
    let url = format!("{}/api/v1/{name}", arguments.url.trim_end_matches('/'));
    let mut parameters = vec![
        ("app", arguments.app.clone()),
        ("from", time(arguments.from)),
        ("where", arguments.filter.clone()),
        ("top", arguments.top.to_string()),
    ];
    parameters.extend(arguments.to.map(|to| ("to", time(to))));
    let mut request = reqwest::Client::new().get(&url).query(&parameters);
    if let Some(token) = &arguments.token {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.with_context(|| {
        format!("{url} does not answer: start a collector with `selfprof-collector serve`, or name another one with --url")
    })?;
    let status = response.status();
    let text = response.text().await.context("the collector's answer ended early")?;
    if !status.is_success() {
        let error: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        bail!("{}", error["error"].as_str().unwrap_or(&format!("{url} answered {status}")));
    }
    Ok(text)
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
