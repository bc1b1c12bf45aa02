//! What the pages of `@selfprof/page` need of V8. The recording of programs uses nothing of it.

mod hooks;
mod scripts;
mod structured_clone;

pub use hooks::{
    HostFunctions, ScriptMuting, host_pages, muted_exception, muted_rejection, noting_apply,
    run_promise_jobs, settle_import,
};
pub use scripts::{Module, ModuleHolder, Script, ScriptError, Source, on_import_meta};
pub use structured_clone::{CloneReader, CloneWriter};
