//! AMD's code objects: what is read is sound.
#![no_main]

use gangway_code_object::CodeObject;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(read) = CodeObject::read(data) else { return };
    for kernel in &read.kernels {
        assert!(read.code_at(kernel.entry).is_some_and(|code| code.len() >= 4));
        let said = read.said(kernel);
        assert!(said.arguments.iter().all(|it| it.offset + it.size <= said.kernarg_segment_size));
    }
    for relocation in &read.relocations {
        assert!(relocation.symbol.is_none_or(|symbol| symbol < read.symbols.len()));
        assert!(read.segments.iter().any(|it| it.contains(relocation.address, relocation.kind.size())));
    }
});
