//! What is launched: the packet, the kernel's descriptor, and the memory that the launch works with.

use gangway_code_object::Descriptor;
use gangway_code_object::descriptor::SIZE;
use gangway_gcn::Gpu;

use crate::fault::FaultKind;
use crate::memory::Memory;

/// Lanes of a wave. All processors that the decoder has are of one width.
pub const LANES: u32 = 64;

/// Where LDS and private memory lie in the flat address space: 4 GiB from here, as Linux's driver
/// sets it for this family. No pointer of a process is there. A queue's structure has the upper halves
/// (`amd_queue_t`, `group_segment_aperture_base_hi` and `private_segment_aperture_base_hi`).
pub const GROUP_APERTURE: u64 = 1 << 48;
pub const PRIVATE_APERTURE: u64 = 2 << 48;

/// How many bytes a kernel dispatch packet has (HSA runtime, 2.8.6).
pub const PACKET_SIZE: usize = 64;
/// Work-items of a work-group, at most.
const GROUP_LIMIT: u32 = 1024;
/// Bytes of LDS of a work-group, at most.
const LDS_LIMIT: u32 = 1 << 16;
/// In what steps a wave gets scratch memory (`COMPUTE_TMPRING_SIZE`).
const SCRATCH_GRANULE: u64 = 1024;
/// Scratch memory of a wave, at most.
const SCRATCH_LIMIT: u64 = 1 << 32;

/// What a kernel dispatch packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Work-items of a work-group and of the grid.
    pub workgroup: [u16; 3],
    pub grid: [u32; 3],
    /// Bytes of private memory of a work-item.
    pub private_segment_size: u32,
    /// Bytes of LDS of a work-group: those of the kernel and dynamic ones.
    pub group_segment_size: u32,
    /// The address of the kernel's descriptor.
    pub kernel_object: u64,
    pub kernarg_address: u64,
}

impl Packet {
    /// Reads the packet's bytes.
    #[must_use]
    pub fn new(bytes: &[u8; PACKET_SIZE]) -> Self {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let wide = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Self {
            workgroup: [half(4), half(6), half(8)],
            grid: [word(12), word(16), word(20)],
            private_segment_size: word(24),
            group_segment_size: word(28),
            kernel_object: wide(32),
            kernarg_address: wide(40),
        }
    }

    /// Work-items of a work-group.
    #[must_use]
    pub fn items(&self) -> u32 {
        let [x, y, z] = self.workgroup.map(u32::from);
        x.saturating_mul(y).saturating_mul(z)
    }

    #[must_use]
    pub fn waves(&self) -> u32 {
        self.items().div_ceil(LANES)
    }

    /// How many work-groups there are in each direction.
    #[must_use]
    pub fn groups(&self) -> [u32; 3] {
        std::array::from_fn(|at| self.grid[at].div_ceil(u32::from(self.workgroup[at].max(1))))
    }

    /// How much scratch memory a wave takes.
    #[must_use]
    pub fn wave_scratch(&self) -> u64 {
        (u64::from(self.private_segment_size) * u64::from(LANES)).next_multiple_of(SCRATCH_GRANULE)
    }

    /// How much a launch needs at least, for one work-group. With more, more of them run by turns.
    #[must_use]
    pub fn group_scratch(&self) -> u64 {
        self.wave_scratch() * u64::from(self.waves())
    }
}

/// Memory for private variables. Its layout is that of hardware: the same word of all lanes side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scratch {
    /// A multiple of 256.
    pub base: u64,
    pub size: u64,
}

/// A launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    pub gpu: Gpu,
    pub packet: Packet,
    /// Where the packet is; kernels read it.
    pub packet_address: u64,
    /// Where the queue's structure is (`amd_queue_t`).
    pub queue_address: u64,
    /// The number of the launch in its queue.
    pub dispatch_id: u64,
    /// No larger than the kernel needs: see [`Packet::group_scratch`].
    pub scratch: Scratch,
}

impl Dispatch {
    /// Whether a launch is right, as far as its packet says it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, memory: &dyn Memory) -> Result<(), FaultKind> {
        self.descriptor(memory).map(|_| ())
    }

    /// The kernel's descriptor, when all sizes are right.
    pub(crate) fn descriptor(&self, memory: &dyn Memory) -> Result<Descriptor, FaultKind> {
        let fail = |what: String| Err(FaultKind::Launch(what));
        let packet = &self.packet;
        let mut bytes = [0; SIZE as usize];
        memory.read(packet.kernel_object, &mut bytes)?;
        let descriptor =
            Descriptor::read(&bytes).map_err(|error| FaultKind::Launch(format!("the kernel: {error}")))?;
        if packet.workgroup.contains(&0) || packet.grid.contains(&0) || packet.items() > GROUP_LIMIT {
            return fail(format!("a grid of {:?} in work-groups of {:?}", packet.grid, packet.workgroup));
        }
        if descriptor.wavefront_size() != LANES {
            return fail("a kernel with waves of 32 work-items".to_owned());
        }
        if packet.group_segment_size > LDS_LIMIT || packet.group_segment_size < descriptor.group_segment_size
        {
            return fail(format!(
                "{} bytes of LDS: the kernel has {}, a work-group at most {LDS_LIMIT}",
                packet.group_segment_size, descriptor.group_segment_size
            ));
        }
        if packet.private_segment_size < descriptor.private_segment_size {
            return fail(format!(
                "{} bytes of private memory; the kernel needs {}",
                packet.private_segment_size, descriptor.private_segment_size
            ));
        }
        let scratch = packet.group_scratch();
        if packet.wave_scratch() > SCRATCH_LIMIT || self.scratch.size < scratch {
            return fail(format!(
                "{} bytes of scratch memory; the launch needs {scratch}",
                self.scratch.size
            ));
        }
        Ok(descriptor)
    }
}
