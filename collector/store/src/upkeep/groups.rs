//! Which files are merged.

use crate::tables::DataFile;

/// How far files are merged.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest size of a merged file.
    pub bytes: u64,
    /// The most rows of a merged file. All of them are sorted at once.
    pub rows: u64,
    /// So many files of a size are merged while more may come.
    pub files: usize,
    /// Files of samples with this many rows get sums of their hours.
    pub summed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 128 << 20, rows: 16 << 20, files: 8, summed: 10_000 }
    }
}

/// Files that are merged with one another.
const MAX_FILES: usize = 1_000;

/// The groups of a partition's files to merge, each into one file.
///
/// While more files may come, those of about the same size are merged when there are enough of them. So each row is
/// written again only as often as the files have become some times larger. When no more come, all are merged that fit
/// into one file.
pub fn groups(files: &[DataFile], limits: &Limits, is_complete: bool) -> Vec<Vec<DataFile>> {
    let mut small: Vec<&DataFile> = files.iter().filter(|file| fits(limits, file.bytes, file.rows)).collect();
    if is_complete {
        small.sort_by_key(|file| (file.bytes, file.written));
    } else {
        let count = |class: u32| small.iter().filter(|file| size_class(file.bytes) <= class).count();
        let Some(class) = (0..=u64::BITS).find(|&class| count(class) >= limits.files.max(2)) else {
            return Vec::new();
        };
        small.retain(|file| size_class(file.bytes) <= class);
        small.sort_by_key(|file| file.written);
    }
    let mut groups: Vec<Vec<DataFile>> = Vec::new();
    let (mut bytes, mut rows) = (0, 0);
    for file in small {
        let is_full = bytes + file.bytes > limits.bytes || rows + file.rows > limits.rows;
        match groups.last_mut() {
            Some(group) if !is_full && group.len() < MAX_FILES => group.push(file.clone()),
            _ => {
                groups.push(vec![file.clone()]);
                (bytes, rows) = (0, 0);
            }
        }
        bytes += file.bytes;
        rows += file.rows;
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Whether two such files make one.
fn fits(limits: &Limits, bytes: u64, rows: u64) -> bool {
    bytes <= limits.bytes / 2 && rows <= limits.rows / 2
}

/// Files of one class differ in size by less than four times.
fn size_class(bytes: u64) -> u32 {
    (bytes >> 16).checked_ilog(4).map_or(0, |class| class + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Partition;

    fn files(sizes: &[u64]) -> Vec<DataFile> {
        let file = |(number, &kibibytes): (usize, &u64)| DataFile {
            path: number.to_string(),
            partition: Partition { app: "shop".into(), day: "2026-11-23".into() },
            bytes: kibibytes << 10,
            rows: kibibytes,
            written: number as i64,
        };
        sizes.iter().enumerate().map(file).collect()
    }

    #[track_caller]
    fn check(sizes: &[u64], is_complete: bool, expected: &[&[u64]]) {
        let limits = Limits { bytes: 4_096 << 10, rows: u64::MAX, files: 4, summed: 0 };
        let groups = groups(&files(sizes), &limits, is_complete);
        let groups: Vec<Vec<u64>> =
            groups.iter().map(|group| group.iter().map(|file| file.bytes >> 10).collect()).collect();
        assert_eq!(groups, expected);
    }

    #[test]
    fn files_of_about_the_same_size_are_merged() {
        check(&[], false, &[]);
        check(&[1, 1, 1], false, &[]);
        check(&[1, 2, 60, 3], false, &[&[1, 2, 60, 3]]);
        // The large ones wait for others.
        check(&[300, 1, 1, 1, 300, 1], false, &[&[1, 1, 1, 1]]);
        check(&[300, 1, 1, 300, 300, 1], false, &[&[300, 1, 1, 300, 300, 1]]);
        check(&[3_000, 1, 1, 3_000], false, &[]);
        check(&[2_000, 2_000, 2_000, 2_000], false, &[&[2_000, 2_000], &[2_000, 2_000]]);
    }

    #[test]
    fn when_no_more_come_all_are_merged_that_fit() {
        check(&[1], true, &[]);
        check(&[2_000, 1], true, &[&[1, 2_000]]);
        check(&[2_000, 2_000, 1, 4_000], true, &[&[1, 2_000, 2_000]]);
        check(&[1_500, 1_500, 1_500, 1_500], true, &[&[1_500, 1_500], &[1_500, 1_500]]);
        let limits = Limits { bytes: u64::MAX, rows: 25, files: 4, summed: 0 };
        assert_eq!(groups(&files(&[10; 5]), &limits, true).len(), 2);
    }
}
