//! Statistics of a series of measurements.

/// The middle, the least and the greatest of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub median: f64,
    pub least: f64,
    pub greatest: f64,
}

/// Summarises a series, `None` when it is empty.
pub fn summary(series: &[f64]) -> Option<Summary> {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (least, greatest) = (*sorted.first()?, *sorted.last()?);
    let middle = sorted.len() / 2;
    let median = if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    };
    Some(Summary { median, least, greatest })
}

/// The ratios of two series that were measured in turns, round by round.
pub fn ratios(series: &[f64], reference: &[f64]) -> Vec<f64> {
    series.iter().zip(reference).map(|(value, reference)| value / reference).collect()
}

/// A number with three significant digits; from 100 on, without decimals.
pub fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 || size == 0.0 => 3,
        _ => 4,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[3.0, 1.0, 2.0]), Some(Summary { median: 2.0, least: 1.0, greatest: 3.0 }));
        assert_eq!(summary(&[4.0, 1.0]).map(|summary| summary.median), Some(2.5));
    }

    #[test]
    fn numbers_keep_three_digits() {
        for (value, expected) in
            [(1234.5, "1234"), (12.34, "12.3"), (1.234, "1.23"), (0.01234, "0.0123"), (0.0, "0.000")]
        {
            assert_eq!(number(value), expected);
        }
    }
}
