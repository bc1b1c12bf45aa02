//! Source maps, and sources that functions are named by.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selfprof_source_maps::{Comments, Map, apply};
use selfprof_trace::{Frame, Trace};

fuzz_target!(|input: &[u8]| {
    let _ = std::str::from_utf8(input).map(Comments::of);
    let Ok(map) = Map::read(input) else { return };
    let mut trace = Trace::new();
    let (Ok(name), Ok(resource)) = (trace.name("a"), trace.resource("file:///a.js")) else { return };
    for line in 1..4_u32 {
        for column in 1..40_u32 {
            let (line, column) = (line.try_into().ok(), column.try_into().ok());
            let _ = trace.frame(Frame { name, resource: Some(resource), line, column });
        }
    }
    let mapped = apply(&trace, |_| Some(&map));
    assert!(mapped.is_ok_and(|(_, counts)| counts.placed == trace.frames().len()));
});
