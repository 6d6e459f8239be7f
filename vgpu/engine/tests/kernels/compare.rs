//! Runs a kernel on the interpreter and compiled.

use std::sync::Arc;

use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_engine::{Checks, Engine, Execution, KernelLaunch, Options, Tier};

use super::generate::{IN, Kernel, OUT, SUMS};

const BLOCKS: usize = 2;
/// The most that a block has.
const THREADS: usize = 64;

pub struct Engines {
    interpreted: Arc<Engine>,
    compiled: Arc<Engine>,
    /// With code of LLVM's where lanes run by themselves.
    lanewise: Arc<Engine>,
    /// The same, and all accesses are looked at.
    checked: Arc<Engine>,
}

/// Device memory that is freed in the end.
struct Buffer {
    address: u64,
    length: usize,
}

impl Buffer {
    fn new(length: usize) -> Result<Buffer, String> {
        let space = Space::get().map_err(|error| error.to_string())?;
        let request = Request::new(0, length as u64, AllocationKind::Device);
        let address = space.allocate(&request).map_err(|error| error.to_string())?;
        Ok(Buffer { address, length })
    }

    fn bytes(&mut self) -> &mut [u8] {
        let start = std::ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: the buffer is allocated, and no launch is running that uses it.
        unsafe { std::slice::from_raw_parts_mut(start, self.length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Ok(space) = Space::get() {
            let _ = space.free(self.address);
        }
    }
}

impl Engines {
    pub fn new() -> Engines {
        let engine =
            |execution, tier| Engine::new(Options { workers: 2, execution, tier, ..Options::default() });
        let checked = Options { checks: Checks::MEMORY, tier: Tier::Llvm, ..Options::default() };
        Engines {
            interpreted: engine(Execution::Interpreted, Tier::Cranelift),
            compiled: engine(Execution::CompiledOnly, Tier::Cranelift),
            lanewise: engine(Execution::CompiledOnly, Tier::Llvm),
            checked: Engine::new(Options { workers: 2, execution: Execution::CompiledOnly, ..checked }),
        }
    }

    /// Whether all leave the same memory; the first difference otherwise.
    pub fn compare(&self, kernel: &Kernel) -> Result<(), String> {
        let wanted = run(&self.interpreted, kernel)?;
        let engines =
            [("compiled", &self.compiled), ("by LLVM", &self.lanewise), ("by LLVM, checked", &self.checked)];
        for (what, engine) in engines {
            let found = run(engine, kernel)?;
            Self::same(kernel, &wanted, &found).map_err(|difference| format!("{what}: {difference}"))?;
        }
        Ok(())
    }

    fn same(kernel: &Kernel, wanted: &[u8], found: &[u8]) -> Result<(), String> {
        let Some(at) = wanted.iter().zip(found).position(|(wanted, found)| wanted != found) else {
            return Ok(());
        };
        let word =
            |bytes: &[u8]| u32::from_le_bytes(bytes[at / 4 * 4..][..4].try_into().expect("four bytes"));
        let threads = BLOCKS * kernel.threads;
        let place = match at / OUT {
            thread if thread < threads => format!("thread {thread}, byte {} of its results", at % OUT),
            _ => format!("byte {} of the sums", at - threads * OUT),
        };
        Err(format!("{place}: the word is {:#x}, not {:#x}", word(found), word(wanted)))
    }
}

/// The memory that a kernel leaves.
fn run(engine: &Engine, kernel: &Kernel) -> Result<Vec<u8>, String> {
    let module = gangway_ptx::parse(&kernel.text).map_err(|errors| format!("not valid: {errors}"))?;
    let program = engine.load(module).map_err(|error| format!("not loaded: {error:?}"))?;
    let (mut input, mut output) =
        (Buffer::new(BLOCKS * THREADS * IN)?, Buffer::new(BLOCKS * kernel.threads * OUT + 4 * SUMS)?);
    fill(input.bytes());
    output.bytes().fill(0);
    let entry = program.kernel("kernel").ok_or("no kernel")?;
    let parameters = [input.address.to_le_bytes(), output.address.to_le_bytes()].concat();
    engine
        .launch(&KernelLaunch {
            program: &program,
            kernel: entry,
            grid: [BLOCKS as u32, 1, 1],
            block: [kernel.threads as u32, 1, 1],
            shared: 0,
            parameters: &parameters,
            cooperative: false,
        })
        .map_err(|fault| format!("a fault: {fault}"))?;
    Ok(output.bytes().to_vec())
}

/// Words of all kinds: small numbers, floats, special values, noise.
fn fill(bytes: &mut [u8]) {
    let mut state = 0x1234_5678_9abc_def1_u64;
    for (index, word) in bytes.chunks_exact_mut(4).enumerate() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let noise = (state >> 24) as u32;
        let value = match noise % 7 {
            0 => index as u32 % 64,
            1 => (noise as i32 as f32 / 65536.0).to_bits(),
            2 => [0, 1, 0x8000_0000, 0x7f80_0000, 0xff80_0001, 0x7fc0_1234, 0x3f80_0000, 0xffff_ffff]
                [noise as usize / 8 % 8],
            3 => noise & 0xffff,
            _ => noise,
        };
        word.copy_from_slice(&value.to_le_bytes());
    }
}
