//! AQL packets: 64 bytes each (HSA Platform System Architecture 1.2, 2.9).

/// Bytes of a packet.
pub const SIZE: usize = 64;

/// `hsa_packet_type_t`
pub mod kind {
    pub const VENDOR_SPECIFIC: u8 = 0;
    pub const INVALID: u8 = 1;
    pub const KERNEL_DISPATCH: u8 = 2;
    pub const BARRIER_AND: u8 = 3;
    pub const AGENT_DISPATCH: u8 = 4;
    pub const BARRIER_OR: u8 = 5;
}

/// `HSA_AMD_PACKET_TYPE_BARRIER_VALUE`
pub const AMD_BARRIER_VALUE: u8 = 2;

/// Signals that a barrier packet waits for.
pub const DEPENDENCIES: usize = 5;

/// A packet's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packet(pub [u8; SIZE]);

impl Packet {
    /// `hsa_packet_type_t`, or any other number.
    #[must_use]
    pub fn kind(&self) -> u8 {
        self.0[0]
    }

    /// Of a vendor's packet the format (`hsa_amd_packet_type_t`).
    #[must_use]
    pub fn amd_format(&self) -> u8 {
        self.0[2]
    }

    /// Of a kernel dispatch how many dimensions the grid has.
    #[must_use]
    pub fn dimensions(&self) -> u8 {
        self.0[2] & 3
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|byte| self.0[at + byte]))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|byte| self.0[at + byte]))
    }

    /// Of a kernel dispatch the address of the kernel's descriptor.
    #[must_use]
    pub fn kernel_object(&self) -> u64 {
        self.u64(32)
    }

    /// Of a barrier the handles of the signals that it waits for; 0 is none.
    #[must_use]
    pub fn dependencies(&self) -> [u64; DEPENDENCIES] {
        std::array::from_fn(|at| self.u64(8 + 8 * at))
    }

    /// Of a barrier for a value: signal, value, mask and condition.
    #[must_use]
    pub fn awaited_value(&self) -> (u64, i64, i64, u32) {
        (self.u64(8), self.u64(16).cast_signed(), self.u64(24).cast_signed(), self.u32(32))
    }

    /// The handle of the signal that tells the packet's completion; 0 is none.
    #[must_use]
    pub fn completion(&self) -> u64 {
        self.u64(56)
    }
}
