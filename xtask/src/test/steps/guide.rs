//! The guide in docs/.

use crate::docs;
use crate::job::{Log, Output};
use crate::progress::Activity;
use crate::test::step::Context;
use anyhow::Result;

/// Builds the site.
pub fn build(context: &Context, log: &Log, activity: &Activity) -> Result<String> {
    docs::build(&context.checkout, &Output::Logged(log, activity))?;
    Ok(String::new())
}
