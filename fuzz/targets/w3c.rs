//! Fuzzes `selfprof_fuzz::w3c`.

#![forbid(unsafe_code)]
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| selfprof_fuzz::w3c(input));
