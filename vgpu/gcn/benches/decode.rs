//! How fast code is decoded.
//!
//! `cargo bench -p gangway-gcn`. Wanted: at least 20 MB/s.

use std::path::Path;
use std::process::Command;

use divan::Bencher;
use divan::counter::BytesCount;
use gangway_gcn::{Decoder, Gpu};
use object::{Object, ObjectSection};

fn main() {
    divan::main();
}

/// What clang makes of the tests' sources; none without the compiler.
fn code() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut code = Vec::new();
    for source in ["arithmetic", "memory", "matrix"] {
        let object = folder.path().join(source);
        let built = Command::new("clang-22")
            .args(["--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-w", "-O2", "-c", "-o"])
            .arg(&object)
            .arg(sources.join(source).with_extension("c"))
            .status();
        if !built.is_ok_and(|status| status.success()) {
            eprintln!("clang-22 is not installed: nothing to measure");
            return Vec::new();
        }
        let data = std::fs::read(&object).expect("the object file");
        let file = object::File::parse(&*data).expect("an ELF file");
        code.extend_from_slice(file.section_by_name(".text").expect("code").data().expect("code"));
    }
    code
}

fn each(code: &[u8], mut with: impl FnMut(&gangway_gcn::Instruction)) -> usize {
    let decoder = Decoder::of(Gpu::Gfx90a);
    let (mut rest, mut count) = (code, 0);
    while !rest.is_empty() {
        let size = match decoder.decode(rest) {
            Ok(instruction) => {
                with(&instruction);
                count += 1;
                usize::from(instruction.size)
            }
            Err(_) => 4,
        };
        rest = &rest[size.min(rest.len())..];
    }
    count
}

#[divan::bench]
fn decode(bencher: Bencher) {
    let code = code();
    bencher.counter(BytesCount::new(code.len())).bench(|| each(&code, |_| {}));
}

#[divan::bench]
fn decode_and_print(bencher: Bencher) {
    let code = code();
    bencher.counter(BytesCount::new(code.len())).bench(|| {
        let mut length = 0;
        each(&code, |instruction| length += instruction.to_string().len());
        length
    });
}
