//! What the runtime costs: launches that do nothing, blocks that do nothing, barriers, and
//! turns between warps. `cargo bench -p gangway-engine`

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use gangway_engine::{Engine, Execution, KernelLaunch, Options, Program};

const KERNELS: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry empty() { ret; }
.visible .entry barriers(.param .u32 count) {
    .reg .u32 %n;
    .reg .pred %p;
    ld.param.u32 %n, [count];
again:
    bar.sync 0;
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    ret;
}
.visible .entry turns(.param .u32 count) {
    .reg .u32 %n;
    .reg .pred %p;
    ld.param.u32 %n, [count];
again:
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra again;
    ret;
}
";

struct Setup {
    engine: Arc<Engine>,
    program: Arc<Program>,
}

impl Setup {
    fn new() -> Setup {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let engine = Engine::new(Options {
            workers,
            execution: Execution::CompiledOnly,
            stack: 1 << 14,
            ..Options::default()
        });
        let module = gangway_ptx::parse(KERNELS).expect("a module");
        let program = engine.load(module).expect("memory");
        Setup { engine, program }
    }

    fn run(&self, kernel: &str, blocks: u32, threads: u32, parameters: &[u8]) {
        let launch = KernelLaunch {
            program: &self.program,
            kernel: self.program.kernel(kernel).expect("the kernel"),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared: 0,
            parameters,
            cooperative: false,
        };
        self.engine.launch(&launch).expect("no fault");
    }
}

#[divan::bench(args = [1, 32, 256])]
fn empty(bencher: Bencher<'_, '_>, threads: u32) {
    let setup = Setup::new();
    bencher.bench(|| setup.run("empty", 1, threads, &[]));
}

#[divan::bench(args = [2, 1000])]
fn empty_blocks(bencher: Bencher<'_, '_>, blocks: u32) {
    let setup = Setup::new();
    bencher.counter(ItemsCount::new(blocks)).bench(|| setup.run("empty", blocks, 128, &[]));
}

/// Per barrier and warp.
#[divan::bench(args = [1, 2, 8, 32])]
fn barrier(bencher: Bencher<'_, '_>, warps: u32) {
    const COUNT: u32 = 1000;
    let setup = Setup::new();
    let counter = ItemsCount::new(COUNT * warps);
    bencher.counter(counter).bench(|| setup.run("barriers", 1, 32 * warps, &COUNT.to_le_bytes()));
}

/// A loop that does nothing else: what a step back costs, with the turns of two warps.
#[divan::bench]
fn step_back(bencher: Bencher<'_, '_>) {
    const COUNT: u32 = 1_000_000;
    let setup = Setup::new();
    let counter = ItemsCount::new(2 * COUNT);
    bencher.counter(counter).bench(|| setup.run("turns", 1, 64, &COUNT.to_le_bytes()));
}

fn main() {
    divan::main();
}
