//! Durations of spans in a terminal.

use std::io::{self, Write};

use super::shown;
use crate::answers::spans::{SlowSpansAnswer, SpansAnswer};

pub fn write_spans(out: &mut impl Write, answer: &SpansAnswer, top: usize) -> io::Result<()> {
    if answer.spans.is_empty() {
        return writeln!(out, "the profiles have no measures, long tasks, long frames or slow interactions");
    }
    writeln!(
        out,
        "{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}  span",
        "times", "sessions", "p50", "p75", "p90", "p95", "p99"
    )?;
    for span in answer.spans.iter().take(top) {
        write!(out, "{:>8.0} {:>8}", span.times, span.sessions)?;
        for time in [span.p50, span.p75, span.p90, span.p95, span.p99] {
            write!(out, " {time:>7.1} ms")?;
        }
        writeln!(out, "  {}", plain(&span.name))?;
    }
    writeln!(out, "\neach span counts as often as its profile stands for: 1 / rate times")
}

pub fn write_slow(out: &mut impl Write, answer: &SlowSpansAnswer) -> io::Result<()> {
    let SlowSpansAnswer { slow, rest, .. } = answer;
    let name = plain(&answer.span);
    writeln!(
        out,
        "slow: {} of {name} that took {:.1} ms or longer, {:.1} ms each, busy for {:.1} ms",
        slow.spans, answer.limit, slow.duration, slow.busy_time
    )?;
    writeln!(
        out,
        "rest: {} that took less, {:.1} ms each, busy for {:.1} ms\n",
        rest.spans, rest.duration, rest.busy_time
    )?;
    writeln!(out, "{:>10} {:>10} {:>10}  function, self time per span", "slow", "rest", "more")?;
    for row in &answer.functions {
        let (slow, rest) = (row.slow.self_time, row.rest.self_time);
        writeln!(out, "{slow:>7.1} ms {rest:>7.1} ms {:>+7.1} ms  {}", slow - rest, shown(&row.function))?;
    }
    writeln!(out, "\n{} of the {} profiles with {name} were read", answer.read, answer.profiles)?;
    if answer.cut > 0 {
        writeln!(out, "{} spans that began before the recording or ended after it are left out", answer.cut)?;
    }
    Ok(())
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}
