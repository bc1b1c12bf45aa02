//! `selfprof-collector delete`

use std::process::ExitCode;

use anyhow::{Context, Result};

use super::client::Client;
use crate::answers::DeletedAnswer;
use crate::arguments::DeleteArguments;
use crate::config::check_app;

/// Runs the command.
pub async fn delete(arguments: DeleteArguments) -> Result<ExitCode> {
    check_app(&arguments.app)?;
    let parameters = [("app", arguments.app), ("session", arguments.session)];
    let text = Client::new(&arguments.collector).delete("/api/v1/sessions", &parameters).await?;
    let answer: DeletedAnswer = serde_json::from_str(&text).context("the collector's answer is not known")?;
    match answer.profiles {
        1 => println!("1 profile was deleted"),
        profiles => println!("{profiles} profiles were deleted"),
    }
    Ok(ExitCode::SUCCESS)
}
