//! The native addon of the npm package `selfprof`.
//!
//! JavaScript calls the functions in [`api`] and [`pages`] and the class in [`timing`]; the npm package builds the
//! WebIDL-exact classes on them. Behind those:
//!
//! * [`agent`]: one agent per JS thread, with its profiling sessions and its V8 sampler;
//! * [`building_thread`]: one thread per process, which reads V8's profiles and builds traces from them;
//! * [`alarm`]: one thread per process, which interrupts a JS thread when something is due there;
//! * [`signals`]: one thread per process, which ends streamed recordings before a signal ends the process;
//! * [`recorder_connection`]: one thread per process, which ends streamed recordings when their recorder no longer
//!   wants them;
//! * [`own_thread`]: how these threads are started;
//! * [`threads`]: the registry of all JS threads, for profiling all of them at once;
//! * [`pages`]: what the pages of `@selfprof/page` need, such as their realms and what a session of a realm may show;
//! * [`entries`]: marks and measures, collected for a trace;
//! * [`journal`]: recordings that are streamed to a file, for `selfprof run` and `selfprof attach`;
//! * [`label_sets`]: what the labels of samples stand for;
//! * [`life_sign`]: how an exporter knows that this process lives;
//! * [`script_maps`]: which source maps such a recording has and wants;
//! * [`output`]: what JavaScript receives of a recording;
//! * [`thread_usage`]: what the system says of a thread;
//! * [`session_request`] and [`agent_key`]: the values that the modules above exchange.
//!
//! Modules depend on one another in one direction; a module that declares others does nothing else.
//!
//! Which thread touches what: an agent belongs to its JS thread. A recording is behind a lock, and the building thread
//! appends to it. A V8 profile is read by the building thread and deleted by its JS thread. No thread waits for a JS
//! thread, except the signal thread and the one of the recorder connection, which wait for a limited time.

mod agent;
mod agent_key;
mod alarm;
mod api;
mod building_thread;
mod entries;
mod journal;
mod label_sets;
mod life_sign;
mod output;
mod own_thread;
mod pages;
mod recorder_connection;
mod script_maps;
mod session_request;
mod signals;
mod thread_usage;
mod threads;
mod timing;
