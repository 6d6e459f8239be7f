//! A section of offload binaries, as it would lie in a program.
#![no_main]

use gangway_image::{contents, offload_binary, recognise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut last = None;
    for start in offload_binary::starts(data) {
        let Ok(start) = start else { break };
        assert!(last.is_none_or(|last| start > last), "no progress");
        last = Some(start);
        let rest = &data[start as usize..];
        for entry in offload_binary::entries(rest).unwrap_or_default() {
            assert!(rest[entry.offset as usize..].starts_with(entry.image));
            let _ = recognise(entry.image).map_err(|error| error.to_string());
        }
    }
    if let Ok(contents) = contents(data) {
        assert!(contents.images.iter().all(|image| image.size() <= data.len() as u64));
    }
});
