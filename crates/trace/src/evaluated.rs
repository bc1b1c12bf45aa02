//! Scripts that `eval` and `new Function` made.

use crate::id::FrameId;
use crate::trace::Trace;

/// What stands for the resource of a script that `eval` or `new Function` made, which has no URL: `(eval 7)` for the
/// script with the engine's id 7.
///
/// A W3C trace has no such resource, so this is for recordings that people read.
pub fn evaluated_resource(script_id: u32) -> String {
    format!("(eval {script_id})")
}

/// The script's id in a resource that [`evaluated_resource`] has made.
pub fn evaluated_script(resource: &str) -> Option<u32> {
    let number = resource.strip_prefix("(eval ")?.strip_suffix(')')?;
    let is_canonical = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    number.parse().ok().filter(|_| is_canonical)
}

impl Trace {
    /// The id of the script that this function is in, if `eval` or `new Function` made it.
    pub fn evaluated_script(&self, frame: FrameId) -> Option<u32> {
        evaluated_script(&self.resources()[self.frames().get(frame)?.resource?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resources_of_evaluated_scripts_are_recognised() {
        #[track_caller]
        fn check(resource: &str, expected: Option<u32>) {
            assert_eq!(evaluated_script(resource), expected);
        }
        for id in [1, 10, u32::MAX] {
            check(&evaluated_resource(id), Some(id));
        }
        for other in
            ["", "(eval )", "(eval 0)", "(eval 01)", "(eval +1)", "(eval 4294967296)", "(eval 1) ", "eval 1"]
        {
            check(other, None);
        }
    }
}
