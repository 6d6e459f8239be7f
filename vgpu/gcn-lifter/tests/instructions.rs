//! Single instructions with random numbers: what the interpreter writes, compiled code writes, to the bit. The lines are the
//! interpreter's and those of `instructions.txt`; what is not lifted `instructions-refused.txt` tells.

#[path = "../../gcn-interpreter/tests/support/cases.rs"]
#[allow(dead_code, reason = "the interpreter's own test knows the results")]
mod cases;
mod launched;
mod memory;
#[path = "../../gcn-interpreter/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use cases::Case;
use gangway_code_object::CodeObject;
use gangway_commands::Folder;
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::launch;
use memory::DeviceMemory;
use support::{Device, Size};

/// With all lanes of a wave, and with some of them.
const SIZES: [u32; 2] = [64, 40];
const LANES: usize = 64;
/// Words for each lane, from and to.
const FROM: usize = 8;
const TO: usize = 4;

/// Numbers of every kind of the formats, and random ones.
fn numbers(count: usize, mut seed: u64) -> Vec<u32> {
    const EDGES: [u32; 24] = [
        0,
        1,
        u32::MAX,
        0x8000_0000,
        0x7fff_ffff,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x0080_0000,
        0x007f_ffff,
        0x8000_0001,
        0x7f7f_ffff,
        0x4b00_0000,
        0x3ff0_0000,
        0x7ff0_0000,
        0xfff0_0000,
        0x3c00_bc00,
        0x7c00_fc00,
        0x0400_03ff,
        0x7bff_0001,
        0x8000_3c00,
        0x0000_001f,
        0x0001_ffff,
    ];
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    };
    (0..count)
        .map(|_| match next() % 8 {
            0..3 => EDGES[next() as usize % EDGES.len()],
            3 => next() >> (next() & 31),
            // Of single precision, and of halves, around 1.
            4 => (next() % 0x0800_0000 + 0x3c00_0000) | next() & 0x8000_0000,
            5 => next() & 0x8fff_8fff | 0x3000_3000,
            _ => next(),
        })
        .collect()
}

/// Whether results are the same but for the bits of NaN, of which the engine keeps no more than that it is one.
fn are_same(expected: &[u32], found: &[u32]) -> bool {
    let single = |(expected, found): (&u32, &u32)| {
        let half = |shift: u32| {
            let (expected, found) = (expected >> shift & 0xffff, found >> shift & 0xffff);
            expected == found || expected & 0x7fff > 0x7c00 && found == 0x7e00
        };
        expected & 0x7fff_ffff > 0x7f80_0000 && *found == 0x7fc0_0000 || half(0) && half(16)
    };
    let double = |words: &[u32]| u64::from(words[1]) << 32 | u64::from(words[0]);
    let first = double(found) == 0x7ff8 << 48 && double(expected) & u64::MAX >> 1 > 0x7ff0 << 48;
    let rest = if first { 2 } else { 0 };
    expected[rest..].iter().zip(&found[rest..]).all(single)
}

/// What differs, or why it is not lifted.
enum Outcome {
    Same,
    Differs(String),
    Refused(String),
}

fn compare(gpu: Gpu, object: &CodeObject<'_>, number: usize, lanes: u32, near: bool) -> Outcome {
    let device = Device::new(gpu, DeviceMemory::new(), object);
    let mut from = numbers(FROM * LANES, 0x1234_5678_9abc_def1 + number as u64);
    // No signalling NaN: the engine takes them for quiet ones.
    for at in 0..from.len() {
        for shift in [0, 16] {
            if from[at] >> shift & 0x7fff > 0x7c00 {
                from[at] |= 1 << (shift + 9);
            }
        }
        if from[at] & 0x7fff_ffff > 0x7f80_0000 {
            from[at] |= 1 << 22;
        }
        let is_infinity = at % 2 == 1 && from[at] & 0xf_ffff == 0 && from[at - 1] == 0;
        if from[at] & 0x7ff0_0000 == 0x7ff0_0000 && !is_infinity {
            from[at] |= 1 << 19;
        }
    }
    let size = Size { grid: [lanes, 1, 1], group: [64, 1, 1], shared: 0, private: 0 };
    let bytes: Vec<u8> = from.iter().flat_map(|word| word.to_le_bytes()).collect();
    let from = device.buffer(&bytes);
    let to = [0; 2].map(|byte| device.buffer(&vec![byte; 4 * TO * LANES]));
    let kernel = format!("t{number}");
    let dispatch = device.dispatch(object, &kernel, size, &[from, to[0]]);
    if let Err(fault) = launch(&device.memory, &dispatch, &AtomicBool::new(false)) {
        return Outcome::Refused(format!("the interpreter: {fault}"));
    }
    let dispatch = device.dispatch(object, &kernel, size, &[from, to[1]]);
    match launched::compiled(gpu, &device, object, &kernel, &dispatch, gangway_gcn_lifter::Apart::Nobodys) {
        Ok(()) => {}
        Err(launched::Error::Refused(refusal)) => return Outcome::Refused(refusal.what),
        Err(launched::Error::Failed(what)) => return Outcome::Differs(what),
    }
    let [expected, found] = to.map(|to| {
        let bytes = device.read(to, 4 * TO * LANES);
        let words = bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        words.collect::<Vec<u32>>()
    });
    for (lane, (expected, found)) in expected.chunks(TO).zip(found.chunks(TO)).enumerate() {
        // Logarithms and powers of two are approximations: to a unit of the last place.
        let is_near = near && expected[0].abs_diff(found[0]) <= 1 && expected[1..] == found[1..];
        if !is_near && !are_same(expected, found) {
            let from = &bytes[4 * FROM * lane..4 * FROM * (lane + 1)];
            let from = from.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
            return Outcome::Differs(format!(
                "lane {lane}: {found:x?}, the interpreter {expected:x?}, of {:x?}",
                from.collect::<Vec<u32>>()
            ));
        }
    }
    Outcome::Same
}

/// Runs the lines of a processor: what differs, and what is refused.
fn run(gpu: Gpu, refused: &mut BTreeMap<String, String>) -> Vec<String> {
    let texts =
        [include_str!("../../gcn-interpreter/tests/instructions.txt"), include_str!("instructions.txt")];
    let cases: Vec<Case> = texts.into_iter().flat_map(cases::read).collect();
    let cases: Vec<&Case> = cases.iter().filter(|case| case.is_for(gpu)).collect();
    let folder = Folder::new();
    folder.write("cases.s", cases::source(gpu, &cases));
    let image = support::compile(gpu, "-O0", &folder.join("cases.s"), &[]).expect("the assembler takes them");
    let object = CodeObject::read(&image).expect("a code object");
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let near =
            case.code.iter().any(|line| line.starts_with("v_log_f32") || line.starts_with("v_exp_f32"));
        let all_on = case.code.iter().any(|line| line.starts_with("s_mov_b64 exec"));
        for lanes in SIZES {
            // Nothing is said of lanes that have no work-item.
            if all_on && lanes < 64 {
                continue;
            }
            match compare(gpu, &object, number, lanes, near) {
                Outcome::Same => {}
                Outcome::Differs(what) => wrong.push(format!("{gpu} {}: {what}", case.code.join("; "))),
                Outcome::Refused(what) => {
                    refused.insert(format!("{gpu} {}", case.code.join(" ; ")), what);
                }
            }
        }
    }
    wrong
}

#[test]
fn as_the_interpreter() {
    if !support::is_possible() {
        return;
    }
    let (mut refused, mut wrong) = (BTreeMap::new(), Vec::new());
    for gpu in [Gpu::Gfx900, Gpu::Gfx90a, Gpu::Gfx942] {
        wrong.extend(run(gpu, &mut refused));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let text: String = refused.iter().map(|(line, what)| format!("{line}: {what}\n")).collect();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions-refused.txt");
    gangway_commands::golden(&golden, &text);
}
