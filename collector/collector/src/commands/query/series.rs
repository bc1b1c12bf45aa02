//! Times over a period, in a terminal.

use std::io::{self, Write};

use super::shown;
use crate::answers::series::{PointAnswer, SeriesAnswer};

/// From no time to the most.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A character for each hour or day; one without sessions is a space.
fn bars(times: &[f64], points: &[PointAnswer]) -> String {
    let means: Vec<Option<f64>> = times
        .iter()
        .zip(points)
        .map(|(time, point)| (point.sessions > 0).then(|| time / point.sessions as f64))
        .collect();
    let most = means.iter().flatten().copied().fold(0.0, f64::max);
    let bar = |mean: f64| {
        let height = if most > 0.0 { mean / most * (BARS.len() - 1) as f64 } else { 0.0 };
        BARS[(height.round() as usize).min(BARS.len() - 1)]
    };
    means.into_iter().map(|mean| mean.map_or(' ', bar)).collect()
}

pub fn write_series(out: &mut impl Write, answer: &SeriesAnswer) -> io::Result<()> {
    let time = |point: &PointAnswer| {
        let time = chrono::DateTime::from_timestamp_millis(point.time as i64).unwrap_or_default();
        time.format(if answer.step == "hour" { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d" }).to_string()
    };
    let (Some(first), Some(last)) = (answer.points.first(), answer.points.last()) else {
        return writeln!(out, "the period has no {}s", answer.step);
    };
    let sessions = answer.sessions.max(1) as f64;
    let busy: Vec<f64> = answer.points.iter().map(|point| point.busy.time).collect();
    let width = answer.points.len().max(4);
    let row = |out: &mut dyn Write, times: &[f64], name: &str| {
        let mean = times.iter().sum::<f64>() / sessions;
        writeln!(out, "{mean:>9.2} ms  {:width$}  {name}", bars(times, &answer.points))
    };
    writeln!(out, "{:>12}  {:width$}  function, self time per session", "mean", "time")?;
    row(out, &busy, "(everything)")?;
    for function in &answer.functions {
        row(out, &function.self_time, &shown(&function.function))?;
    }
    writeln!(
        out,
        "\na column for each {} from {} to {} (UTC), as high as the mean of its sessions; each row has its own scale\n\
         {} profiles of {} sessions",
        answer.step,
        time(first),
        time(last),
        answer.profiles,
        answer.sessions,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::Tally;

    #[test]
    fn bars_are_as_high_as_means_of_sessions() {
        let point = |sessions| PointAnswer { time: 0.0, profiles: 0, sessions, busy: Tally { time: 0.0 } };
        assert_eq!(bars(&[0.0, 10.0, 20.0, 0.0], &[point(0), point(1), point(1), point(1)]), " ▅█▁");
        // Twice the sessions need twice the time.
        assert_eq!(bars(&[10.0, 20.0], &[point(1), point(2)]), "██");
        assert_eq!(bars(&[0.0], &[point(1)]), "▁");
    }
}
