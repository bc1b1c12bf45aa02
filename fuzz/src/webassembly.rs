//! What pages may compile as WebAssembly.

use wasmparser::{Validator, WasmFeatures};

// It is in the addon, which only Node can load.
#[allow(dead_code)]
#[path = "../../crates/node/src/wasm_cost.rs"]
mod wasm_cost;

const LIMIT: u64 = 64 << 20;

/// A module of WebAssembly.
pub fn webassembly(input: &[u8]) {
    match wasm_cost::measure(input, LIMIT) {
        Ok(bytes) => {
            assert!(bytes >= input.len() as u64 && bytes <= LIMIT);
            let is_valid = Validator::new_with_features(WasmFeatures::all()).validate_all(input).is_ok();
            assert!(is_valid, "an invalid module was accepted");
            assert_eq!(wasm_cost::measure(input, u64::MAX).ok(), Some(bytes), "it depends on the limit");
        }
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
}
