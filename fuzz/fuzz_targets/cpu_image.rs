//! An image on its way to the system's loader: the CPU back end's own checks, and
//! the symbols that a crash report reads of what has passed them.
#![no_main]

use gangway_cpu::image_checks::{check, recognises, symbol_at};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match check(data) {
        Ok(extent) => {
            assert!(recognises(data));
            assert!(extent.start <= extent.end);
            let middle = extent.start + (extent.end - extent.start) / 2;
            for address in [0, extent.start, middle, extent.end.wrapping_sub(1), u64::MAX] {
                if let Some((name, into)) = symbol_at(data, address) {
                    assert!(name.len() < data.len() && into <= address);
                }
            }
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
});
