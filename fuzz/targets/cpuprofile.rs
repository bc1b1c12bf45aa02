//! Fuzzes `selfprof_fuzz::cpuprofile`.

#![forbid(unsafe_code)]
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| selfprof_fuzz::cpuprofile(input));
