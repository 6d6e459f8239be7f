//! What agents are like: the numbers that `hsa_agent_get_info` answers.

use gangway_gcn::Gpu;

use super::Agent;

/// Work-items of a wave. All processors here are of one width.
pub const WAVEFRONT_SIZE: u32 = 64;
/// Work-items of a work-group, at most.
pub const GROUP_LIMIT: u32 = 1024;
/// Queues of an agent, at most.
pub const QUEUES_MAX: u32 = 128;
/// Packets of a queue, at least and at most, as in ROCm.
pub const QUEUE_MIN_SIZE: u32 = 64;
pub const QUEUE_MAX_SIZE: u32 = 1 << 17;
/// Ticks a second of what kernels read (`s_memrealtime`).
pub const DEVICE_CLOCK: u64 = 100_000_000;
/// Bytes of a cache line.
pub const CACHELINE: u32 = 64;

/// PCI's number of a card with the processor.
#[must_use]
pub const fn chip(gpu: Gpu) -> u32 {
    match gpu {
        Gpu::Gfx900 => 0x6860,
        Gpu::Gfx906 => 0x66a1,
        Gpu::Gfx908 => 0x738c,
        Gpu::Gfx90a => 0x7408,
        Gpu::Gfx942 => 0x74a1,
    }
}

/// Waves that a compute unit has at most.
#[must_use]
pub const fn waves_per_unit(gpu: Gpu) -> u32 {
    match gpu {
        Gpu::Gfx900 | Gpu::Gfx906 | Gpu::Gfx908 => 40,
        Gpu::Gfx90a | Gpu::Gfx942 => 32,
    }
}

impl Agent {
    /// What `HSA_AGENT_INFO_NAME` answers; GCC's plugin knows the processor by it.
    #[must_use]
    pub fn name(&self) -> String {
        if self.is_gpu() { self.config().processor.name().to_owned() } else { processor_name() }
    }

    /// A name for people.
    #[must_use]
    pub fn product(&self) -> String {
        if self.is_gpu() { self.config().name.clone() } else { processor_name() }
    }

    /// How many compute units there are.
    #[must_use]
    pub fn units(&self) -> u32 {
        self.config().workers
    }

    /// Different for each device, and the same in every process.
    #[must_use]
    pub fn uuid(&self) -> String {
        match self.device() {
            Some(device) => format!("GPU-{:016x}", 0x6761_6e67_0000_0000_u64 | u64::from(device)),
            None => "CPU-XX".to_owned(),
        }
    }

    /// PCI's bus, device and function in one number.
    #[must_use]
    pub fn bdf(&self) -> u32 {
        self.number() << 8
    }
}

/// What the system says of the host's processor.
fn processor_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name = line.and_then(|line| line.split_once(':')).map_or("", |(_, name)| name.trim());
    if name.is_empty() { "CPU".to_owned() } else { name.to_owned() }
}
