//! Times as text.

/// Seconds since 1970 in UTC, such as `20261123T134500Z`.
pub fn compact_time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// The year, month and day of a day since 1970: <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
fn date(days: u64) -> (u64, u64, u64) {
    // Of the era of 400 years that begins on the 1st of March of the year 0.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc() {
        assert_eq!(compact_time(0), "19700101T000000Z");
        assert_eq!(compact_time(951_827_696), "20000229T123456Z");
        assert_eq!(compact_time(1_795_441_500), "20261123T134500Z");
        assert_eq!(compact_time(4_102_444_799), "20991231T235959Z");
    }
}
