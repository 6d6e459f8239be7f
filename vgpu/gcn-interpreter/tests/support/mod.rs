//! A device for tests: compiled kernels, loaded and launched.

use std::path::Path;
use std::process::Command;

use gangway_code_object::{CodeObject, Loaded, ValueKind};
use gangway_commands::Folder;
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::{
    Dispatch, Flat, GROUP_APERTURE, Memory, PACKET_SIZE, PRIVATE_APERTURE, Packet, Scratch,
};

/// Whether the compiler is there; says so if not.
pub fn is_possible() -> bool {
    let found = ["clang-22", "ld.lld-22"]
        .into_iter()
        .all(|tool| Command::new(tool).arg("--version").output().is_ok());
    if !found {
        eprintln!("skipping the compiled kernels: clang-22 or lld-22 is not installed");
    }
    found
}

/// Runs clang.
pub fn clang(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("clang-22").args(arguments).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("clang-22 {arguments:?}: {}", said.chars().take(4000).collect::<String>()))
}

/// The code object of a source: C, or assembly.
pub fn compile(gpu: Gpu, level: &str, source: &Path, more: &[&str]) -> Result<Vec<u8>, String> {
    let folder = Folder::new();
    let image = folder.join("image.so");
    let (processor, source, to) =
        (format!("-mcpu={gpu}"), source.display().to_string(), image.display().to_string());
    let target =
        ["--target=amdgcn-amd-amdhsa", &processor, "-nogpulib", level, "-w", "-fwrapv", "-ffp-contract=off"];
    // clang 22 moves instructions out of loops that lanes leave at different turns, though they read what is
    // then the last lane's number of turns.
    let sound = ["-mllvm", "-disable-machine-sink"];
    clang(&[&target[..], &sound, &[&source, "-o", &to], more].concat())?;
    std::fs::read(&image).map_err(|error| error.to_string())
}

/// Memory that can be allocated.
pub trait Heap: Memory {
    fn allocate(&self, size: usize, align: u64) -> u64;
}

impl Heap for Flat {
    fn allocate(&self, size: usize, align: u64) -> u64 {
        Self::allocate(self, size, align)
    }
}

/// A code object in memory.
pub struct Device<M> {
    pub memory: M,
    gpu: Gpu,
    pub base: u64,
}

/// How a kernel is launched.
#[derive(Clone, Copy)]
pub struct Size {
    pub grid: [u32; 3],
    pub group: [u16; 3],
    /// LDS beside the kernel's own.
    pub shared: u32,
    /// Private memory beside the kernel's own, for calls that the compiler does not know.
    pub private: u32,
}

impl<M: Heap> Device<M> {
    pub fn new(gpu: Gpu, memory: M, object: &CodeObject<'_>) -> Self {
        let base = memory.allocate(object.memory_size as usize, 4096);
        let loaded = Loaded::new(object, base, |_| None).expect("every symbol is there");
        loaded.write(|address, bytes| memory.write(address, bytes)).expect("it was allocated");
        Self { memory, gpu, base }
    }

    /// New memory with these bytes.
    pub fn buffer(&self, bytes: &[u8]) -> u64 {
        let address = self.memory.allocate(bytes.len(), 256);
        self.memory.write(address, bytes).expect("it was allocated");
        address
    }

    pub fn read(&self, address: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        self.memory.read(address, &mut bytes).expect("it is allocated");
        bytes
    }

    /// A launch of a kernel with 64-bit arguments.
    pub fn dispatch(&self, object: &CodeObject<'_>, kernel: &str, size: Size, arguments: &[u64]) -> Dispatch {
        let kernel = object.kernel(kernel).expect("the kernel is there");
        let said = object.said(kernel);
        let private = kernel.descriptor.private_segment_size + size.private;
        let lds = kernel.descriptor.group_segment_size + size.shared;
        let queue = self.buffer(&queue());
        let mut kernarg = vec![0; said.kernarg_segment_size as usize + 64];
        let mut values = arguments.iter();
        for argument in &said.arguments {
            let value = match argument.kind {
                ValueKind::HiddenBlockCountX => u64::from(size.grid[0] / u32::from(size.group[0])),
                ValueKind::HiddenBlockCountY => u64::from(size.grid[1] / u32::from(size.group[1])),
                ValueKind::HiddenBlockCountZ => u64::from(size.grid[2] / u32::from(size.group[2])),
                ValueKind::HiddenGroupSizeX => size.group[0].into(),
                ValueKind::HiddenGroupSizeY => size.group[1].into(),
                ValueKind::HiddenGroupSizeZ => size.group[2].into(),
                ValueKind::HiddenRemainderX => u64::from(size.grid[0] % u32::from(size.group[0])),
                ValueKind::HiddenGridDims => 3,
                ValueKind::HiddenQueuePtr => queue,
                ValueKind::HiddenPrivateBase => PRIVATE_APERTURE >> 32,
                ValueKind::HiddenSharedBase => GROUP_APERTURE >> 32,
                ValueKind::GlobalBuffer | ValueKind::ByValue => *values.next().expect("an argument"),
                _ => 0,
            };
            let at = argument.offset as usize;
            let bytes = argument.size as usize;
            kernarg[at..at + bytes.min(8)].copy_from_slice(&value.to_le_bytes()[..bytes.min(8)]);
        }
        let mut bytes = [0u8; PACKET_SIZE];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        for place in 0..3 {
            put(4 + 2 * place, &size.group[place].to_le_bytes());
            put(12 + 4 * place, &size.grid[place].to_le_bytes());
        }
        put(24, &private.to_le_bytes());
        put(28, &lds.to_le_bytes());
        put(32, &(self.base + kernel.descriptor_address).to_le_bytes());
        put(40, &self.buffer(&kernarg).to_le_bytes());
        let packet = Packet::new(&bytes);
        let scratch = packet.group_scratch() * 2;
        Dispatch {
            gpu: self.gpu,
            packet,
            packet_address: self.buffer(&bytes),
            queue_address: queue,
            dispatch_id: 7,
            scratch: Scratch { base: self.memory.allocate(scratch as usize, 4096), size: scratch },
        }
    }
}

/// A queue's structure, with the apertures in it.
fn queue() -> Vec<u8> {
    let mut bytes = vec![0; 256];
    bytes[0x40..0x44].copy_from_slice(&((GROUP_APERTURE >> 32) as u32).to_le_bytes());
    bytes[0x44..0x48].copy_from_slice(&((PRIVATE_APERTURE >> 32) as u32).to_le_bytes());
    bytes
}
