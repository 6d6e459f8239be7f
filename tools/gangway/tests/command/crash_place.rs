//! `gangway crash-place`, which the CPU back end's signal handler calls.

use crate::support::Workshop;

/// A record of a crash at `address`, where `touched` was touched and the first argument's
/// register is null.
fn record(address: u64, touched: u64) -> Vec<u8> {
    let mut words = [0_u64; gangway_cpu::crash_record::RECORD_WORDS];
    (words[0], words[2], words[3], words[4]) = (address, 1, touched, 0x7000_0000_0000);
    words.iter().flat_map(|word| word.to_ne_bytes()).chain([0; 256]).collect()
}

/// A library with debug information, and where its function `get` is.
fn library(workshop: &Workshop) -> (Vec<u8>, u64) {
    workshop.write("get.c", "int get(int *p) {\n  return p[3];\n}\n");
    workshop.compile(&["-g", "-O1", "-shared", "-fPIC", "-nostdlib", "get.c", "-o", "get.so"]);
    let symbols = workshop.tool("nm", &["get.so"]).stdout;
    let line = symbols.lines().find(|line| line.ends_with(" get")).unwrap();
    let address = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
    (workshop.read("get.so"), address)
}

#[test]
fn the_line_and_the_pointer_are_told() {
    let workshop = Workshop::new();
    let (_, address) = library(&workshop);
    workshop.write("record", record(address, 12));
    let output = workshop.output(&["crash-place", "get.so", "record"]);
    assert_eq!(output.stderr, "  line:    get.c:2:10 in get\n  pointer: `p` (line 1) is null\n");
}

/// What the process has made may be damaged: no damage may keep its report waiting.
#[test]
fn damaged_files_are_no_crash() {
    let workshop = Workshop::new();
    let (image, address) = library(&workshop);
    workshop.write("record", record(address, 12));
    let mut random = 1_u64;
    for turn in 0..150 {
        let mut damaged = image.clone();
        for _ in 0..=turn % 8 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 33) as usize % damaged.len();
            damaged[at] = (random >> 20) as u8;
        }
        if turn % 10 == 0 {
            damaged.truncate((random >> 33) as usize % image.len());
        }
        workshop.write("damaged", damaged);
        let output = workshop.output(&["crash-place", "damaged", "record"]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "turn {turn}: {output:?}");
        assert!(!output.stderr.contains("panicked"), "turn {turn}: {output:?}");
    }
    for junk in [&b""[..], b"short", &[0xff; 400]] {
        workshop.write("junk", junk);
        let output = workshop.output(&["crash-place", "get.so", "junk"]);
        assert_eq!((output.status.code(), output.stderr), (Some(0), String::new()));
    }
}
