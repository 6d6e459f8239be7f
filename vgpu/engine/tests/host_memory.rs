//! Registered memory of the host: kernels do there what they do in device memory, at the same cost,
//! and nothing beside it.

mod bench;

use std::time::{Duration, Instant};

use bench::{Bench, WORDS, options};
use gangway_device_memory::Space;
use gangway_engine::{Execution, Options, Reason};

/// `%at` is the address of the thread's word, `%x` its number in the block.
const START: &str = "
    .reg .u64 %base, %at, %wide, %e, %g; .reg .u32 %i, %n, %x, %y, %k; .reg .pred %p;
    .reg .u32 %a, %b, %c, %v; .reg .f32 %f<4>;
    ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %y, %tid.y;
    mad.lo.u32 %x, %y, %n, %i; mul.wide.u32 %wide, %x, 4; add.u64 %at, %base, %wide;\n";

/// Each reads the first half of the memory, and writes to the second.
const BODIES: &[&str] = &[
    // One address for all lanes, as the tables are that GCC's kernels get.
    "ld.u64 %e, [%base+1024]; ld.u32 %a, [%base+8]; cvt.u32.u64 %b, %e; add.u32 %a, %a, %b;
     st.global.u32 [%at+32768], %a;",
    // Steps, up and down, in one batch and in several.
    "ld.global.u32 %a, [%at]; ld.global.u32 %b, [%at+4096]; mul.wide.u32 %wide, %x, 8; sub.u64 %e, %at, %wide;
     ld.global.u32 %c, [%e+2048]; xor.b32 %a, %a, %b; add.u32 %a, %a, %c; st.global.u32 [%at+32768], %a;
     st.u32 [%e+49152], %b;",
    // No shape.
    "mul.lo.u32 %a, %x, 2654435761; shr.u32 %a, %a, 20; mul.wide.u32 %g, %a, 4; add.u64 %g, %base, %g;
     ld.u32 %b, [%g]; and.b32 %a, %a, 1023; mul.wide.u32 %g, %x, 12; add.u64 %g, %g, %base;
     st.u32 [%g+32768], %b; st.global.u32 [%g+32772], %a;",
    // Atomic operations, some lanes, narrow elements and vectors.
    "and.b32 %a, %x, 3; mul.wide.u32 %g, %a, 4; add.u64 %g, %base, %g; atom.global.add.u32 %b, [%g+32768], 3;
     setp.gt.u32 %p, %x, 11; @%p ld.global.u8 %c, [%at+5]; @%p st.global.u16 [%at+40960], %c;
     mul.wide.u32 %g, %x, 8; add.u64 %g, %base, %g; ld.global.v2.u32 {%a, %b}, [%g];
     add.u32 %a, %a, %b; st.global.u32 [%at+49152], %a;",
    "mov.u32 %k, 0; setp.lt.u32 %p, %x, 9; @%p bra out;
     turn: ld.global.f32 %f0, [%at+4096]; ld.volatile.global.f32 %f1, [%at]; add.f32 %f0, %f0, %f1;
     st.global.f32 [%at+32768], %f0; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %x; @%p bra turn; out:",
];

fn kernel(body: &str) -> String {
    format!(".visible .entry k(.param .u64 buffer) {{ {START} {body} ret; }}")
}

fn noise(index: usize) -> u32 {
    (index as u32).wrapping_mul(2_654_435_761) >> 3
}

/// Memory of the host that is registered while this exists.
struct Registered(Vec<u32>);

impl Registered {
    fn new(words: usize) -> Self {
        let mut memory: Vec<u32> = (0..words).map(noise).collect();
        let start = memory.as_mut_ptr().expose_provenance() as u64;
        let space = Space::get().expect("memory");
        space.register_host(start, 4 * words as u64).expect("it is not registered yet");
        Registered(memory)
    }

    fn start(&self) -> u64 {
        self.0.as_ptr() as u64
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let ended = Space::get().and_then(|space| space.unregister_host(self.start()));
        assert!(ended.is_ok(), "{ended:?}");
    }
}

#[test]
fn kernels_do_there_what_they_do_in_device_memory() {
    for body in BODIES {
        for block in [[64, 1, 1], [8, 8, 1], [4, 16, 1], [1, 32, 1], [40, 1, 1]] {
            for execution in [Execution::CompiledOnly, Execution::Interpreted] {
                let bench = Bench::new(Options { execution, ..options() }, &kernel(body));
                bench.fill(noise);
                let done = bench.launch_at(1, block, false, bench.buffer);
                assert!(done.is_ok(), "{done:?}\n{body}");
                let memory = Registered::new(WORDS);
                let done = bench.launch_at(1, block, false, memory.start());
                assert!(done.is_ok(), "{done:?}\n{body}");
                let wrong = (0..WORDS).find(|&word| memory.0[word] != bench.words()[word]);
                assert_eq!(wrong, None, "{execution:?} {block:?}\n{body}");
                let written = |word: usize| memory.0[word] != noise(word);
                assert!((0..WORDS).any(written), "{body}");
            }
        }
    }
}

#[test]
fn lanes_in_memory_of_both_kinds() {
    // Even rows of lanes are in device memory, odd ones in the host's.
    let text = kernel(
        "mov.u64 %g, %e; ld.global.u64 %g, [%base]; and.b32 %a, %y, 1; setp.ne.u32 %p, %a, 0;
         selp.b64 %e, %g, %base, %p; mul.wide.u32 %wide, %i, 4; add.u64 %at, %e, %wide;
         ld.global.u32 %b, [%at+256]; add.u32 %b, %b, %y; mul.wide.u32 %wide, %y, 256; add.u64 %at, %at, %wide;
         st.global.u32 [%at+32768], %b;",
    );
    let memory = Registered::new(WORDS);
    for execution in [Execution::CompiledOnly, Execution::Interpreted] {
        let bench = Bench::new(Options { execution, ..options() }, &text);
        let (low, high) = (memory.start() as u32, (memory.start() >> 32) as u32);
        bench.fill(|word| [low, high].get(word).copied().unwrap_or_else(|| noise(word)));
        let done = bench.launch_at(1, [8, 16, 1], false, bench.buffer);
        assert!(done.is_ok(), "{done:?}");
        for (x, y) in (0..8).flat_map(|x| (0..16).map(move |y| (x, y))) {
            let words = if y % 2 == 1 { &memory.0[..] } else { bench.words() };
            let expected = noise(64 + x).wrapping_add(y as u32);
            assert_eq!(words[8192 + 64 * y + x], expected, "{execution:?} {x} {y}");
        }
    }
}

#[test]
fn what_is_beside_it_is_a_fault() {
    let text = kernel("ld.global.u32 %a, [%at]; st.global.u32 [%at+128], %a;");
    for execution in [Execution::CompiledOnly, Execution::Interpreted] {
        let bench = Bench::new(Options { execution, ..options() }, &text);
        // The memory behind it is the process's, and not the device's.
        let whole: Vec<u32> = vec![7; 1024];
        let (space, start) = (Space::get().expect("memory"), whole.as_ptr().expose_provenance() as u64);
        space.register_host(start, 2048).expect("free");
        let at = |address: u64| bench.launch_at(1, [32, 1, 1], false, address);
        assert!(at(start).is_ok() && at(start + 2048 - 256).is_ok());
        for wrong in [start - 128, start + 2048 - 252, start + 2048, start + 3072] {
            let fault = at(wrong).expect_err("it is not all registered");
            assert_eq!(fault.reason, Reason::IllegalAddress, "{fault}");
            assert!(fault.report.contains("st.global.u32") || wrong != start + 2048 - 252, "{fault}");
        }
        space.unregister_host(start).expect("registered");
        assert!(at(start).is_err(), "a warp remembers what is not registered any more");
        assert!(whole[512 + 32..].iter().all(|&word| word == 7));
    }
}

#[test]
fn it_costs_what_device_memory_costs() {
    // A reference of a table for each step of a loop, and elements of two arrays.
    let text = kernel(
        "mov.u32 %k, 0;
         turn: ld.u64 %e, [%base]; cvt.u32.u64 %b, %e; ld.global.u32 %a, [%at+64]; ld.global.u32 %c, [%at+4096];
         mad.lo.u32 %v, %a, %c, %b; st.global.u32 [%at+8192], %v;
         add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 20000; @%p bra turn;",
    );
    let bench = Bench::new(Options { workers: 1, ..options() }, &text);
    bench.fill(noise);
    let memory = Registered::new(WORDS);
    let time = |at: u64| {
        let begin = Instant::now();
        let done = bench.launch_at(1, [64, 1, 1], false, at);
        assert!(done.is_ok(), "{done:?}");
        begin.elapsed()
    };
    let (mut device, mut host) = (Duration::MAX, Duration::MAX);
    // What else the machine does lengthens some times, of both in turn; the slow way is so each time.
    for round in 0..100 {
        device = device.min(time(bench.buffer));
        host = host.min(time(memory.start()));
        // The slow way took thirty times as long.
        if round >= 6 && host < 4 * device {
            eprintln!("device memory {device:?}, the host's {host:?}");
            return;
        }
    }
    panic!("{host:?} for what takes {device:?} in device memory");
}
