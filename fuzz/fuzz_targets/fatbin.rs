//! CUDA fat binaries and the PTX text in them.
#![no_main]

use gangway_image::{details, fatbin, ptx, recognise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(records) = fatbin::records(data) {
        let payload: usize = records.iter().map(|record| record.payload.len()).sum();
        assert!(payload <= data.len());
    }
    let module = ptx::module(data);
    assert!(module.kernels.len() + module.globals.len() <= data.len());
    let _ = (recognise(data).is_ok(), details(data).is_ok());
});
