//! `cargo xtask demo collector`: finds a slower function in profiles of two releases of a page.

use crate::checkout::Checkout;
use crate::collector::{self, BASE, NEW, Server};
use crate::job::{self, Log, Output};
use crate::pages;
use crate::problem::Problem;
use crate::progress::say;
use crate::tools;
use anyhow::{Context, Result};
use clap::Args;
use std::fs::{self, File};
use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::process::ExitCode;

/// Load real profiles of two releases of a shop page, and find the function that is slower in the new one.
///
/// Builds the collector, starts it on a free port of this machine with new data below target/demo, sends it the
/// profiles in fixtures/shop as pages do, uploads the source maps of both releases, and shows the functions of the new
/// release and what has changed. Fails if the collector does not name the function that was made slower, or names
/// another one.
///
/// On a terminal, the collector then keeps running until Ctrl-C, so that you can query it. Otherwise it is stopped.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {}

/// Runs the command.
pub fn run(_: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    tools::check()?;
    let program = collector::program(&checkout);
    say(collector::building(&checkout));
    pages::build_collector_page(&checkout, &Output::Shown)?;
    collector::build(&checkout, &Output::Shown)?;

    let folder = checkout.target().join("demo/collector");
    let _lock = lock(&folder)?;
    let data = folder.join("data");
    if data.exists() {
        fs::remove_dir_all(&data).with_context(|| format!("cannot delete {}", data.display()))?;
    }
    let log = Log::create(&folder, "collector")?;
    say(&format!("selfprof-collector serve --data {}", data.display()));
    let server = Server::start(&checkout, &data, &log)?;
    let shown = show(&server, &checkout);
    shown.with_context(|| format!("the demo failed; the collector's log is {}", log.path().display()))?;

    let stays = stdout().is_terminal();
    println!("\n{}", what_next(&program, server.url(), &data, stays));
    if stays {
        server.wait()?;
    } else {
        server.stop()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Locked as long as a demo uses the folder.
fn lock(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = folder.join("in-use");
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        return Err(Problem::error(
            format!("another demo uses {}", folder.display()),
            "press Ctrl-C in its terminal",
        ));
    }
    Ok(file)
}

fn show(server: &Server, checkout: &Checkout) -> Result<()> {
    say(&format!("sending the profiles in fixtures/shop to {}/v1/profiles", server.url()));
    collector::send_profiles(server, checkout, &Output::Shown)?;
    say("selfprof-collector maps upload");
    collector::upload_maps(server, checkout, &Output::Shown)?;

    let (base, new) = (format!("release = '{BASE}'"), format!("release = '{NEW}'"));
    say(&format!("selfprof-collector query functions --app shop --where \"{new}\""));
    let mut functions = server.client();
    functions.args(["query", "functions", "--app", "shop", "--top", "15", "--where", &new]);
    job::run(&mut functions, &Output::Shown).context("the functions could not be shown")?;

    say(&format!("selfprof-collector query diff --app shop --base \"{base}\" --new \"{new}\""));
    let mut difference = server.client();
    difference.args(["query", "diff", "--app", "shop", "--base", &base, "--new", &new]);
    job::run(&mut difference, &Output::Shown).context("the releases could not be compared")?;
    collector::check_difference(server)
}

/// What a user can do next.
fn what_next(program: &Path, url: &str, data: &Path, stays: bool) -> String {
    let program = program.display();
    let start = if stays {
        format!("The collector runs at {url} until Ctrl-C. Query it from another terminal:\n")
    } else {
        let address = url.trim_start_matches("http://");
        let serve = format!("{program} serve --data {} --listen {address}", data.display());
        format!(
            "The collector is stopped. Start it again, and query it from another terminal:\n\n  {serve}\n"
        )
    };
    format!(
        "{start}
  export SELFPROF_COLLECTOR={url}
  {program} query flamegraph --app shop --where \"span = 'checkout'\"
  {program} query functions --app shop --where \"page = '/cart' and span = '(long task)'\"
  curl '{url}/api/v1/functions?app=shop&top=5'

docs/collector.md says how your own pages send profiles, and lists the other queries."
    )
}
