//! Random divisions of all units into two groups of the sizes of the releases.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Which units are in the smaller group, for each division.
pub struct Draws {
    size: usize,
    members: Vec<u32>,
}

impl Draws {
    /// `count` divisions of `units` units. The same numbers give the same divisions.
    pub fn new(count: usize, units: usize, size: usize) -> Self {
        let mut generator = Pcg64Mcg::seed_from_u64(0x73_65_6c_66_70_72_6f_66);
        let mut order: Vec<u32> = (0..u32::try_from(units).unwrap_or(u32::MAX)).collect();
        let mut members = Vec::with_capacity(count.saturating_mul(size));
        for _ in 0..count {
            members.extend_from_slice(order.partial_shuffle(&mut generator, size).0);
        }
        Self { size, members }
    }

    /// Given divisions, each with a group of `size` units.
    #[cfg(test)]
    pub fn of(size: usize, members: Vec<u32>) -> Self {
        Self { size, members }
    }

    /// The smaller group of each division.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.members.chunks_exact(self.size.max(1))
    }

    pub fn len(&self) -> usize {
        self.iter().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_groups_of_different_units() {
        let draws = Draws::new(1000, 7, 3);
        assert_eq!(draws.len(), 1000);
        let mut counts = [0; 7];
        for group in draws.iter() {
            let mut group = group.to_vec();
            group.sort_unstable();
            group.dedup();
            assert_eq!(group.len(), 3);
            group.iter().for_each(|&unit| counts[unit as usize] += 1);
        }
        // Each is in 3 of 7 groups: 429 of 1000, with a standard deviation of 16.
        assert!(counts.iter().all(|count| (365..=493).contains(count)), "{counts:?}");
    }

    /// The generator and the shuffle are part of the result: other versions of them must not change it unnoticed.
    #[test]
    fn the_first_draws() {
        let draws = Draws::new(3, 10, 5);
        let groups: Vec<&[u32]> = draws.iter().collect();
        assert_eq!(groups, [[5, 0, 9, 4, 1], [8, 0, 7, 3, 6], [9, 8, 4, 7, 2]]);
    }
}
