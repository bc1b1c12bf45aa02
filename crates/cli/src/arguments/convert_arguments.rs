//! Arguments of `selfprof convert`.

use std::path::PathBuf;

use clap::Args;
use selfprof_formats::Format;

use super::label_arguments::LabelArguments;
use super::node_frames::NodeFramesArgument;
use super::source_maps::SourceMapArguments;
use super::values::formats;

/// Convert a profile to another format
///
/// The format of IN is detected from its content, and the format of OUT from its name. Problems in IN, and data that
/// the new format cannot hold, are reported on stderr. In all formats but w3c, anonymous functions have the inferred
/// names that `selfprof top` shows, with a star, e.g. `exports.run*`.
#[derive(Debug, Args)]
#[command(after_help = FORMATS_AND_EXAMPLES)]
pub struct ConvertArguments {
    /// The profile to read; may be gzipped; `-` reads stdin; or its URL, as for `selfprof top`
    #[arg(value_name = "IN")]
    pub input: PathBuf,

    /// The file to write; a name ending in `.gz` compresses it; `-` writes to stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,

    /// Read IN as this format instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = formats(&Format::READABLE))]
    pub from: Option<Format>,

    /// Write this format, whatever the name of OUT
    #[arg(long, value_name = "FORMAT", value_parser = formats(&Format::ALL))]
    pub to: Option<Format>,

    /// Write this thread only: its name as `selfprof top --by thread` prints it, e.g. `vite 4711`, or a process id
    ///
    /// A cpuprofile and collapsed stacks hold one thread; without this option, that is the busiest one.
    #[arg(long, value_name = "THREAD")]
    pub thread: Option<String>,

    #[command(flatten)]
    pub labels: LabelArguments,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    #[command(flatten)]
    pub node_frames: NodeFramesArgument,
}

const FORMATS_AND_EXAMPLES: &str = "\
Formats that selfprof reads and writes:
  w3c         .json              ProfilerTrace, the JSON of `await profiler.stop()`; also several, in a list or one per line
  cpuprofile  .cpuprofile        V8's CPU profile, for Chrome DevTools and VS Code; also from old versions
  chrome      .trace.json        Trace events: the Performance panel of Chrome DevTools, Perfetto, `--trace-events`
  firefox     .firefox.json      For profiler.firefox.com, with marks and measures; also what Firefox itself writes
  speedscope  .speedscope.json   For speedscope.app
  explainer   .explainer.json    The format of the API's explainer: performance.startProfiling()
  pprof       .pb.gz             For `go tool pprof` and continuous profilers
  otlp        .otlp              OpenTelemetry profiles (v1development of OTLP 1.10), binary

Formats that selfprof only writes:
  collapsed   .collapsed         Collapsed stacks for flame graphs, in microseconds

From trace events, selfprof reads the CPU profiles, or else the begin and end events. From pprof and OTLP profiles, it reads
wall time, or else CPU time. pprof does not record when a sample was taken, so samples are placed one after the other.

Every format shows the same self and total times as `selfprof top`.

Examples:
  selfprof convert app.selfprof.json -o app.cpuprofile
  selfprof convert CPU.20261121.cpuprofile -o cpu.speedscope.json
  selfprof convert trace.json.gz -o trace.pb.gz && go tool pprof -top trace.pb.gz
  selfprof convert https://example.com/trace.json -o - --to collapsed | flamegraph.pl > flame.svg";
