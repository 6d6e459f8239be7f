//! Kernel descriptors: 64 bytes that the packet processor reads (AMDGPU guide, "Kernel Descriptor").

use crate::bytes;
use crate::error::{Error, Result};
use crate::target::Target;

/// How large a descriptor is.
pub const SIZE: u64 = 64;
/// Descriptors lie at multiples of this.
pub const ALIGNMENT: u64 = 64;
/// Code begins at multiples of this.
pub const ENTRY_ALIGNMENT: u64 = 256;

/// A kernel's descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Bytes of LDS that are known when it is compiled.
    pub group_segment_size: u32,
    /// Bytes of private memory of a work-item.
    pub private_segment_size: u32,
    /// Bytes of arguments; 0 if the compiler did not say.
    pub kernarg_size: u32,
    /// From the descriptor to the first instruction.
    pub entry_offset: i64,
    pub rsrc1: Rsrc1,
    pub rsrc2: Rsrc2,
    pub rsrc3: Rsrc3,
    pub properties: Properties,
    /// How many words of the arguments are loaded into registers before the kernel begins, and which
    /// is the first of them.
    pub preload_length: u8,
    pub preload_offset: u16,
}

macro_rules! register {
    ($(#[$doc:meta])* $name:ident($type:ty) {
        $($(#[$field_doc:meta])* $field:ident: $low:literal, $count:literal;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub $type);

        impl $name {
            $(
                $(#[$field_doc])*
                #[must_use]
                pub const fn $field(self) -> u32 {
                    (self.0 as u32) >> $low & ((1u64 << $count) - 1) as u32
                }
            )*
        }
    };
}

register! {
    /// `compute_pgm_rsrc1`.
    Rsrc1(u32) {
        /// Vector registers in granules, less one; [`Descriptor::vector_registers`] counts.
        vgpr_granules: 0, 6;
        sgpr_granules: 6, 4;
        priority: 10, 2;
        /// How numbers of 32 bits are rounded when the kernel begins: nearest, up, down, to zero.
        round_mode_32: 12, 2;
        round_mode_16_64: 14, 2;
        /// Which denormal numbers of 32 bits are kept: bit 0 sources, bit 1 results.
        denorm_mode_32: 16, 2;
        denorm_mode_16_64: 18, 2;
        privileged: 20, 1;
        /// Whether NaN is clamped to 0. Since gfx12 round-robin of work-groups.
        dx10_clamp: 21, 1;
        debug_mode: 22, 1;
        /// Whether signalling NaN becomes quiet.
        ieee_mode: 23, 1;
        bulky: 24, 1;
        debug_user: 25, 1;
        /// Whether too large half-precision results are the largest number instead of infinity.
        fp16_overflow: 26, 1;
        workgroup_processor_mode: 29, 1;
        memory_ordered: 30, 1;
        forward_progress: 31, 1;
    }
}

register! {
    /// `compute_pgm_rsrc2`.
    Rsrc2(u32) {
        private_segment: 0, 1;
        /// How many scalar registers are set when the kernel begins.
        user_sgprs: 1, 5;
        trap_handler: 6, 1;
        workgroup_id_x: 7, 1;
        workgroup_id_y: 8, 1;
        workgroup_id_z: 9, 1;
        workgroup_info: 10, 1;
        /// Work-item numbers in vector registers: 0 x, 1 x and y, 2 all.
        workitem_id: 11, 2;
        exception_address_watch: 13, 1;
        exception_memory: 14, 1;
        /// Must be 0: the packet says it.
        lds_granules: 15, 9;
        exception_invalid: 24, 1;
        exception_denormal_source: 25, 1;
        exception_division_by_zero: 26, 1;
        exception_overflow: 27, 1;
        exception_underflow: 28, 1;
        exception_inexact: 29, 1;
        exception_integer_division_by_zero: 30, 1;
    }
}

register! {
    /// `compute_pgm_rsrc3`; its fields depend on the processor.
    Rsrc3(u32) {
        /// gfx90a and gfx942: the first accumulation register in groups of 4, less one.
        accum_offset: 0, 6;
        /// gfx90a and gfx942: whether a work-group's waves may be on several compute units.
        threadgroup_split: 16, 1;
        /// gfx10 and gfx11: vector registers that two waves share, in groups of 8.
        shared_vgprs: 0, 4;
        /// gfx11: how much code to fetch ahead.
        prefetch_size: 4, 6;
    }
}

register! {
    /// `kernel_code_properties`: what is in the scalar registers when the kernel begins, in this order.
    Properties(u16) {
        private_segment_buffer: 0, 1;
        dispatch_ptr: 1, 1;
        queue_ptr: 2, 1;
        kernarg_segment_ptr: 3, 1;
        dispatch_id: 4, 1;
        flat_scratch_init: 5, 1;
        private_segment_size: 6, 1;
        wavefront_size32: 10, 1;
        uses_dynamic_stack: 11, 1;
    }
}

impl Properties {
    /// How many scalar registers these take.
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.private_segment_buffer() * 4
            + (self.dispatch_ptr() + self.queue_ptr() + self.kernarg_segment_ptr()) * 2
            + (self.dispatch_id() + self.flat_scratch_init()) * 2
            + self.private_segment_size()
    }
}

impl Descriptor {
    /// Reads the 64 bytes; what must be 0 is.
    pub(crate) fn read(data: &[u8]) -> Result<Self> {
        let what = "a kernel descriptor";
        let reserved = [(12, 4), (24, 20), (60, 4)];
        for (offset, size) in reserved {
            if bytes::slice(data, what, offset, size)?.iter().any(|&byte| byte != 0) {
                return Err(Error::malformed("a kernel descriptor's reserved field", "not 0", "0"));
            }
        }
        let preload = bytes::u16(data, what, 58)?;
        Ok(Self {
            group_segment_size: bytes::u32(data, what, 0)?,
            private_segment_size: bytes::u32(data, what, 4)?,
            kernarg_size: bytes::u32(data, what, 8)?,
            entry_offset: bytes::u64(data, what, 16)?.cast_signed(),
            rsrc3: Rsrc3(bytes::u32(data, what, 44)?),
            rsrc1: Rsrc1(bytes::u32(data, what, 48)?),
            rsrc2: Rsrc2(bytes::u32(data, what, 52)?),
            properties: Properties(bytes::u16(data, what, 56)?),
            preload_length: (preload & 0x7f) as u8,
            preload_offset: preload >> 7,
        })
    }

    /// Work-items of a wave.
    #[must_use]
    pub const fn wavefront_size(&self) -> u32 {
        if self.properties.wavefront_size32() != 0 { 32 } else { 64 }
    }

    /// How many vector registers a wave gets; with accumulation registers where these share a file.
    #[must_use]
    pub fn vector_registers(&self, target: &Target) -> u32 {
        let wide = target.has_unified_registers() || self.wavefront_size() == 32;
        (self.rsrc1.vgpr_granules() + 1) * if wide { 8 } else { 4 }
    }

    /// How many scalar registers a wave gets; all there are since gfx10.
    #[must_use]
    pub fn scalar_registers(&self, target: &Target) -> u32 {
        if target.generation() >= 10 { 128 } else { (self.rsrc1.sgpr_granules() + 1) * 8 }
    }

    /// The first accumulation register, where they share the file of vector registers.
    #[must_use]
    pub fn first_accumulator(&self, target: &Target) -> Option<u32> {
        target.has_unified_registers().then(|| (self.rsrc3.accum_offset() + 1) * 4)
    }
}
