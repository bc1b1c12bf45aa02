//! Instrumenting texts, for samples or for calls.

use selfprof_instrument::{Calls, Goal, Instrumented, Names, Options, Problem, instrument, instrument_calls};

use crate::error::SiteError;
use crate::options::Mode;
use crate::workers::STACK_BYTES;

use super::function_patterns::FunctionPatterns;

/// What the calls around the parser need of the stack.
const STACK_OF_OTHERS: usize = 256 << 10;

/// Instruments texts.
#[derive(Debug)]
pub enum Instrumenter {
    /// For samples.
    Sampling { min_statements: u32 },
    /// For calls of functions whose names match; of all functions if there is no pattern.
    Tracing { functions: Option<FunctionPatterns> },
}

impl Instrumenter {
    pub fn new(mode: &Mode) -> Result<Self, SiteError> {
        Ok(match mode {
            &Mode::Sample { min_statements } => Self::Sampling { min_statements },
            Mode::Trace { functions } => {
                let patterns = Some(functions).filter(|patterns| !patterns.is_empty());
                Self::Tracing {
                    functions: patterns.map(|patterns| FunctionPatterns::new(patterns)).transpose()?,
                }
            }
        })
    }

    /// The patterns that no function had a name for, so far.
    pub fn unmatched_patterns(&self) -> Vec<String> {
        match self {
            Self::Tracing { functions: Some(patterns) } => patterns.unmatched(),
            _ => Vec::new(),
        }
    }

    /// Instruments a text, whose functions have numbers from `first_id` on.
    pub fn instrument(
        &self,
        source: &str,
        goal: Goal,
        names: &Names,
        first_id: u32,
    ) -> Result<Instrumented, Problem> {
        let options = Options {
            goal,
            names: names.clone(),
            has_fallback: true,
            stack_bytes: STACK_BYTES - STACK_OF_OTHERS,
            ..Options::default()
        };
        match self {
            Self::Sampling { min_statements } => {
                instrument(source, &Options { min_statements: *min_statements, ..options })
            }
            Self::Tracing { functions } => {
                let is_chosen = |name: &str| functions.as_ref().is_none_or(|patterns| patterns.choose(name));
                instrument_calls(source, &options, &Calls { first_id, is_chosen: &is_chosen })
            }
        }
    }
}
