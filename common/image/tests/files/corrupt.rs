//! Broken input: a clear error at the right place, and never a panic.

use std::time::Instant;

use crate::support::Workshop;
use gangway_image::{Error, contents, details, offload_binary, recognise};

/// An offload binary of version 1 around `image`.
fn offload_binary(image: &[u8]) -> Vec<u8> {
    let strings = b"\0triple\0x86_64-pc-linux-gnu\0";
    let (entry, table, text) = (32u64, 72u64, 88u64);
    let start = (text + strings.len() as u64).next_multiple_of(8);
    let size = start + image.len() as u64;
    let mut out = offload_binary::MAGIC.to_vec();
    out.extend(1u32.to_le_bytes());
    out.extend([size, entry, 40].map(u64::to_le_bytes).concat());
    out.extend([1, 0, 1, 0, 0, 0, 0, 0]);
    out.extend([table, 1, start, image.len() as u64].map(u64::to_le_bytes).concat());
    out.extend([text + 1, text + 8].map(u64::to_le_bytes).concat());
    out.extend(strings);
    out.resize(start as usize, 0);
    out.extend(image);
    out
}

fn set(bytes: &[u8], at: usize, value: u64) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at..at + 8].copy_from_slice(&value.to_le_bytes());
    changed
}

#[test]
fn messages_say_what_and_where() {
    let sound = offload_binary(b"BC\xc0\xde");
    let entries = offload_binary::entries(&sound).unwrap();
    assert_eq!(
        (entries[0].string("triple"), entries[0].image),
        (Some("x86_64-pc-linux-gnu"), &b"BC\xc0\xde"[..])
    );

    let say = |bytes: &[u8]| offload_binary::entries(bytes).unwrap_err().to_string();
    assert_eq!(
        say(&sound[..100]),
        "truncated: the offload binary at offset 0x0 takes 124 bytes, but the data ends at 0x64"
    );
    assert_eq!(
        say(&set(&sound, 64, 1 << 40)),
        "truncated: the device image at offset 0x78 takes 1099511627776 bytes, but the data ends at 0x7c"
    );
    assert_eq!(
        say(&set(&sound, 72, 123)),
        "truncated: a key at offset 0x7b takes 2 bytes, but the data ends at 0x7c"
    );
    assert_eq!(
        say(&set(&sound, 48, u64::MAX)),
        "corrupt: an entry's number of strings at offset 0x30 is 18446744073709551615, expected a few"
    );
    let mut newer = sound.clone();
    newer[4] = 9;
    assert_eq!(
        say(&newer),
        "not supported: the offload binary's version at offset 0x4 is 9; Gangway reads versions 1 to 3"
    );
    assert_eq!(recognise(b"").unwrap_err().to_string(), "empty: there is no image at all");
    assert_eq!(
        recognise(b"hello").unwrap_err().to_string(),
        "not recognised: 5 bytes that start with 68 65 6c 6c 6f, which is no ELF, PTX, LLVM bitcode, \
         SPIR-V, CUDA fat binary or offload binary"
    );
}

#[test]
fn truncated_and_damaged_elf() {
    let workshop = Workshop::new();
    let program = workshop.clang("program", &["program.c"]);
    let image = contents(&program).unwrap().images[0].parts[0].to_vec();
    // Any shorter image lacks its section headers, which stand at the end.
    for length in (4..image.len()).step_by(37) {
        match recognise(&image[..length]) {
            Err(Error::Truncated { length: seen, .. }) => assert_eq!(seen, length as u64),
            other => panic!("{length}: {other:?}"),
        }
    }
    let word = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().unwrap());
    assert_eq!(recognise(&image[..1000]).unwrap_err().to_string(), {
        // The first loaded segments reach beyond 1000 bytes.
        let first = (64..).step_by(56).find(|&at| image[at] == 1).unwrap();
        let (offset, size) = (word(first + 8), word(first + 32));
        format!(
            "truncated: a loaded segment at offset {offset:#x} takes {size} bytes, but the data ends at 0x3e8"
        )
    });
    assert_eq!(
        recognise(&set(&image, 40, u64::MAX - 8)).unwrap_err().to_string(),
        format!(
            "truncated: the section header table at offset 0xfffffffffffffff7 takes {} bytes, but the data ends at {:#x}",
            u64::from(image[60]) * 64,
            image.len()
        )
    );
    let mut small = image.clone();
    small[4] = 1;
    assert_eq!(
        recognise(&small).unwrap_err().to_string(),
        "not supported: the ELF class at offset 0x4 is 1 (1 is 32-bit); Gangway reads 64-bit images"
    );
}

#[test]
fn a_bad_image_does_not_hide_a_good_one() {
    let good = offload_binary(b"BC\xc0\xde");
    let section: Vec<u8> = [&good[..], &[0; 4], &set(&good, 64, 999)].concat();
    let contents = contents(&section).unwrap();
    assert_eq!(contents.images.len(), 1);
    assert_eq!(contents.problems.len(), 1);
    assert!(contents.problems[0].error.to_string().contains("at offset 0xf8"), "{:?}", contents.problems);
}

#[test]
fn random_damage_never_panics() {
    let workshop = Workshop::new();
    let files = [
        workshop.clang("program", &["program.c"]),
        workshop.clang("program.o", &["-c", "program.c"]),
        offload_binary(b".version 7.0\n.target sm_80\n.visible .entry k() {}\n"),
    ];
    // A small linear generator: the damage must be the same on every run.
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for file in &files {
        for _ in 0..400 {
            let mut damaged = file.clone();
            for _ in 0..1 + random(8) {
                // Headers decide most, so hit the first part more often.
                let reach = if random(2) == 0 { damaged.len() } else { damaged.len().min(1024) };
                damaged[random(reach)] = random(256) as u8;
            }
            damaged.truncate(if random(3) == 0 { random(file.len()) } else { file.len() });
            if let Ok(contents) = contents(&damaged) {
                for image in &contents.images {
                    let _ = details(image.parts[0]);
                }
            }
            let _ = gangway_image::needed_libraries(&damaged);
        }
    }
}

#[test]
fn recognition_is_fast() {
    let workshop = Workshop::new();
    let program = workshop.clang("program", &["-g", "program.c"]);
    let contents = contents(&program).unwrap();
    let image = contents.images[0].parts[0];
    let times = (0..1001).map(|_| {
        let start = Instant::now();
        assert!(std::hint::black_box(recognise(image)).is_ok());
        start.elapsed()
    });
    // The others have been interrupted, or have waited for memory.
    let shortest = times.min().unwrap();
    println!("recognise: {shortest:?}");
    // A release build takes half a microsecond; this leaves room for a debug build.
    assert!(shortest.as_micros() < 50, "{shortest:?}");
}
