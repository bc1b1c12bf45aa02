//! Fuzzes `selfprof_fuzz::data_url`.

#![forbid(unsafe_code)]
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| selfprof_fuzz::data_url(input));
