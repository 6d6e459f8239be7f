//! A launch that is told to end does, whoever runs it: compiled code or the interpreter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_engine::{Engine, Execution, KernelLaunch, Options, Tier};

/// Says that it runs, and does so for ever.
const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n
    .visible .entry spin(.param .u64 p) {
      .reg .u64 %p; .reg .u32 %x;
      ld.param.u64 %p, [p]; st.global.u32 [%p], 1;
    again: ld.volatile.global.u32 %x, [%p+4]; st.volatile.global.u32 [%p+8], %x; bra again; }";

/// The same, behind a call from which only the first thread comes back. The others wait in it for
/// ever.
const CALLING: &str = ".version 7.0\n.target sm_70\n.address_size 64\n
    .func f(.param .u64 p) {
      .reg .u64 %p; .reg .u32 %x; .reg .pred %first;
      ld.param.u64 %p, [p]; mov.u32 %x, %tid.x; setp.eq.u32 %first, %x, 0; @%first bra end;
    again: ld.volatile.global.u32 %x, [%p+4]; st.volatile.global.u32 [%p+8], %x; bra again;
    end: ret; }
    .visible .entry spin(.param .u64 p) {
      .reg .u64 %p; .reg .u32 %x;
      ld.param.u64 %p, [p]; call f, (%p); st.global.u32 [%p], 1;
    again: ld.volatile.global.u32 %x, [%p+4]; st.volatile.global.u32 [%p+8], %x; bra again; }";

/// Some threads of each warp are in loops for ever, with loops in them that end and one that does not, by
/// accesses that others need not see: each thread runs them alone.
const ALONE: &str = ".version 7.0\n.target sm_70\n.address_size 64\n
    .visible .entry spin(.param .u64 p) {
      .reg .u64 %p; .reg .u32 %x, %y, %i; .reg .pred %first, %more, %odd;
      ld.param.u64 %p, [p]; mov.u32 %y, %tid.x; and.b32 %x, %y, 7; setp.eq.u32 %first, %x, 0; @%first bra end;
      st.global.u32 [%p], 1;
    outer: mov.u32 %i, 0;
    inner: ld.global.u32 %x, [%p+4]; add.u32 %y, %y, %x; and.b32 %x, %y, 1; setp.eq.u32 %odd, %x, 1; @%odd bra skip;
      st.global.u32 [%p+8], %y;
    skip: add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 700; @%more bra inner;
      ld.global.u32 %x, [%p+12]; setp.eq.u32 %more, %x, 5; @%more bra end;
      setp.ne.u32 %more, %x, 6; @%more bra outer;
    last: ld.global.u32 %x, [%p+4]; st.global.u32 [%p+8], %x; setp.eq.u32 %more, %x, 0; @%more bra last;
    end: ret; }";

/// All threads are in loops for ever, and do the same: one whose turns can be counted, in one that only ends by what
/// others could store.
const SAME: &str = ".version 7.0\n.target sm_70\n.address_size 64\n
    .visible .entry spin(.param .u64 p) {
      .reg .u64 %p; .reg .u32 %x, %y, %i; .reg .pred %more;
      ld.param.u64 %p, [p]; st.global.u32 [%p], 1;
    outer: mov.u32 %i, 0;
    inner: ld.global.u32 %x, [%p+4]; add.u32 %y, %y, %x; st.global.u32 [%p+8], %y;
      add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 4000000000; @%more bra inner;
      ld.global.u32 %x, [%p+12]; setp.ne.u32 %more, %x, 6; @%more bra outer; ret; }";

fn ends_when_told(execution: Execution, text: &str) {
    ends_with(execution, Tier::Cranelift, text);
}

fn ends_with(execution: Execution, tier: Tier, text: &str) {
    let options = Options { workers: 2, execution, tier, stack: 1 << 14, ..Options::default() };
    let engine = Engine::new(options);
    let program = engine.load(gangway_ptx::parse(text).expect("a module")).expect("memory");
    let space = Space::get().expect("the addresses of device memory");
    let place = space.allocate(&Request::new(0, 64, AllocationKind::Device)).expect("memory");
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let launched = scope.spawn(|| {
            let launch = KernelLaunch {
                program: &program,
                kernel: program.kernel("spin").expect("the kernel"),
                grid: [4, 1, 1],
                block: [64, 1, 1],
                shared: 0,
                parameters: &place.to_le_bytes(),
                cooperative: false,
            };
            engine.launch_until(&launch, Some(stop.clone()), None)
        });
        let mut runs = [0; 4];
        while runs == [0; 4] {
            // SAFETY: the memory is this test's.
            unsafe { space.read(place, &mut runs) }.expect("it is allocated");
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Release);
        assert!(launched.join().expect("no panic").is_ok(), "that is no fault");
    });
    space.free(place).expect("it is allocated");
}

#[test]
fn compiled_code_ends_when_told() {
    for text in [TEXT, CALLING, ALONE, SAME] {
        ends_when_told(Execution::CompiledOnly, text);
    }
}

#[test]
fn the_interpreter_ends_when_told() {
    for text in [TEXT, CALLING, ALONE] {
        ends_when_told(Execution::Interpreted, text);
    }
}

/// Where LLVM is absent, that is Cranelift's code.
#[test]
fn code_of_llvms_ends_when_told() {
    for text in [TEXT, CALLING, ALONE, SAME] {
        ends_with(Execution::CompiledOnly, Tier::Llvm, text);
    }
}
