//! Functions of Node.js's own scripts, as people see them.

use selfprof_formats::Thread;

use crate::arguments::NodeFrames;
use crate::failure::Failure;

/// Folds them if that is wanted.
pub fn apply(how: NodeFrames, threads: &mut [Thread]) -> Result<(), Failure> {
    if how == NodeFrames::Full {
        return Ok(());
    }
    for thread in threads {
        let folded = thread.trace.fold_node_frames();
        folded.map_err(|error| Failure::job("cannot fold the functions of Node.js").because(&error))?;
    }
    Ok(())
}
