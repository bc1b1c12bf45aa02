//! The native addon of the npm package `selfprof`.
//!
//! JavaScript sees a handful of functions ([`face`]); `npm/` builds the WebIDL-exact classes on them. Behind the face:
//!
//! * [`agent`]: one agent a JS thread, with its group of sessions and its V8 sampler; never leaves that thread;
//! * [`builder`]: one thread a process, which reads V8's profiles and builds traces from them;
//! * [`alarm`]: one thread a process, which gets a JS thread's attention when its group has something due;
//! * [`realms`]: pages, and what a session of one sees;
//! * [`scripts`]: their scripts, compiled so that it is known whose they are;
//! * [`hosting`]: threads that run scripts of pages, which nobody trusts;
//! * [`chunks`]: full buffers on their way to a program that takes them one by one;
//! * [`entries`]: marks and measures, on their way from JavaScript to those who record;
//! * [`journal`]: recordings that are streamed to a file, for `selfprof run`;
//! * [`product`]: what JavaScript is given of a finished recording;
//! * [`signals`]: ends streamed recordings before a signal ends the process;
//! * [`threads`]: all threads of the process, profiled as one;
//! * [`timing`]: the timelines behind `performance.mark()` and `measure()`, each of one JS thread.
//!
//! Which thread touches what: an agent belongs to its JS thread. A recording is behind a lock; the building thread
//! appends to it. A V8 profile is read by the building thread and deleted by its JS thread. Threads never wait for a JS
//! thread, except the signal thread, and that with a time limit.

mod agent;
mod alarm;
mod builder;
mod chunks;
mod entries;
mod face;
mod hosting;
mod journal;
mod locks;
mod product;
mod realms;
mod scripts;
mod signals;
mod threads;
mod timing;
