//! The scheduler, with functions of Rust in place of compiled ones.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::pool::Pool;
use super::slot::host_of;
use super::{Job, provided};
use crate::abi::{ALL, Converged, Flavour, Masked, Warp};
use crate::analysis::block::BlockShape;
use crate::device::Device;
use crate::fault::{Fault, Reason};
use crate::frame::Frame;
use crate::functions::CodeCache;
use crate::launch::KernelLaunch;
use crate::program::Program;

const KERNEL: &str = ".version 7.0 .target sm_70 .address_size 64
    .visible .entry k(.param .u64 p) { .shared .align 4 .b32 s[64]; st.shared.u32 [s], 0; bar.sync 0; ret; }";

struct Bench {
    pool: Pool,
    program: Arc<Program>,
}

/// One argument for the kernel: the address of something that the test owns.
type Argument = usize;

impl Bench {
    fn new(workers: usize, code: Converged) -> Bench {
        unsafe extern "C" fn masked(
            warp: *mut Warp,
            arguments: *const *mut c_void,
            _frame: *mut c_void,
            lanes: u32,
        ) -> u64 {
            if lanes == 0 {
                // It is asked how large its frame is.
                return size_of::<Frame>() as u64;
            }
            // SAFETY: the converged function is in the table, beside this one.
            unsafe {
                let code = (*(*warp).functions).load(Ordering::Acquire);
                let code: Converged = std::mem::transmute(code);
                code(warp, arguments).into()
            }
        }
        let device = Arc::new(Device::new(0, false, false, 1 << 20));
        let module = gangway_ptx::parse(KERNEL).expect("a module");
        let program = Arc::new(Program::load(module, &device, None, provided).expect("memory"));
        for row in [[32, 1, 1], [33, 1, 1], [3, 3, 1]] {
            let (shape, functions) = (BlockShape::of(row), program.functions());
            functions.set(shape, 0, Flavour::Converged, code as *const c_void);
            let masked: Masked = masked;
            functions.set(shape, 0, Flavour::Masked, masked as *const c_void);
        }
        Bench { pool: Pool::new(device, workers), program }
    }

    fn job(&self, blocks: u32, threads: u32, cooperative: bool, argument: Argument) -> Job {
        let launch = KernelLaunch {
            program: &self.program,
            kernel: self.program.kernel("k").expect("the kernel"),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared: 64,
            parameters: &argument.to_le_bytes(),
            cooperative,
        };
        let mut job = Job::new(&launch, 1024, 4, None, None);
        job.compile().expect("code");
        job
    }

    fn run(&self, blocks: u32, threads: u32, argument: Argument) -> Result<(), Box<Fault>> {
        self.pool.run(self.job(blocks, threads, false, argument)).ending.result()
    }
}

/// The test's own data, which the argument leads to.
unsafe fn data<'a, T>(warp: *mut Warp) -> &'a T {
    // SAFETY: each test gives the address of a `T` that outlives its launch.
    unsafe { &*(*warp).parameters.cast::<*const T>().read_unaligned() }
}

/// Waits at a barrier with all lanes that there are.
unsafe fn barrier(warp: *mut Warp, number: u32, count: Option<u32>) {
    // SAFETY: the warp is the running one.
    unsafe {
        let warp = &mut *warp;
        let (host, lanes) = (warp.host(), !warp.exited);
        let ticket = host.arrive(warp, number, count, lanes, 0);
        while host.passed(warp, ticket).is_none() {
            host.wait(warp, lanes);
        }
    }
}

#[test]
fn what_the_compiler_refuses_is_not_tried_again() {
    let device = Arc::new(Device::new(0, false, false, 1 << 20));
    // Its frame would be too large.
    let count = 33_000;
    let mut text = format!(
        ".version 7.0 .target sm_70 .address_size 64\n\
         .visible .entry k(.param .u64 p) {{ .reg .b64 %r<{count}>; .reg .b64 %p; ld.param.u64 %p, [p];\n"
    );
    for number in 0..count {
        text += &format!("ld.volatile.global.u64 %r{number}, [%p];\n");
    }
    text += "bar.sync 0;\n";
    for number in 0..count {
        text += &format!("st.volatile.global.u64 [%p], %r{number};\n");
    }
    let module = gangway_ptx::parse(&(text + "ret; }")).expect("a module");
    let program = Program::load(module, &device, None, provided).expect("memory");
    let resolve = |row| {
        let shape = BlockShape::of([row, 2, 1]);
        let resolve = || program.functions().resolve(shape, 0, Flavour::Masked);
        let (code, steps) = crate::work::of(resolve);
        (code.expect_err("a refusal").to_string(), steps)
    };
    let (first, steps) = resolve(32);
    assert!(first.contains("too many registers that live at once in 'k'") && steps > 0, "{first}, {steps}");
    assert_eq!(resolve(32), (first.clone(), 0), "the same answer, and no work for it");
    let (other, steps) = resolve(16);
    assert!(other == first && steps > 0, "blocks of another shape are another question: {other}, {steps}");
}

#[test]
fn modules_that_are_equal_share_code() {
    let cache = Arc::new(CodeCache::new());
    let load = |text: &str, check| {
        let device = Arc::new(Device::new(0, check, false, 1 << 20));
        let module = gangway_ptx::parse(text).expect("a module");
        Program::load(module, &device, Some(cache.clone()), provided).expect("memory")
    };
    let code = |program: &Program, flavour| {
        let code = program.functions().resolve(BlockShape::of([32, 1, 1]), 0, flavour);
        code.expect("the compiler takes it")
    };
    let (first, second) = (load(KERNEL, false), load(KERNEL, false));
    let converged = code(&first, Flavour::Converged);
    assert_eq!(code(&second, Flavour::Converged), converged);
    assert_ne!(code(&first, Flavour::Masked), converged);
    let (checked, other) = (load(KERNEL, true), load(&KERNEL.replace("[s], 0", "[s], 1"), false));
    assert_ne!(code(&checked, Flavour::Converged), converged);
    assert_ne!(code(&other, Flavour::Converged), converged);
    // Faults are looked up in the code of the program that has them.
    assert!(second.functions().find(converged as usize).is_some());
    assert!(other.functions().find(converged as usize).is_none());
    // Code outlives the programs.
    drop((first, second));
    assert_eq!(code(&load(KERNEL, false), Flavour::Converged), converged);
}

#[test]
fn every_block_and_warp_runs_once() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`.
        unsafe {
            let counts: &Vec<AtomicU32> = data(warp);
            let number = (*warp).block[0] * (*warp).warps + (*warp).warp_index;
            counts[number as usize].fetch_add((!(*warp).exited).count_ones(), Ordering::Relaxed);
        }
        ALL
    }
    let bench = Bench::new(4, kernel);
    for (blocks, threads) in [(1u32, 1u32), (1, 32), (3, 33), (1000, 100), (17, 1024)] {
        let warps = threads.div_ceil(32);
        let counts: Vec<AtomicU32> = (0..blocks * warps).map(|_| AtomicU32::new(0)).collect();
        bench.run(blocks, threads, &raw const counts as usize).expect("no fault");
        for (number, count) in counts.iter().enumerate() {
            let last = number as u32 % warps == warps - 1;
            let lanes = if last { (threads - 1) % 32 + 1 } else { 32 };
            assert_eq!(count.load(Ordering::Relaxed), lanes, "warp {number} of {blocks} blocks of {threads}");
        }
    }
}

#[test]
fn barriers_keep_phases_apart() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`; the shared memory is the block's.
        unsafe {
            let wrong: &AtomicU32 = data(warp);
            let count = (*warp).shared.add(16).cast::<u32>();
            let (index, warps) = ((*warp).warp_index, (*warp).warps);
            if index == 0 {
                *count = 0;
            }
            barrier(warp, 0, None);
            for phase in 0..200 {
                *count += 1;
                barrier(warp, phase % 16, None);
                if *count != (phase + 1) * warps {
                    wrong.fetch_add(1, Ordering::Relaxed);
                }
                barrier(warp, 3, Some(warps * 32));
            }
        }
        ALL
    }
    let bench = Bench::new(2, kernel);
    for threads in [32, 64, 1024] {
        let wrong = AtomicU32::new(0);
        bench.run(20, threads, &raw const wrong as usize).expect("no fault");
        assert_eq!(wrong.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn warps_that_exit_do_not_hold_up_a_barrier() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`.
        unsafe {
            let passed: &AtomicU32 = data(warp);
            // Warp n leaves before barrier n.
            for phase in 0..(*warp).warp_index {
                barrier(warp, 0, None);
                passed.fetch_add(phase, Ordering::Relaxed);
            }
        }
        0
    }
    let passed = AtomicU32::new(0);
    Bench::new(1, kernel).run(1, 1024, &raw const passed as usize).expect("no fault");
    assert_eq!(passed.load(Ordering::Relaxed), (0..32u32).map(|warp| (0..warp).sum::<u32>()).sum::<u32>());
}

#[test]
fn producers_arrive_and_consumers_wait() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`.
        unsafe {
            let wrong: &AtomicU32 = data(warp);
            let item = (*warp).shared.add(16).cast::<u32>();
            for round in 0..100 {
                if (*warp).warp_index == 0 {
                    *item = round;
                    // Full: only arrives. Empty: waits for the consumer.
                    (*warp).host().arrive(&mut *warp, 1, Some(64), ALL, 0);
                    barrier(warp, 2, Some(64));
                } else {
                    barrier(warp, 1, Some(64));
                    wrong.fetch_add(u32::from(*item != round), Ordering::Relaxed);
                    (*warp).host().arrive(&mut *warp, 2, Some(64), ALL, 0);
                }
            }
        }
        ALL
    }
    let wrong = AtomicU32::new(0);
    Bench::new(1, kernel).run(2, 64, &raw const wrong as usize).expect("no fault");
    assert_eq!(wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn reductions_count_predicates() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`.
        unsafe {
            let sum: &AtomicU32 = data(warp);
            let (warp, lanes) = (&mut *warp, !(*warp).exited);
            let host = warp.host();
            let ticket = host.arrive(warp, 0, None, lanes, (lanes & 0xffff).count_ones());
            let arrivals = loop {
                match host.passed(warp, ticket) {
                    Some(arrivals) => break arrivals,
                    None => host.wait(warp, lanes),
                }
            };
            sum.fetch_add(arrivals.arrived * 1000 + arrivals.holds, Ordering::Relaxed);
        }
        ALL
    }
    let sum = AtomicU32::new(0);
    Bench::new(1, kernel).run(1, 72, &raw const sum as usize).expect("no fault");
    assert_eq!(sum.load(Ordering::Relaxed), 3 * (72_000 + 16 + 16 + 8));
}

#[test]
fn warps_and_blocks_that_spin_let_others_run() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`.
        unsafe {
            let turn: &AtomicU32 = data(warp);
            // The last warp of the last block goes first.
            let all = (*warp).grid[0] * (*warp).warps;
            let mine = all - 1 - ((*warp).block[0] * (*warp).warps + (*warp).warp_index);
            while turn.load(Ordering::Acquire) != mine {
                (*warp).host().turn(&mut *warp);
            }
            turn.store(mine + 1, Ordering::Release);
        }
        ALL
    }
    let turn = AtomicU32::new(0);
    Bench::new(2, kernel).run(4, 128, &raw const turn as usize).expect("no fault");
    assert_eq!(turn.load(Ordering::Relaxed), 16);
}

#[test]
fn the_whole_grid_meets() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`.
        unsafe {
            let (count, wrong): &(AtomicU32, AtomicU32) = data(warp);
            let all = (*warp).grid[0] * (*warp).warps;
            for round in 1..=20 {
                count.fetch_add(1, Ordering::Relaxed);
                let lanes = !(*warp).exited;
                host_of(warp).grid_barrier(&mut *warp, lanes);
                wrong.fetch_add(u32::from(count.load(Ordering::Relaxed) != round * all), Ordering::Relaxed);
                host_of(warp).grid_barrier(&mut *warp, lanes);
            }
        }
        ALL
    }
    for workers in [1, 2, 4] {
        let bench = Bench::new(workers, kernel);
        let counts = (AtomicU32::new(0), AtomicU32::new(0));
        bench
            .pool
            .run(bench.job(40, 80, true, &raw const counts as usize))
            .ending
            .result()
            .expect("no fault");
        assert_eq!((counts.0.into_inner(), counts.1.into_inner()), (20 * 40 * 3, 0));
    }
}

#[test]
fn a_grid_that_never_meets_is_a_deadlock() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: the warp is the running one.
        unsafe {
            if (*warp).block[0] == 5 && (*warp).warp_index == 0 {
                barrier(warp, 0, None);
            }
            host_of(warp).grid_barrier(&mut *warp, ALL);
        }
        ALL
    }
    let bench = Bench::new(2, kernel);
    let fault = bench.pool.run(bench.job(20, 64, true, 0)).ending.result().expect_err("a deadlock");
    assert_eq!(fault.reason, Reason::Failed);
    assert!(fault.report.contains("wait for each other"), "{fault}");
}

#[test]
fn a_barrier_that_nobody_completes_is_a_deadlock() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: the warp is the running one.
        unsafe { barrier(warp, (*warp).warp_index, Some(64)) };
        ALL
    }
    let fault = Bench::new(2, kernel).run(3, 128, 0).expect_err("a deadlock");
    assert!(fault.report.contains("wait for each other"), "{fault}");
}

#[test]
fn faults_end_the_launch_and_not_the_process() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: the access faults, which is the point.
        unsafe {
            if (*warp).block[0] == 7 {
                let nowhere = std::ptr::with_exposed_provenance_mut::<u32>(
                    gangway_device_memory::BASE as usize + (1 << 40) + 64,
                );
                nowhere.write_volatile(1);
            }
            loop {
                (*warp).host().turn(&mut *warp);
            }
        }
    }
    let bench = Bench::new(2, kernel);
    for _ in 0..50 {
        let fault = bench.run(8, 64, 0).expect_err("an access to nothing");
        assert_eq!(fault.reason, Reason::IllegalAddress);
        let address = format!("{:#x}", gangway_device_memory::BASE + (1 << 40) + 64);
        assert!(fault.report.contains(&address) && fault.report.contains("block (7, 0, 0)"), "{fault}");
    }
}

#[test]
fn a_stack_overflow_is_a_fault() {
    #[inline(never)]
    fn deep(depth: u64) -> u64 {
        let frame = std::hint::black_box([depth; 4096]);
        if depth == 0 { 0 } else { deep(depth + 1) + std::hint::black_box(frame)[7] }
    }
    unsafe extern "C" fn kernel(_: *mut Warp, _: *const *mut c_void) -> u32 {
        deep(1) as u32
    }
    let bench = Bench::new(2, kernel);
    for _ in 0..3 {
        let fault = bench.run(2, 32, 0).expect_err("an overflow");
        assert!(fault.report.contains("the stack is full"), "{fault}");
    }
}

#[test]
fn many_threads_launch_at_once() {
    unsafe extern "C" fn kernel(warp: *mut Warp, _: *const *mut c_void) -> u32 {
        // SAFETY: see `data`.
        unsafe {
            barrier(warp, 0, None);
            data::<AtomicU64>(warp).fetch_add(1, Ordering::Relaxed);
        }
        ALL
    }
    let bench = Bench::new(3, kernel);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let bench = &bench;
            scope.spawn(move || {
                for round in 0..100 {
                    let count = AtomicU64::new(0);
                    let blocks = (thread + round) % 5 + 1;
                    bench.run(blocks, 96, &raw const count as usize).expect("no fault");
                    assert_eq!(count.into_inner(), u64::from(blocks) * 3);
                }
            });
        }
    });
}
