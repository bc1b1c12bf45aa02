//! `selfprof-collector query coverage`

use std::io::{self, Write};

use selfprof_store::coverage::Coverage;

use crate::answers::coverage::{CoverageAnswer, CoverageGroup};

/// The heads of the columns.
fn head(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Native => "profiled",
        Coverage::Polyfill => "by polyfill",
        Coverage::NoApi => "no Profiler",
        Coverage::NotAllowed => "not allowed",
        Coverage::Failed => "failed",
    }
}

/// A table of browsers.
pub fn write_coverage(out: &mut impl Write, answer: &CoverageAnswer) -> io::Result<()> {
    write!(out, "{:>10}", "sessions")?;
    for coverage in Coverage::ALL {
        write!(out, " {:>11}", head(coverage))?;
    }
    writeln!(out, "  browser")?;
    for group in &answer.groups {
        write_row(out, group, if group.value.is_empty() { "(unknown)" } else { &group.value })?;
    }
    write_row(out, &answer.total, "all")?;
    writeln!(out, "\nof {} reports; each stands for 1 / rate sessions", answer.total.reports)
}

fn write_row(out: &mut impl Write, group: &CoverageGroup, name: &str) -> io::Result<()> {
    write!(out, "{:>10.0}", group.sessions)?;
    for coverage in Coverage::ALL {
        let share = match group.kinds.get(&coverage) {
            Some(sessions) if group.sessions > 0.0 => format!("{:.1}%", 100.0 * sessions / group.sessions),
            _ => String::new(),
        };
        write!(out, " {share:>11}")?;
    }
    let plain: String = name.chars().filter(|c| !c.is_control()).collect();
    writeln!(out, "  {plain}")
}
