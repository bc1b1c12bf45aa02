//! Functions of Node.js's own scripts, folded into the function that the program called.

use crate::frame::Frame;
use crate::id::StackId;
use crate::intern_error::InternError;
use crate::sample::Sample;
use crate::stack::Stack;
use crate::trace::Trace;

/// What the URLs of Node.js's own scripts begin with.
const NODE: &str = "node:";

/// Whose call the innermost call of a stack is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// A script's, or nobody's.
    Author,
    /// A built-in function's, which no script of Node.js has called.
    BuiltIn,
    /// Node.js's, or a built-in function's that it has called.
    Node,
}

/// A stack after folding.
#[derive(Clone, Copy)]
struct Folded {
    stack: Option<StackId>,
    innermost: Caller,
    /// Whether no script has called anything in it.
    is_host_alone: bool,
}

impl Trace {
    /// Shows functions of Node.js's own scripts as built-in functions: of those that call each other, and the built-in
    /// functions that they call, only the one that the program has called remains, with a name but no script. Where no
    /// script has called one, the one that was running remains, and a function of a script that it calls has no caller.
    ///
    /// A recording in which they are folded already does not change.
    ///
    /// # Errors
    /// When a table is full. The samples then have the stacks that they had.
    pub fn fold_node_frames(&mut self) -> Result<(), InternError> {
        let Some(folded) = self.folded_stacks()? else { return Ok(()) };
        self.replace_stacks(&folded);
        *self = self.narrowed();
        Ok(())
    }

    /// For each stack, the one that [`fold_node_frames`](Self::fold_node_frames) replaces it by, which is in this
    /// trace, too. `None` if it would change nothing.
    ///
    /// # Errors
    /// When a table is full.
    pub fn folded_stacks(&mut self) -> Result<Option<Vec<Option<StackId>>>, InternError> {
        let is_node: Vec<bool> = self.resources().iter().map(|(_, url)| url.starts_with(NODE)).collect();
        if !is_node.contains(&true) {
            return Ok(None);
        }
        let stacks: Vec<Stack> = self.stacks().iter().map(|(_, stack)| stack).collect();
        let mut folded: Vec<Folded> = Vec::with_capacity(stacks.len());
        for stack in stacks {
            let nobody = Folded { stack: None, innermost: Caller::Author, is_host_alone: true };
            let caller = stack.parent.map_or(nobody, |parent| folded[parent.index()]);
            let frame = self.frames()[stack.frame];
            let callee = match frame.resource {
                Some(resource) if is_node[resource.index()] => Caller::Node,
                // No calls, but what runs or waits.
                None if self.is_gc(stack.frame) || self.is_waiting(stack.frame) => Caller::BuiltIn,
                None if caller.innermost == Caller::Node => Caller::Node,
                None => Caller::BuiltIn,
                Some(_) => Caller::Author,
            };
            folded.push(self.fold_call(caller, callee, frame)?);
        }
        Ok(Some(folded.into_iter().map(|folded| folded.stack).collect()))
    }

    /// Gives each sample the stack at the index of its stack.
    pub fn replace_stacks(&mut self, stacks: &[Option<StackId>]) {
        for index in 0..self.samples().len() {
            let Sample { stack, .. } = self.samples()[index];
            self.set_sample_stack(index, stack.and_then(|stack| *stacks.get(stack.index())?));
        }
    }

    fn fold_call(&mut self, caller: Folded, callee: Caller, frame: Frame) -> Result<Folded, InternError> {
        let is_first = caller.stack.is_none() && caller.innermost == Caller::Author;
        let is_of_host = caller.innermost != Caller::Author;
        // Where Node.js itself began, the functions around the one that is running only led there.
        let replaces = is_of_host && caller.is_host_alone;
        let parent = match callee {
            Caller::Node if self.names()[frame.name].is_empty() && caller.stack.is_some() => {
                return Ok(caller);
            }
            Caller::Node if is_of_host && !replaces => return Ok(Folded { innermost: callee, ..caller }),
            Caller::Node => caller.stack.filter(|_| !replaces),
            Caller::BuiltIn => caller.stack,
            Caller::Author => caller.stack.filter(|_| !(replaces && caller.innermost == Caller::Node)),
        };
        let frame = match callee {
            Caller::Node => Frame { resource: None, line: None, column: None, ..frame },
            Caller::BuiltIn | Caller::Author => frame,
        };
        let frame = self.frame(frame)?;
        let stack = Some(self.stack(Stack { parent, frame })?);
        let is_host_alone = callee != Caller::Author && (is_first || replaces);
        Ok(Folded { stack, innermost: callee, is_host_alone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micros::Micros;

    /// A trace with one sample of a stack: calls from the outermost to the innermost. `n.` begins functions of Node.js,
    /// `b.` built-in ones.
    fn trace(calls: &str) -> Trace {
        let mut trace = Trace::new();
        let mut stack = None;
        for call in calls.split_whitespace() {
            let (kind, text) = call.split_once('.').unwrap_or(("", call));
            let url = match kind {
                "n" => Some("node:internal/a"),
                "b" => None,
                _ => Some("/app/a.js"),
            };
            let name = trace.name(text).unwrap();
            let resource = url.map(|url| trace.resource(url).unwrap());
            let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
            stack = Some(trace.stack(Stack { parent: stack, frame }).unwrap());
        }
        trace.push_sample(Sample { timestamp: Micros(1), stack, marker: None });
        trace
    }

    fn spelled(trace: &Trace) -> String {
        let Some(stack) = trace.samples()[0].stack else { return String::new() };
        let frames = trace.path(stack).map(|frame| {
            let frame = trace.frames()[frame];
            let kind = if frame.resource.is_none() { "b." } else { "" };
            format!("{kind}{}", &trace.names()[frame.name])
        });
        let mut frames: Vec<String> = frames.collect();
        frames.reverse();
        frames.join(" ")
    }

    #[track_caller]
    fn check(calls: &str, expected: &str) {
        let mut trace = trace(calls);
        trace.fold_node_frames().unwrap();
        assert_eq!(spelled(&trace), expected, "{calls}");
        let once = format!("{trace:?}");
        trace.fold_node_frames().unwrap();
        assert_eq!(format!("{trace:?}"), once, "{calls}");
    }

    #[test]
    fn only_the_call_of_the_program_remains() {
        check("main n.end n.finish b.writev", "main b.end");
        check("main n. n.finish b.writev", "main b.finish");
        check("main n.", "main");
        check("main b.apply n.end b.writev", "main b.apply");
        check("main n.emit listener n.end b.writev", "main b.emit listener b.end");
        check("main n.emit b.apply listener", "main b.emit listener");
        check("main b.map callback b.parse", "main b.map callback b.parse");
        check("main n.end b.writev b.(waiting)", "main b.end b.(waiting)");
        check("n. b.(waiting)", "b. b.(waiting)");
    }

    #[test]
    fn what_was_running_remains_where_node_began() {
        check("n.processTimers n.listOnTimeout n.flush b.writev", "b.writev");
        check("n.processTimers n.listOnTimeout tick n.end", "tick b.end");
        check("n.processTimers n.", "b.processTimers");
        check("n.", "b.");
        check("b.apply n.run", "b.run");
        check("n.run b.apply main", "main");
        check("b.apply main", "b.apply main");
    }

    #[test]
    fn what_other_tools_recorded_does_not_change() {
        for calls in ["b.map b.parse", "main b.map b.parse", "b.run main b.a b.b", "main", ""] {
            check(calls, calls);
        }
    }
}
