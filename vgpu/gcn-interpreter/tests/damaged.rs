//! Code that nobody wrote: random words run until something is wrong with them. Nothing panics, and every failure is
//! a fault.

use std::sync::atomic::AtomicBool;

use gangway_gcn::table::row::*;
use gangway_gcn::{Decoder, Gpu, Instruction};
use gangway_gcn_interpreter::{Dispatch, Fault, FaultKind, Flat, Memory, Packet, Scratch, launch};

/// How many programs are tried for a processor; `GANGWAY_GCN_DAMAGED` says another number.
const PROGRAMS: u64 = 300;

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A descriptor of a kernel that gets all registers there are, and what it asks for.
fn descriptor(gpu: Gpu, numbers: &mut Numbers) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut word = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    word(0, 256);
    word(4, 128);
    word(16, 256);
    let modes = (numbers.next() as u32 & 0xff) << 12 | (numbers.next() as u32 & 5) << 21;
    word(44, if gpu.unified_registers() { 31 } else { 0 });
    word(48, 63 | 12 << 6 | modes);
    word(52, 1 | 13 << 1 | 7 << 7 | 2 << 11);
    word(56, 0x3f);
    bytes
}

/// Whether it fails or leaves, whatever the registers hold: of these there are few, so that the others run.
fn ends_early(instruction: &Instruction) -> bool {
    let leaves = ENDS | BRANCHES | TRAPS | MESSAGE | WRITES_MODE;
    let memory = READS_MEMORY | WRITES_MEMORY;
    instruction.row.effects.any(leaves | memory) && !instruction.row.effects.any(CROSSES_LANES)
}

fn run(gpu: Gpu, seed: u64) -> Result<(), Box<Fault>> {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let memory = Flat::new();
    let kernel = memory.allocate(4096, 4096);
    memory.write(kernel, &descriptor(gpu, &mut numbers)).expect("it was allocated");
    // Instructions that the decoder takes, then whatever comes.
    let mut code = Vec::new();
    while code.len() < 2048 {
        let words: Vec<u8> = (0..2).flat_map(|_| (numbers.next() as u32).to_le_bytes()).collect();
        if let Ok(instruction) = Decoder::of(gpu).decode(&words)
            && gangway_gcn_interpreter::runs(instruction.row)
            && (!ends_early(&instruction) || numbers.next().is_multiple_of(16))
        {
            code.extend_from_slice(&words[..usize::from(instruction.size)]);
        }
    }
    memory.write(kernel + 256, &code).expect("it was allocated");
    let kernarg = memory.allocate(4096, 256);
    let packet = Packet {
        workgroup: [70, 1, 1],
        grid: [100, 1, 1],
        private_segment_size: 128,
        group_segment_size: 256,
        kernel_object: kernel,
        kernarg_address: kernarg,
    };
    let scratch = packet.group_scratch();
    let dispatch = Dispatch {
        gpu,
        packet,
        packet_address: kernarg,
        queue_address: kernarg,
        dispatch_id: 1,
        scratch: Scratch { base: memory.allocate(scratch as usize, 256), size: scratch },
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ended = std::sync::mpsc::channel::<()>();
        let stop = &stop;
        scope.spawn(move || {
            let _ = ended.1.recv_timeout(std::time::Duration::from_millis(500));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let found = launch(&memory, &dispatch, stop);
        drop(ended.0);
        found
    })
}

#[test]
fn random_code() {
    let programs = std::env::var("GANGWAY_GCN_DAMAGED").ok().and_then(|text| text.parse().ok());
    let mut launches = 0;
    for gpu in Gpu::ALL {
        for seed in 0..programs.unwrap_or(PROGRAMS) {
            if let Err(fault) = run(gpu, seed) {
                launches += u64::from(matches!(fault.kind, FaultKind::Launch(_)));
            }
        }
    }
    assert_eq!(launches, 0, "the packets are right");
}
