//! Constants: kernels read them and cannot write them, whatever the instruction and the engine.

mod bench;

use bench::{Bench, options};
use gangway_device_memory::Space;
use gangway_engine::{Checks, Execution, Options, Reason};

/// A small constant, which shares its pages with others, and one with pages of its own.
const CONSTANTS: &str = "
    .const .align 16 .b8 first[20];
    .const .align 16 .b8 small[512] = {11, 12, 13, 14};
    .const .align 16 .b8 large[16384] = {21};
";

/// Each writes to the generic address `%c`, which is aligned to 16 bytes.
const WRITES: &[&str] = &[
    "st.u8 [%c], %x;",
    "st.u16 [%c], %h;",
    "st.u32 [%c], %x;",
    "st.u64 [%c], %c;",
    "st.f32 [%c], %f;",
    "st.f64 [%c], %d;",
    "st.v2.u32 [%c], {%x, %x};",
    "st.v4.u32 [%c], {%x, %x, %x, %x};",
    "st.v2.u64 [%c], {%c, %c};",
    "st.v4.u8 [%c], {%x, %x, %x, %x};",
    "st.volatile.u32 [%c], %x;",
    "st.release.gpu.u32 [%c], %x;",
    "st.global.u32 [%c], %x;",
    "atom.add.u32 %x, [%c], 1;",
    "atom.global.add.u64 %c, [%c], 1;",
    "atom.exch.b32 %x, [%c], 7;",
    "atom.cas.b32 %x, [%c], 0, 7;",
    "atom.cas.b64 %c, [%c], 0, 7;",
    "atom.cas.b16 %h, [%c], %h, %h;",
    "atom.add.f32 %f, [%c], %f;",
    "atom.add.f64 %d, [%c], %d;",
    "atom.max.s32 %x, [%c], %x;",
    "red.add.u32 [%c], 1;",
    "red.or.b32 [%c], %x;",
    "red.global.add.u64 [%c], 1;",
];

/// Where the lanes write: all to one place, next to each other, and scattered.
const PLACES: &[&str] =
    &["mov.u64 %o, 0;", "mul.wide.u32 %o, %i, 16;", "xor.b32 %x, %i, 21; mul.wide.u32 %o, %x, 16;"];

fn text(constant: &str, place: &str, write: &str) -> String {
    format!(
        "{CONSTANTS} .visible .entry k(.param .u64 buffer) {{
            .reg .u64 %c, %o; .reg .u32 %x, %i; .reg .u16 %h; .reg .f32 %f; .reg .f64 %d;
            mov.u32 %i, %tid.x; mov.u32 %x, 5; mov.u16 %h, 5; mov.f32 %f, 0f40a00000; mov.f64 %d, 0d4014000000000000;
            mov.u64 %c, {constant}; cvta.const.u64 %c, %c;
            {place} add.u64 %c, %c, %o;
            {write} ret; }}"
    )
}

fn engines() -> [(&'static str, Options); 3] {
    [
        ("compiled", options()),
        ("checked", Options { checks: Checks::MEMORY, ..options() }),
        ("interpreted", Options { execution: Execution::Interpreted, ..options() }),
    ]
}

/// The address and the content of a constant, as the host sees it.
fn content(bench: &Bench, name: &str) -> (u64, Vec<u8>) {
    let global = bench.program.global(name).expect("the constant");
    let mut bytes = vec![0; global.size as usize];
    // SAFETY: the program has it for as long as it is loaded.
    unsafe { Space::get().and_then(|space| space.read(global.address, &mut bytes)) }.expect("memory");
    (global.address, bytes)
}

#[test]
fn no_instruction_writes_a_constant() {
    for (engine, options) in engines() {
        for &write in WRITES {
            for (number, place) in PLACES.iter().enumerate() {
                let constant = ["small", "large"][number % 2];
                let bench = Bench::new(options.clone(), &text(constant, place, write));
                let (address, before) = content(&bench, constant);
                for threads in [1, 32] {
                    let fault = bench.launch(1, [threads, 1, 1], false).expect_err(write);
                    assert_eq!(fault.reason, Reason::IllegalAddress, "{engine}, {write}: {fault}");
                    let report = fault.to_string();
                    let named = report.contains("in a constant, which kernels cannot write")
                        && report.contains(&format!("{address:#x}")[..8]);
                    assert!(named, "{engine}, {write}: {report}");
                }
                assert_eq!(
                    content(&bench, constant).1,
                    before,
                    "{engine}, {write}, {threads} threads",
                    threads = 32
                );
            }
        }
    }
}

#[test]
fn the_host_writes_constants_while_kernels_cannot() {
    let read = "ld.u32 %x, [%c]; ld.param.u64 %c, [buffer]; st.global.u32 [%c], %x;";
    for (engine, options) in engines() {
        for constant in ["small", "large"] {
            let bench = Bench::new(options.clone(), &text(constant, PLACES[0], read));
            let (address, _) = content(&bench, constant);
            let space = Space::get().expect("memory");
            for value in [3_u32, 4] {
                // SAFETY: the program has it for as long as it is loaded.
                unsafe { space.write(address, &value.to_le_bytes()) }.expect("memory");
                bench.launch(1, [32, 1, 1], false).expect("no fault");
                assert_eq!(bench.words()[0], value, "{engine}, {constant}");
            }
            // SAFETY: as above.
            unsafe { space.fill(address, 9, 4) }.expect("memory");
            bench.launch(1, [1, 1, 1], false).expect("no fault");
            assert_eq!(bench.words()[0], 0x0909_0909, "{engine}, {constant}");
        }
    }
}
