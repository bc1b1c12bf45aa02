//! The command line.

mod parts;
mod period;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use selfprof_store::cluster::Cluster;
use selfprof_store::upkeep::Settings;

pub use parts::{EngineArguments, EngineCommand, ExecutorArguments, HostPort, SchedulerArguments};
pub use period::{Moment, keep, now};

/// Store, aggregate, compare and show profiles of JavaScript from pages and programs
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Serve(ServeArguments),
    Query(QueryArguments),
    Import(ImportArguments),
    Maps(MapsArguments),
    Delete(DeleteArguments),
    Engine(EngineArguments),
}

/// Accept profiles and answer queries, until SIGINT or SIGTERM
///
/// A page sends a profile with
/// `navigator.sendBeacon(url + '/v1/profiles', JSON.stringify({ app, release, page, session, trace }))`, in which
/// `trace` is what `profiler.stop()` returned. A profile is durable before it is acknowledged with 202: on the disk, or
/// with `--ack bucket` in the bucket.
///
/// In a browser, the same address shows slow functions, flame graphs, and comparisons of releases.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Where profiles are kept: a folder, or s3://BUCKET/PREFIX
    #[arg(long, default_value = "selfprof-data", value_name = "DIR|URL")]
    pub data: String,
    /// Where profiles are kept until they are in the tables: a folder on a disk [default: log in DIR]
    #[arg(long, value_name = "DIR")]
    pub log: Option<PathBuf>,
    /// When profiles are acknowledged with 202: when they are on the disk, or when they are in the bucket of --data
    #[arg(long, value_name = "WHERE", default_value = "disk")]
    pub ack: Ack,
    /// The address to listen on. Beyond loopback, a file of settings with keys is needed
    #[arg(long, default_value = "127.0.0.1:4319", value_name = "IP:PORT")]
    pub listen: SocketAddr,
    /// A TOML file of settings: applications with their keys, origins and rates, and the tokens for queries
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How long profiles are kept, such as 30d: older days are deleted. The file of settings may override it for single
    /// applications [default: forever]
    #[arg(long, value_name = "PERIOD", value_parser = keep)]
    pub keep: Option<Duration>,
    /// For tests: how often the tables' upkeep runs
    #[arg(long, hide = true, default_value = "1m", value_parser = humantime::parse_duration)]
    pub upkeep_every: Duration,
    /// For tests: how many files are merged
    #[arg(long, hide = true, default_value_t = Settings::default().limits.files)]
    pub upkeep_files: usize,
    /// For tests: how long the files are kept that were merged
    #[arg(long, hide = true, default_value = "1h", value_parser = humantime::parse_duration)]
    pub upkeep_keep: Duration,
    /// Let several machines answer queries: the scheduler that `selfprof-collector engine scheduler` has started
    #[arg(long, value_name = "df://HOST:PORT")]
    pub engine: Option<Cluster>,
}

/// Query a running collector
///
/// Examples:
///   selfprof-collector query functions --app shop --from -7d --where "release = '1.4' and page = '/cart'"
///   selfprof-collector query flamegraph --app shop --where "span = 'checkout'" --json
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct QueryArguments {
    /// What to show
    pub what: Question,
    /// The application
    #[arg(long)]
    pub app: String,
    /// From when: a period such as -7d or -90m, a day such as 2026-11-20, or a time such as 2026-11-20T08:00:00Z
    #[arg(long, default_value = "-7d", value_name = "TIME", allow_hyphen_values = true)]
    pub from: Moment,
    /// Until when [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<Moment>,
    /// Which profiles and samples. Columns: release, page, environment, browser, device, session, marker, span.
    /// Conditions: =, !=, in, like, and, or, not, parentheses
    #[arg(long = "where", value_name = "FILTER", default_value = "")]
    pub filter: String,
    /// How many rows to show
    #[arg(long, default_value_t = 20, value_name = "ROWS")]
    pub top: usize,
    /// With `series`: how the period is divided [default: hours up to three days, otherwise days]
    #[arg(long)]
    pub step: Option<Step>,
    /// With `spans`: what runs in the slowest tenth of the spans with this name, and in the others
    #[arg(long, value_name = "NAME")]
    pub span: Option<String>,
    /// With `profiles`: which come first [default: newest]
    #[arg(long)]
    pub order: Option<Order>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// With `diff`: which profiles are the old ones, for example "release = '1.3'"
    #[arg(long, value_name = "FILTER", required_if_eq("what", "diff"))]
    pub base: Option<String>,
    /// With `diff`: which profiles are the new ones
    #[arg(long, value_name = "FILTER", required_if_eq("what", "diff"))]
    pub new: Option<String>,
    /// With `diff`: exit with 1 if a function is slower
    #[arg(long)]
    pub fail_on_regression: bool,
    #[command(flatten)]
    pub collector: CollectorArguments,
}

/// The collector to query.
#[derive(Debug, Args)]
pub struct CollectorArguments {
    /// The collector
    #[arg(long, default_value = "http://127.0.0.1:4319", value_name = "URL", env = "SELFPROF_COLLECTOR")]
    pub url: String,
    /// The token for queries, if the collector needs one
    #[arg(long, env = "SELFPROF_COLLECTOR_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

/// Store source maps, so that answers have the original names of functions
///
/// A map is found by application, release and script: the URL of the script ends with the path of the script in the
/// folder. A map that is uploaded later also applies to stored profiles. Maps are never served.
#[derive(Debug, Args)]
pub struct MapsArguments {
    #[command(subcommand)]
    pub command: MapsCommand,
}

#[derive(Debug, Subcommand)]
pub enum MapsCommand {
    Upload(UploadArguments),
}

/// Upload all files in a folder whose names end in .map
#[derive(Debug, Args)]
pub struct UploadArguments {
    /// The folder
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The application
    #[arg(long)]
    pub app: String,
    /// The release
    #[arg(long)]
    pub release: String,
    #[command(flatten)]
    pub collector: CollectorArguments,
}

/// Delete all profiles of one session, for example because its user asks for it
///
/// They are gone from all files within ten minutes. Run this for each collector that writes to the same bucket.
#[derive(Debug, Args)]
pub struct DeleteArguments {
    /// The application
    #[arg(long)]
    pub app: String,
    /// The session, as its pages sent it
    #[arg(long, value_name = "NAME")]
    pub session: String,
    #[command(flatten)]
    pub collector: CollectorArguments,
}

/// Where profiles are when they are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ack {
    /// In the log, which must survive restarts
    Disk,
    /// In the tables, so that the log may be lost; a response takes about a second
    Bucket,
}

/// What a query returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Question {
    /// The functions by self time
    Functions,
    /// Which functions called which
    Flamegraph,
    /// The functions by self time, hour by hour or day by day
    Series,
    /// How long measures, long tasks, long frames and slow interactions are
    Spans,
    /// Single profiles
    Profiles,
    /// Which functions are slower or faster in one release than in another, with confidence intervals
    Diff,
    /// How many sessions are profiled, and why others are not, by browser
    Coverage,
}

/// Which profiles come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The most recently received
    Newest,
    /// The ones with the most busy time
    Longest,
    /// The ones whose busy time is nearest to the median
    Median,
}

impl Order {
    /// Its name in URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Longest => "longest",
            Self::Median => "median",
        }
    }
}

/// How a period is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    Hour,
    Day,
}

impl Step {
    /// Its name in URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
}

/// Add profiles from files to the data of a collector that is not running
///
/// Reads W3C traces, .cpuprofile files, pprof and OTLP profiles, and the lines of JSON that pages send, gzipped or not.
///
/// Profiles get the time at which they were recorded: --time, or else the member `time` of a line, or else the time in
/// the file (pprof, OTLP, and traces of selfprof), or else the time at which the file was last written. The clock of a
/// .cpuprofile has no date.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where profiles are kept: a folder, or s3://BUCKET/PREFIX
    #[arg(long, default_value = "selfprof-data", value_name = "DIR|URL")]
    pub data: String,
    /// The application, for files that do not name one
    #[arg(long)]
    pub app: Option<String>,
    /// The release, for files that do not name one
    #[arg(long)]
    pub release: Option<String>,
    /// The page, for files that do not name one
    #[arg(long)]
    pub page: Option<String>,
    /// When the profiles were recorded: a time such as 2026-11-20T08:00:00Z, a day, or a period such as -7d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub time: Option<Moment>,
}
