//! What the instrumented code records.

use selfprof_instrument::{Calls, Goal, Instrumented, Names, Options, Problem, instrument, instrument_calls};

use crate::arguments::{InstrumentArguments, InstrumentMode};
use crate::failure::Failure;

use super::function_patterns::FunctionPatterns;
use super::workers::STACK_BYTES;

/// What the calls around the parser need of the stack.
const STACK_OF_OTHERS: usize = 256 << 10;

/// Functions with fewer statements are not sampled, unless the command line says another number.
const MIN_STATEMENTS: u32 = 4;

/// What the instrumented code records, and of which functions.
#[derive(Debug)]
pub enum Mode {
    /// Samples.
    Sample { min_statements: u32 },
    /// Calls of functions whose names match; of all functions if there is no pattern.
    Trace { functions: Option<FunctionPatterns> },
}

impl Mode {
    pub fn of(arguments: &InstrumentArguments) -> Result<Self, Failure> {
        match arguments.mode {
            InstrumentMode::Sample if !arguments.functions.is_empty() => {
                Err(Failure::usage("`--functions` is for `--mode trace`")
                    .hint("`--include` and `--exclude` choose scripts"))
            }
            InstrumentMode::Sample => {
                Ok(Self::Sample { min_statements: arguments.min_statements.unwrap_or(MIN_STATEMENTS) })
            }
            InstrumentMode::Trace if arguments.min_statements.is_some() => {
                Err(Failure::usage("`--min-statements` is for `--mode sample`")
                    .hint("`--functions GLOB` chooses functions by their names"))
            }
            InstrumentMode::Trace => {
                let patterns = Some(&arguments.functions).filter(|patterns| !patterns.is_empty());
                Ok(Self::Trace {
                    functions: patterns.map(|patterns| FunctionPatterns::new(patterns)).transpose()?,
                })
            }
        }
    }

    pub fn is_trace(&self) -> bool {
        matches!(self, Self::Trace { .. })
    }

    /// The patterns that no function had a name for, so far.
    pub fn unmatched_patterns(&self) -> Vec<String> {
        match self {
            Self::Trace { functions: Some(patterns) } => patterns.unmatched(),
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
            Self::Sample { min_statements } => {
                instrument(source, &Options { min_statements: *min_statements, ..options })
            }
            Self::Trace { functions } => {
                let is_chosen = |name: &str| functions.as_ref().is_none_or(|patterns| patterns.choose(name));
                instrument_calls(source, &options, &Calls { first_id, is_chosen: &is_chosen })
            }
        }
    }
}
