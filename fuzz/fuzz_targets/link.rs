//! Images of any kind; and PTX modules, which a form feed separates, linked into one
//! that reads back as the same.
#![no_main]

use gangway_linker::{container, link, load, read, recognise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(error) = recognise(data, 90) {
        assert!(!error.message.is_empty());
    }
    let mut inputs = Vec::new();
    for (index, part) in data.split(|&byte| byte == b'\x0c').take(8).enumerate() {
        // Every other module is like an archive's member.
        let on_demand = index % 2 == 1;
        let modules = read("input", part, 90).unwrap_or_default().into_iter();
        inputs.extend(modules.map(|input| if on_demand { input.on_demand() } else { input }));
    }
    match link(inputs) {
        Ok(module) => {
            let image = container::pack(module.clone());
            // The second time it is parsed.
            for _ in 0..2 {
                match load("image", &image, 90) {
                    Ok(again) => assert_eq!(again.to_string(), module.to_string()),
                    Err(error) => panic!("does not read back: {error}\n{module}"),
                }
            }
        }
        Err(errors) => assert!(!errors.0.is_empty() && !errors.to_string().is_empty()),
    }
});
