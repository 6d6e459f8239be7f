//! AMD's machine code: any bytes are an instruction or a refusal, for every processor.
#![no_main]

use gangway_gcn::{Decoder, Gpu};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for gpu in Gpu::ALL {
        let mut rest = data;
        while let Ok(instruction) = Decoder::of(gpu).decode(rest) {
            let size = usize::from(instruction.size);
            assert!(matches!(size, 4 | 8) && size <= rest.len());
            assert!(instruction.to_string().starts_with(instruction.row.name));
            // It depends on no bytes but its own.
            assert_eq!(Decoder::of(gpu).decode(&rest[..size]), Ok(instruction));
            let _ = (instruction.to(), instruction.returns(), instruction.branch_target(0));
            rest = &rest[size..];
        }
    }
});
