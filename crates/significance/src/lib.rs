//! Is a function slower in one release than in another?
//!
//! Samples of one profile are not independent, and neither are profiles of one session: the session is the unit. For
//! each function, [`compare()`] takes the time in each session of two releases, and tells the mean of both, the
//! difference and the ratio with confidence intervals, a p-value that is corrected for the number of functions, and a
//! [`Verdict`].
//!
//! ```
//! use selfprof_significance::{FunctionIndex, SessionKey, Sessions, Settings, Verdict, compare};
//!
//! let release = |render_us: i64| {
//!     let mut sessions = Sessions::new();
//!     for key in 0..20 {
//!         let (render_us, parse_us) = (render_us + 100 * (key % 5), 700 + 40 * (key % 3));
//!         let times_us = [(FunctionIndex(0), render_us), (FunctionIndex(1), parse_us)];
//!         sessions.push(SessionKey(key as u128), render_us + parse_us, times_us);
//!     }
//!     sessions
//! };
//! let comparison = compare(&release(2000), &release(3000), &Settings::default());
//! let [render, parse] = &comparison.functions[..] else { panic!("two functions") };
//! assert_eq!(render.verdict, Verdict::Slower);
//! assert_eq!((render.base.mean_us, render.new.mean_us), (2200.0, 3200.0));
//! assert_eq!(parse.verdict, Verdict::NoEvidence);
//! ```
//!
//! # What is tested
//!
//! The hypothesis for a function is that the sessions of both releases have the same distribution of its time. Self
//! times and total times are tested by two calls, each with its own error rate.
//!
//! 1. Profiles of one session are added up. Sessions are put into the order of their keys.
//! 2. The longest 1% of all sessions of both releases together are scaled down to the longest of the rest. Otherwise, a
//!    single session that is 100 times slower hides what happened in all others.
//! 3. If each release has 512 sessions or more, blocks of them become the units, so that the smaller release has 256 to
//!    511 units. This bounds the cost. All blocks have the same size, so they are exchangeable if sessions are. Up to 1
//!    session in 256 fills no block and is left out.
//! 4. Functions are tested if their time is great enough for a change that is worth telling, and if they ran in enough
//!    sessions. Both depend on the sums of both releases together, and not on which session is of which release. That
//!    is why the choice does not change the error rate.
//! 5. The size of a change is the difference of means in standard errors: the greater one of Welch's and the one with a
//!    common variance.
//! 6. The units are divided 999 times (by default) at random into two groups of the sizes of the releases. The p-value
//!    is the part of all 1000 divisions, the data included, in which the greatest size among the functions is as great
//!    as that in the data, by Westfall and Young's step-down procedure.
//! 7. The confidence intervals use the same divisions: instead of quantiles of Student's t distribution, those of
//!    Welch's statistic in the divisions, separately for both sides; for ratios, by Fieller's method. They are for one
//!    function alone.
//! 8. A change is [`Slower`](Verdict::Slower) or [`Faster`](Verdict::Faster) if the p-value is at most 5%, if the
//!    interval does not contain 0, and if it is at least 5% of the function's time and 0.1% of the mean whole time of a
//!    session.
//!
//! The result is the same on each machine, to the last bit: the computation uses no function whose last digit depends
//! on the machine, sums are in a fixed order, and the generator has a fixed seed.
//!
//! # Why this method
//!
//! Divisions at random make the error rate exact for any distribution, any correlation between functions and any number
//! of sessions, provided that sessions are independent: if the releases are equal, the data are one more random
//! division. The other functions of a release may change without an effect on this, because of the step-down procedure.
//! The alternatives were measured with `examples/significance_methods.rs`: simulated sessions in which times are
//! lognormal and come in samples of 10 ms, functions of a feature run together, 1 in 12 functions runs in a session,
//! and one session is 100 times slower. How often a comparison of two random parts of one release with 400 functions
//! names any function, with an error rate of 5%:
//!
//! | sessions | comparisons | samples as units, Holm | Welch's t, Holm | bootstrap | this method |
//! |---|---|---|---|---|---|
//! | 20 and 20 | 2,000 | 100% | 0% | 0% | 4.5% |
//! | 20 and 100 | 1,000 | 100% | 2.3% | 0% | 4.8% |
//! | 100 and 100 | 2,000 | 100% | 0% | 0% | 5.4% |
//! | 1,000 and 50 | 600 | 100% | 100% | 0% | 5.7% |
//! | 1,000 and 1,000 | 400 | 100% | 0.2% | 0% | 4.8% |
//! | 10,000 and 200 | 100 | 100% | 100% | 0% | 1% |
//! | 10,000 and 10,000 | 100 | 100% | 0% | 0% | 3% |
//!
//! In more comparisons of this method, with 60 functions:
//!
//! | sessions | comparisons | this method | twice the standard error |
//! |---|---|---|---|
//! | 20 and 20 | 20,000 | 4.20% | 0.31% |
//! | 200 and 20 | 20,000 | 4.98% | 0.31% |
//! | 100 and 100 | 20,000 | 5.12% | 0.31% |
//! | 1,000 and 1,000 | 2,000 | 4.35% | 1.0% |
//! | 10,000 and 10,000 | 600 | 5.67% | 1.8% |
//!
//! All changes count as worth telling in these comparisons. The bootstrap draws sessions with replacement within each
//! release and compares Welch's statistic with the greatest among the functions in 199 draws; it ran in a tenth of the
//! comparisons. A rare function that is absent from a draw has no variance there, so the greatest statistic is huge.
//!
//! How often a change is found with 400 functions, in 100 comparisons (20 for 10,000 sessions), if one session is 100
//! times slower. A *frequent* function runs in 90% of the sessions, a *rare* one in 10%; each has 2% of the time, and
//! the standard deviation of the logarithm of its time is 1.5. The bootstrap found none of these in up to 100 sessions,
//! and no frequent function with twice the time in 1,000. The settings are the default ones.
//!
//! | sessions | function | change | Welch's t, Holm | without the limit | this method |
//! |---|---|---|---|---|---|
//! | 20 and 20 | frequent | × 2 | 0% | 0% | 0% |
//! | 100 and 100 | frequent | × 1.2 | 0% | 1% | 2% |
//! | 100 and 100 | frequent | × 2 | 0% | 3% | 8% |
//! | 100 and 100 | frequent | × 10 | 23% | 56% | 88% |
//! | 1,000 and 1,000 | frequent | × 1.2 | 0% | 2% | 3% |
//! | 1,000 and 1,000 | frequent | × 2 | 75% | 78% | 99% |
//! | 1,000 and 1,000 | rare | × 2 | 0% | 2% | 7% |
//! | 1,000 and 1,000 | rare | × 10 | 49% | 72% | 100% |
//! | 10,000 and 1,000 | frequent | × 1.2 | 0% | 10% | 10% |
//! | 10,000 and 1,000 | frequent | × 2 | 95% | 95% | 100% |
//! | 10,000 and 1,000 | rare | × 2 | 0% | 20% | 25% |
//! | 10,000 and 10,000 | frequent | × 1.2 | 55% | 55% | 80% |
//! | 10,000 and 10,000 | frequent | × 2 | 100% | 100% | 100% |
//! | 10,000 and 10,000 | rare | × 1.2 | 0% | 0% | 0% |
//! | 10,000 and 10,000 | rare | × 2 | 60% | 70% | 100% |
//!
//! How often the 95% intervals contain the true value, in 500 comparisons, without slow sessions and without the limit:
//!
//! | sessions | function | change | difference | ratio | ratio has an interval |
//! |---|---|---|---|---|---|
//! | 20 and 20 | frequent | none | 95.4% | 95.3% | 69% |
//! | 20 and 20 | frequent | × 2 | 87.2% | 92.6% | 67% |
//! | 100 and 100 | frequent | none | 96.0% | 95.8% | 100% |
//! | 100 and 100 | frequent | × 2 | 92.0% | 94.4% | 100% |
//! | 100 and 100 | rare | none | 94.8% | 93.9% | 56% |
//! | 100 and 100 | rare | × 2 | 81.0% | 96.3% | 53% |
//! | 1,000 and 50 | frequent | none | 94.8% | 94.8% | 100% |
//! | 1,000 and 50 | frequent | × 2 | 93.6% | 94.6% | 100% |
//! | 1,000 and 50 | rare | none | 96.0% | 97.0% | 61% |
//! | 1,000 and 50 | rare | × 2 | 79.4% | 93.0% | 54% |
//! | 1,000 and 1,000 | frequent | none | 95.0% | 94.8% | 100% |
//! | 1,000 and 1,000 | frequent | × 2 | 94.0% | 93.8% | 100% |
//! | 1,000 and 1,000 | rare | none | 94.6% | 94.6% | 100% |
//! | 1,000 and 1,000 | rare | × 2 | 91.0% | 93.8% | 100% |
//!
//! The ratio is measured where it has an interval. With the limit, its intervals are as good. A function without an
//! interval of the difference, because it ran in too few sessions, counts as a miss.
//!
//! Two releases of 10,000 sessions with 2,000 functions, of which about 160 run in a session, take 0.3 s of CPU time,
//! and
//! 0.5 s if all functions are worth a test; 100,000 sessions each take 2.0 to 2.3 s.
//!
//! # What it cannot tell
//!
//! - Why. Sessions of two releases differ in more than the release: devices, pages, users who update early, cold
//!   caches, the time of the day. Compare the same pages, browsers and days.
//! - Anything about small changes of rare functions in few sessions: see the table. [`Verdict::NoEvidence`] does not
//!   mean that nothing changed; the interval says what is possible. [`Verdict::TooFewSessions`] is only said when no
//!   outcome could be significant.
//! - Changes that concern the longest 1% of the sessions alone: they count, but not more than the limit.
//! - Whether other functions changed, if one becomes so slow that sessions get much longer: more sessions of that
//!   release are limited, and all functions in them are scaled down. With the changes of the table above, this does not
//!   matter: 4.9% of the 1,800 comparisons with up to 1,000 sessions named a function that did not change.
//! - Whether the means differ, if the distribution changed in another way. The error rate is exact if the distribution
//!   is the same; if the mean alone is the same, it is approximate, and good for many sessions only.
//! - The difference itself when few sessions have heavy-tailed times and the function changed much: the intervals of
//!   the difference are then too short, those of the ratio are not. See the table.
//! - Sessions that depend on each other, such as those of one user, or one session with both releases: they count as
//!   independent.

#![forbid(unsafe_code)]

mod compare;
mod comparison;
mod draws;
mod functions;
mod interval;
mod limit;
mod sessions;
mod settings;
mod statistic;
mod step_down;
mod units;

pub use compare::compare;
pub use comparison::{Comparison, FunctionComparison, FunctionTime, Interval, ReleaseSummary, Verdict};
pub use sessions::{FunctionIndex, SessionKey, Sessions};
pub use settings::Settings;
