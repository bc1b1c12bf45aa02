//! Marks with a recommended name.

/// A mark with a name that a specification recommends, so that reports can show its meaning.
///
/// The first four are from the [draft of 2012]; [User Timing Level 3] kept two of them and added the last. Its
/// `mark_feature_usage` is not included, because it marks the use of a feature rather than a point in the load.
///
/// [draft of 2012]: https://www.w3.org/TR/2012/WD-user-timing-20120508/
/// [User Timing Level 3]: https://w3c.github.io/user-timing/#recommended-mark-names
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecommendedMark {
    /// The page is considered fully loaded.
    FullyLoaded,
    /// The page is considered fully visible to its user.
    FullyVisible,
    /// Everything above the fold has been presented.
    AboveTheFold,
    /// The user has scrolled or clicked for the first time.
    TimeToUserAction,
    /// The page is considered interactive to its user.
    Interactive,
}

impl RecommendedMark {
    /// Every recommended mark.
    pub const ALL: [Self; 5] = [
        Self::FullyLoaded,
        Self::FullyVisible,
        Self::AboveTheFold,
        Self::TimeToUserAction,
        Self::Interactive,
    ];

    /// The recommended mark with this name, if any.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.name() == name)
    }

    /// The recommended name.
    pub fn name(self) -> &'static str {
        match self {
            Self::FullyLoaded => "mark_fully_loaded",
            Self::FullyVisible => "mark_fully_visible",
            Self::AboveTheFold => "mark_above_the_fold",
            Self::TimeToUserAction => "mark_time_to_user_action",
            Self::Interactive => "mark_interactive",
        }
    }

    /// The meaning in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::FullyLoaded => "fully loaded",
            Self::FullyVisible => "fully visible",
            Self::AboveTheFold => "above the fold presented",
            Self::TimeToUserAction => "first user action",
            Self::Interactive => "interactive",
        }
    }
}
