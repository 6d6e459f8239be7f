//! A device image as a program registers it.
#![no_main]

use gangway_image::{ImageKind, bitcode, details, needed_libraries, recognise, search_paths};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let kind = recognise(data);
    if let Ok(ImageKind::Elf(elf)) = kind {
        let _ = (elf.processor(), elf.check_loadable_here());
    }
    match details(data) {
        // What has details has been recognised.
        Ok(_) => assert!(kind.is_ok()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = bitcode::triple(data);
    let _ = (needed_libraries(data), search_paths(data));
});
