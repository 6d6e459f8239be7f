//! Single instructions with the values of AMD's description: `instructions.txt`.

#[path = "support/cases.rs"]
mod cases;
#[path = "support/interpreted.rs"]
mod interpreted;
mod support;

use std::fmt::Write as _;

use cases::Case;
use gangway_code_object::CodeObject;
use gangway_commands::Folder;
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::Flat;
use support::{Device, Size};

/// Runs the cases of a processor.
fn run(gpu: Gpu) {
    if !support::is_possible() {
        return;
    }
    let cases = cases::read(include_str!("instructions.txt"));
    let cases: Vec<&Case> = cases.iter().filter(|case| case.is_for(gpu)).collect();
    let folder = Folder::new();
    folder.write("cases.s", cases::source(gpu, &cases));
    let image = support::compile(gpu, "-O0", &folder.join("cases.s"), &[]).unwrap();
    let object = CodeObject::read(&image).unwrap();
    let device = Device::new(gpu, Flat::new(), &object);
    let mut wrong = String::new();
    for (number, case) in cases.iter().enumerate() {
        let mut words = case.from.clone();
        words.resize(8, 0);
        // Every lane gets the same.
        let bytes: Vec<u8> = (0..64).flat_map(|_| &words).flat_map(|word| word.to_le_bytes()).collect();
        let (from, to) = (device.buffer(&bytes), device.buffer(&[0; 16 * 64]));
        let size = Size { grid: [64, 1, 1], group: [64, 1, 1], shared: 0, private: 0 };
        let ended =
            interpreted::run(&device, &object, &format!("t{number}"), size, &[from, to], interpreted::LIMIT);
        let found: Vec<u32> =
            device.read(to, 16).as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let ended = ended.map_err(|fault| fault.to_string());
        if ended.is_err() || found[..case.to.len()] != case.to[..] {
            let _ =
                writeln!(wrong, "{}: {found:x?}, expected {:x?} {ended:?}", case.code.join("; "), case.to);
        }
    }
    assert!(wrong.is_empty(), "{gpu}:\n{wrong}");
}

#[test]
fn on_gfx900() {
    run(Gpu::Gfx900);
}

#[test]
fn on_gfx90a() {
    run(Gpu::Gfx90a);
}

#[test]
fn on_gfx942() {
    run(Gpu::Gfx942);
}
