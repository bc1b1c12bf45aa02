//! `selfprof-collector`: takes in profiles from pages and programs, keeps them, and says where their time goes.
//!
//! Data goes to stdout, messages to stderr. The exit code is 0, 1 if a function is slower and that was asked for, or 2
//! if the command failed.

#![forbid(unsafe_code)]

mod alerts;
mod answers;
mod arguments;
mod commands;
mod config;
mod otlp;
mod sentry;
mod server;
mod upkeep;
mod upload;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// Plans of queries are nested deeply.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build();
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        runtime.block_on(async {
            match arguments.command {
                Command::Serve(arguments) => commands::serve::serve(arguments).await,
                Command::Query(arguments) => commands::query::query(arguments).await,
                Command::Import(arguments) => commands::import::import(arguments).await,
                Command::Maps(arguments) => commands::maps::maps(arguments).await,
                Command::Delete(arguments) => commands::delete::delete(arguments).await,
                Command::Engine(arguments) => commands::engine::engine(arguments).await,
            }
        })
    });
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
