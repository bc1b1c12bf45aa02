//! Fuzzes `selfprof_fuzz::chrome`.

#![forbid(unsafe_code)]
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| selfprof_fuzz::chrome(input));
