//! Check mode: what warps remember of allocations is right to the byte, and forgotten when memory is freed.

mod bench;

use bench::{Bench, options};
use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_engine::{Checks, Fault, Options, Reason};

fn bench(text: &str) -> Bench {
    Bench::new(Options { checks: Checks::MEMORY, ..options() }, text)
}

/// Memory that a kernel gets addresses of, freed at the end.
struct Memory(u64);

impl Memory {
    fn new(size: u64) -> Self {
        let request = Request::new(0, size, AllocationKind::Device);
        Memory(Space::get().and_then(|space| space.allocate(&request)).expect("memory"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Some tests have freed it.
        let _ = Space::get().map(|space| space.free(self.0));
    }
}

/// Launches a kernel that finds addresses at the beginning of the buffer.
fn launch(bench: &Bench, threads: u32, addresses: &[u64]) -> Result<(), Box<Fault>> {
    bench.fill(|word| {
        let address = addresses.get(word / 2).copied().unwrap_or(0);
        if word % 2 == 0 { address as u32 } else { (address >> 32) as u32 }
    });
    bench.launch(1, [threads, 1, 1], false)
}

const START: &str = ".reg .u64 %base, %a, %b, %p, %wide; .reg .u32 %i, %v, %w, %n; .reg .pred %c;
    ld.param.u64 %base, [buffer]; ld.global.u64 %a, [%base]; ld.global.u64 %b, [%base+8];
    mov.u32 %i, %tid.x;\n";

fn kernel(body: &str) -> String {
    format!(".visible .entry k(.param .u64 buffer) {{ {START} {body} ret; }}")
}

/// Rows, one address of all lanes, addresses without a shape, those under a condition, atomic operations.
const ACCESSES: [&str; 7] = [
    "mul.wide.u32 %wide, %i, 4; add.u64 %p, %a, %wide; ld.global.u32 %v, [%p+LAST]; st.global.u32 [%base+64], %v;",
    "mul.wide.u32 %wide, %i, 4; add.u64 %p, %a, %wide; st.global.u32 [%p+LAST], %i;",
    "add.u64 %p, %a, 124; ld.global.u32 %v, [%p+LAST]; st.global.u32 [%base+64], %v;",
    "xor.b32 %v, %i, 1; mul.wide.u32 %wide, %v, 4; add.u64 %p, %a, %wide; ld.global.u32 %v, [%p+LAST];
     mul.wide.u32 %wide, %i, 4; add.u64 %p, %base, %wide; st.global.u32 [%p+64], %v;",
    "xor.b32 %v, %i, 1; mul.wide.u32 %wide, %v, 4; add.u64 %p, %a, %wide; st.global.u32 [%p+LAST], %v;",
    "mul.wide.u32 %wide, %i, 4; add.u64 %p, %a, %wide; setp.gt.u32 %c, %i, 20; @%c st.u32 [%p+LAST], %i;",
    "mul.wide.u32 %wide, %i, 4; add.u64 %p, %a, %wide; atom.global.add.u32 %v, [%p+LAST], 1;",
];

#[test]
fn a_row_may_end_where_its_allocation_does_and_no_byte_later() {
    for access in ACCESSES {
        let fits = bench(&kernel(&access.replace("LAST", "0")));
        let memory = Memory::new(128);
        launch(&fits, 32, &[memory.0]).unwrap_or_else(|fault| panic!("{access}: {fault}"));
        // What the warp remembers of another array is not taken for this one's.
        let longer = Memory::new(132);
        launch(&fits, 32, &[longer.0]).unwrap_or_else(|fault| panic!("{access}: {fault}"));
        launch(&fits, 32, &[memory.0]).unwrap_or_else(|fault| panic!("{access}: {fault}"));
        let beyond = bench(&kernel(&access.replace("LAST", "4")));
        launch(&beyond, 32, &[longer.0]).unwrap_or_else(|fault| panic!("{access}: {fault}"));
        let fault = launch(&beyond, 32, &[memory.0]).expect_err(access);
        assert_eq!(fault.reason, Reason::IllegalAddress, "{access}: {fault}");
        assert!(fault.report.contains("just after the end of the 128-byte allocation"), "{access}: {fault}");
        // The lane that is wrong is told, and not its row; of one address it is the first.
        let lane = if access.starts_with("add") { "thread (0" } else { "thread (3" };
        assert!(fault.report.contains(lane), "{access}: {fault}");
    }
}

#[test]
fn a_row_that_leaves_its_allocation_is_not_saved_by_the_next_one() {
    // One slot of addresses after another: a step of theirs leads from one allocation into the other.
    let [one, other] = [Memory::new(128), Memory::new(128)];
    let step = (other.0 as i64 - one.0 as i64) / 16;
    assert_ne!(step, 0);
    let text = kernel(&format!(
        "cvt.u64.u32 %wide, %i; mul.lo.u64 %wide, %wide, {step}; add.u64 %p, %a, %wide;
         ld.global.u32 %v, [%p]; st.global.u32 [%base+64], %v;"
    ));
    let fault = launch(&bench(&text), 32, &[one.0]).expect_err("lanes in between");
    assert!(fault.report.contains("thread (1,"), "{fault}");
    // Without those in between all are right.
    let text = kernel(
        "and.b32 %v, %i, 1; setp.eq.u32 %c, %v, 0; selp.b64 %p, %a, %b, %c; mul.wide.u32 %wide, %i, 4;
         add.u64 %p, %p, %wide; ld.global.u32 %v, [%p]; st.global.u32 [%base+64], %v;",
    );
    launch(&bench(&text), 32, &[one.0, other.0]).unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn memory_that_was_freed_between_launches_is_gone() {
    for access in ACCESSES {
        let bench = bench(&kernel(&access.replace("LAST", "0")));
        let memory = Memory::new(128);
        launch(&bench, 32, &[memory.0]).unwrap_or_else(|fault| panic!("{access}: {fault}"));
        Space::get().and_then(|space| space.free(memory.0)).expect("it is allocated");
        let fault = launch(&bench, 32, &[memory.0]).expect_err(access);
        assert!(fault.report.contains("freed"), "{access}: {fault}");
    }
}

/// A kernel that frees a block of the device's heap between two turns of a loop, so that one instruction
/// accesses it before and behind.
fn frees(who: &str, other: &str) -> String {
    format!(
        ".extern .func (.param .b64 r) malloc (.param .b64 size); .extern .func free (.param .b64 at);
        .visible .entry k(.param .u64 buffer) {{ {START} .reg .pred %mine; .shared .align 8 .b8 mem[8];
        setp.ne.u32 %mine, %i, {who}; setp.ne.u32 %c, %i, 0; @%c bra got;
        {{ .param .b64 size; .param .b64 r; st.param.b64 [size], 64; call.uni (r), malloc, (size);
           ld.param.b64 %p, [r]; }} st.shared.u64 [mem], %p;
        got: bar.sync 0; ld.shared.u64 %p, [mem]; mov.u32 %n, 0;
        again: and.b32 %v, %i, 7; mul.wide.u32 %wide, %v, 4; add.u64 %a, %p, %wide; ld.global.u32 %v, [%a];
        st.global.u32 [%base+64], %v; bar.sync 0; @%mine bra kept;
        {{ .param .b64 at; st.param.b64 [at], %p; {other} call.uni free, (at); }}
        kept: bar.sync 0; add.u32 %n, %n, 1; setp.lt.u32 %c, %n, 2; @%c bra again; ret; }}"
    )
}

#[test]
fn a_block_that_a_kernel_frees_is_gone_at_once() {
    // The warp's own thread frees it, or one of another warp.
    for who in ["0", "40"] {
        let bench = bench(&frees(who, ""));
        let fault = launch(&bench, 64, &[]).expect_err("it is freed after the first turn");
        assert_eq!(fault.reason, Reason::IllegalAddress, "{fault}");
        assert!(fault.report.contains("heap"), "{fault}");
    }
}

#[test]
fn blocks_of_the_heap_are_known_to_the_byte() {
    let with = |offset: u64| {
        format!(
            ".extern .func (.param .b64 r) malloc (.param .b64 size);
            .visible .entry k(.param .u64 buffer) {{ {START}
            {{ .param .b64 size; .param .b64 r; st.param.b64 [size], 20; call.uni (r), malloc, (size);
               ld.param.b64 %p, [r]; }}
            st.global.u32 [%p+{offset}], %i; ret; }}"
        )
    };
    launch(&bench(&with(16)), 32, &[]).unwrap_or_else(|fault| panic!("{fault}"));
    let fault = launch(&bench(&with(20)), 32, &[]).expect_err("behind the block");
    assert!(fault.report.contains("20-byte block"), "{fault}");
}

#[test]
fn constants_are_read_and_not_written() {
    let with = |access: &str| {
        format!(
            ".const .align 4 .u32 table[32];
            .visible .entry k(.param .u64 buffer) {{ {START} .reg .u64 %t; mov.u64 %t, table;
            cvta.const.u64 %t, %t; mul.wide.u32 %wide, %i, 4; add.u64 %p, %t, %wide; {access} ret; }}"
        )
    };
    let read = "ld.u32 %v, [%p]; st.global.u32 [%base+64], %v;";
    launch(&bench(&with(read)), 32, &[]).unwrap_or_else(|fault| panic!("{fault}"));
    // By one register: the read has been granted what the write may not.
    let both = format!("{read} st.u32 [%p], %i;");
    let fault = launch(&bench(&with(&both)), 32, &[]).expect_err("it writes a constant");
    assert_eq!(fault.reason, Reason::IllegalAddress, "{fault}");
}
