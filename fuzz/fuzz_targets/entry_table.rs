//! A host file with entry tables of clang or records of GCC.
#![no_main]

use gangway_image::{contents, details, entry};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(tables) = entry::tables(data) {
        let entries: usize = tables.iter().map(|table| table.entries.len()).sum();
        // Sections of a file may overlap, but each table is made of the file's bytes.
        assert!(entries <= tables.len() * data.len() / 32);
    }
    if let Ok(contents) = contents(data) {
        for image in &contents.images {
            for part in &image.parts {
                let _ = details(part);
            }
        }
    }
});
