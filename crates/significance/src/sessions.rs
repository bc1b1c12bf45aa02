//! The sessions of one release, as they are passed in.

/// Identifies a session: a hash of its id. Sessions are put into the order of their keys, so the order in which they
/// are passed in does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(pub u128);

/// The index of a function. Both releases must use the same index for the same function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionIndex(pub u32);

/// The sessions of one release, each with the times of the functions that ran in it.
///
/// Memory: 12 bytes for each time and 48 for each profile, and during a comparison up to 32 more for each time.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    profiles: Vec<Profile>,
    functions: Vec<FunctionIndex>,
    times_us: Vec<i64>,
}

#[derive(Clone, Debug)]
struct Profile {
    key: SessionKey,
    whole_us: i64,
    /// Where its times begin; they end where those of the next profile begin.
    start: usize,
    end: usize,
}

impl Sessions {
    /// No sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a session or a part of one: parts with the same key are added up, and so are times of the same function.
    ///
    /// `whole_us` is the whole time that was profiled, the sum of all self times; it is the same whether `times_us`
    /// holds self times or total times. Negative times count as 0.
    pub fn push(
        &mut self,
        key: SessionKey,
        whole_us: i64,
        times_us: impl IntoIterator<Item = (FunctionIndex, i64)>,
    ) {
        let start = self.functions.len();
        for (function, time_us) in times_us {
            if time_us > 0 {
                self.functions.push(function);
                self.times_us.push(time_us);
            }
        }
        self.profiles.push(Profile { key, whole_us: whole_us.max(0), start, end: self.functions.len() });
    }

    /// The sessions in the order of their keys, each once.
    pub(super) fn sorted(&self) -> SortedSessions {
        let mut order: Vec<&Profile> = self.profiles.iter().collect();
        order.sort_by_key(|profile| profile.key);
        let mut sorted = SortedSessions::default();
        sorted.times_us.reserve(self.times_us.len());
        let mut times_us: Vec<(FunctionIndex, i64)> = Vec::new();
        for parts in order.chunk_by(|a, b| a.key == b.key) {
            times_us.clear();
            for part in parts {
                let functions = &self.functions[part.start..part.end];
                times_us.extend(
                    functions.iter().copied().zip(self.times_us[part.start..part.end].iter().copied()),
                );
            }
            times_us.sort_unstable();
            for same in times_us.chunk_by(|a, b| a.0 == b.0) {
                sorted.times_us.push((same[0].0, saturating_sum(same.iter().map(|&(_, time_us)| time_us))));
            }
            sorted.wholes_us.push(saturating_sum(parts.iter().map(|part| part.whole_us)));
            sorted.ends.push(sorted.times_us.len());
        }
        sorted
    }
}

/// No term is negative, so the order does not matter.
fn saturating_sum(terms: impl Iterator<Item = i64>) -> i64 {
    terms.fold(0, i64::saturating_add)
}

/// The sessions of one release in the order of their keys, each with the positive times of its functions in the order
/// of their indices.
#[derive(Debug, Default)]
pub(super) struct SortedSessions {
    wholes_us: Vec<i64>,
    ends: Vec<usize>,
    times_us: Vec<(FunctionIndex, i64)>,
}

impl SortedSessions {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn wholes_us(&self) -> &[i64] {
        &self.wholes_us
    }

    /// All times of all sessions.
    pub fn all_times_us(&self) -> &[(FunctionIndex, i64)] {
        &self.times_us
    }

    /// The whole time of each session and the times of its functions.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &[(FunctionIndex, i64)])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, &end)| &self.times_us[start..end]);
        self.wholes_us.iter().copied().zip(ranges)
    }
}
