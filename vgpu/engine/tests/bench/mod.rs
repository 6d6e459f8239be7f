//! Kernels in PTX, run by an engine on memory that the test can look at. Each test uses a part of
//! it.
#![allow(dead_code)]

use std::sync::Arc;

use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_engine::{Engine, Execution, Fault, KernelLaunch, Options, Program, Tier, llvm_version};

/// The generators that `GANGWAY_VGPU_TIER` names.
pub fn tier() -> Tier {
    let asked = std::env::var("GANGWAY_VGPU_TIER").ok();
    asked.map_or_else(Tier::default, |tier| tier.parse().expect("cranelift or llvm"))
}

/// Whether there is LLVM; a test that needs it says so where there is none.
pub fn has_llvm() -> bool {
    match llvm_version() {
        Ok(_) => true,
        Err(why) => {
            eprintln!("skipped: {why}");
            assert!(why.contains("libLLVM"), "build `gangway-llvm` first: {why}");
            false
        }
    }
}

pub fn options() -> Options {
    Options {
        workers: 3,
        execution: Execution::CompiledOnly,
        tier: tier(),
        stack: 1 << 14,
        heap: 1 << 20,
        ..Options::default()
    }
}

/// A program and memory for its results.
pub struct Bench {
    pub engine: Arc<Engine>,
    pub program: Arc<Program>,
    pub buffer: u64,
}

pub const WORDS: usize = 1 << 14;

impl Bench {
    pub fn new(options: Options, text: &str) -> Bench {
        Self::of_target(options, ".version 7.8\n.target sm_80\n.address_size 64\n", text)
    }

    /// With the beginning of a module of its own.
    pub fn of_target(options: Options, header: &str, text: &str) -> Bench {
        let module =
            gangway_ptx::parse(&format!("{header}{text}")).unwrap_or_else(|errors| panic!("{errors}"));
        let engine = Engine::new(options);
        let program = engine.load(module).expect("memory");
        let request = Request::new(0, 4 * WORDS as u64, AllocationKind::Device);
        let buffer = Space::get().and_then(|space| space.allocate(&request)).expect("memory");
        Bench { engine, program, buffer }
    }

    pub fn launch(&self, blocks: u32, threads: [u32; 3], cooperative: bool) -> Result<(), Box<Fault>> {
        self.launch_at(blocks, threads, cooperative, self.buffer)
    }

    pub fn launch_at(
        &self,
        blocks: u32,
        block: [u32; 3],
        cooperative: bool,
        at: u64,
    ) -> Result<(), Box<Fault>> {
        self.start([blocks, 1, 1], block, 256, cooperative, at)
    }

    /// Without dynamic shared memory.
    pub fn launch_grid(&self, grid: [u32; 3], block: [u32; 3]) -> Result<(), Box<Fault>> {
        self.start(grid, block, 0, false, self.buffer)
    }

    fn start(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        cooperative: bool,
        at: u64,
    ) -> Result<(), Box<Fault>> {
        self.engine.launch(&KernelLaunch {
            program: &self.program,
            kernel: self.program.kernel("k").expect("the kernel"),
            grid,
            block,
            shared,
            parameters: &at.to_le_bytes(),
            cooperative,
        })
    }

    pub fn words(&self) -> &[u32] {
        // SAFETY: it is allocated, and no launch is running.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(self.buffer as usize), WORDS) }
    }

    pub fn clear(&self) {
        self.fill(|_| 0);
    }

    pub fn fill(&self, word: impl Fn(usize) -> u32) {
        let start = std::ptr::with_exposed_provenance_mut::<u32>(self.buffer as usize);
        for index in 0..WORDS {
            // SAFETY: as above.
            unsafe { start.add(index).write(word(index)) };
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let freed = Space::get().and_then(|space| space.free(self.buffer));
        assert!(freed.is_ok(), "{freed:?}");
    }
}

/// Numbers that look random.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub fn of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len() as u64) as usize]
    }
}
