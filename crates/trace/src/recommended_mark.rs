//! The marks whose names mean something to everybody.

/// A mark that a specification recommends by name, so that reports know what it stands for.
///
/// The first four are those of the [draft of 2012]; [User Timing Level 3] kept two of them and added the last. Its
/// `mark_feature_usage` is not here: it tells what was used, not when something was reached.
///
/// [draft of 2012]: https://www.w3.org/TR/2012/WD-user-timing-20120508/
/// [User Timing Level 3]: https://w3c.github.io/user-timing/#recommended-mark-names
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecommendedMark {
    /// The page is considered fully loaded.
    FullyLoaded,
    /// The page is considered fully visible to its user.
    FullyVisible,
    /// All that the viewport shows at first has been presented.
    AboveTheFold,
    /// The user has acted for the first time, by a scroll or a click.
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

    /// What an entry of this name means, if it is a recommended one.
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

    /// What it means, for people.
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
