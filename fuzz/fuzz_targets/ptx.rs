//! PTX modules: what is accepted prints as text that reads back as the same module.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| match gangway_ptx::parse_bytes(data) {
    Ok(module) => {
        let printed = module.to_string();
        match gangway_ptx::parse(&printed) {
            Ok(again) => assert!(again == module, "reads back as another module:\n{printed}"),
            Err(errors) => panic!("does not read back: {errors}\n{printed}"),
        }
    }
    Err(errors) => {
        assert!(!errors.0.is_empty());
        assert!(errors.0.iter().all(|error| error.line > 0 && error.column > 0));
        let _ = errors.to_string();
    }
});
