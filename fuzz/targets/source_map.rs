//! Fuzzes `selfprof_fuzz::source_map`.

#![forbid(unsafe_code)]
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| selfprof_fuzz::source_map(input));
