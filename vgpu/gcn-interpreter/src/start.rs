//! What is in a wave's registers when a kernel begins (AMDGPU guide, "Initial Kernel Execution State").

use gangway_code_object::Descriptor;
use gangway_gcn::Gpu;
use gangway_gcn::operand::scalar;

use crate::dispatch::Dispatch;
use crate::registers::Registers;
use crate::wave::{LANES, Wave};

/// What kernels may ask for that the interpreter does not do.
#[must_use]
pub fn unsupported(descriptor: &Descriptor) -> Option<&'static str> {
    let rsrc2 = descriptor.rsrc2;
    let exceptions = [
        rsrc2.exception_address_watch(),
        rsrc2.exception_memory(),
        rsrc2.exception_invalid(),
        rsrc2.exception_denormal_source(),
        rsrc2.exception_division_by_zero(),
        rsrc2.exception_overflow(),
        rsrc2.exception_underflow(),
        rsrc2.exception_inexact(),
        rsrc2.exception_integer_division_by_zero(),
    ];
    exceptions.iter().any(|on| *on != 0).then_some("a kernel that traps exceptions")
}

/// Sets all registers.
pub fn registers(dispatch: &Dispatch, descriptor: &Descriptor, wave: &mut Wave) {
    vector(dispatch.gpu, descriptor, wave);
    let first = user(dispatch, descriptor, wave);
    system(dispatch, descriptor, wave, first);
    let items: u32 = wave.extent.iter().product();
    let lanes = items.saturating_sub(wave.number * LANES as u32).min(LANES as u32);
    wave.set_exec(if lanes == 0 { 0 } else { u64::MAX >> (LANES as u32 - lanes) });
    if dispatch.gpu == Gpu::Gfx942 {
        // No register has the address; hardware adds it.
        wave.set_pair(scalar::FLAT_SCRATCH, 0);
    }
}

/// Hands out scalar registers in their order.
struct Next<'a> {
    wave: &'a mut Wave,
    number: u8,
}

impl Next<'_> {
    fn word(&mut self, value: u32) {
        self.wave.set_scalar(self.number, value);
        self.number += 1;
    }

    fn wide(&mut self, value: u64) {
        self.word(value as u32);
        self.word((value >> 32) as u32);
    }
}

/// What the packet and the queue say; returns the first register behind.
fn user(dispatch: &Dispatch, descriptor: &Descriptor, wave: &mut Wave) -> u8 {
    let properties = descriptor.properties;
    let packet = &dispatch.packet;
    let mut next = Next { wave, number: 0 };
    if properties.private_segment_buffer() != 0 {
        // Swizzled with lanes' numbers, an index stride of 64, and words as elements.
        let base = dispatch.scratch.base;
        next.wide(base & 0xffff_ffff_ffff | 1 << 63);
        next.word(u32::MAX);
        next.word(1 << 23 | 3 << 21 | PLAIN_WORDS);
    }
    if properties.dispatch_ptr() != 0 {
        next.wide(dispatch.packet_address);
    }
    if properties.queue_ptr() != 0 {
        next.wide(dispatch.queue_address);
    }
    if properties.kernarg_segment_ptr() != 0 {
        next.wide(packet.kernarg_address);
    }
    if properties.dispatch_id() != 0 {
        next.wide(dispatch.dispatch_id);
    }
    if properties.flat_scratch_init() != 0 {
        next.wide(dispatch.scratch.base);
    }
    if properties.private_segment_size() != 0 {
        next.word(packet.private_segment_size);
    }
    // Arguments that could be loaded ahead are not: kernels begin with code that loads them where
    // hardware does not (AMDGPU guide, "Preloaded Kernel Arguments").
    descriptor.rsrc2.user_sgprs() as u8
}

/// Which elements are read (x, y, z, w), and that they are unsigned numbers.
const PLAIN_WORDS: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12;

/// The work-group's place, and where in the scratch memory the wave's begins.
fn system(dispatch: &Dispatch, descriptor: &Descriptor, wave: &mut Wave, first: u8) {
    let rsrc2 = descriptor.rsrc2;
    let (group, number) = (wave.group, wave.number);
    let scratch = wave.scratch.wrapping_sub(dispatch.scratch.base) as u32;
    let mut next = Next { wave, number: first };
    let enabled = [rsrc2.workgroup_id_x(), rsrc2.workgroup_id_y(), rsrc2.workgroup_id_z()];
    for (place, _) in group.iter().zip(enabled).filter(|(_, enabled)| *enabled != 0) {
        next.word(*place);
    }
    if rsrc2.workgroup_info() != 0 {
        // Whether it is the first wave, and how many there are.
        let waves = next.wave.extent.iter().product::<u32>().div_ceil(LANES as u32);
        next.word(u32::from(number == 0) << 31 | waves);
    }
    if rsrc2.private_segment() != 0 {
        next.word(scratch);
    }
}

/// Vector registers: the work-items' numbers.
fn vector(gpu: Gpu, descriptor: &Descriptor, wave: &mut Wave) {
    wave.registers = Registers::of(gpu, descriptor);
    wave.vector = vec![[0; LANES]; wave.registers.count];
    let packed = gpu.unified_registers();
    let items = descriptor.rsrc2.workitem_id() as usize;
    for lane in 0..LANES {
        let item = wave.item(lane);
        if packed {
            wave.vector[0][lane] = item[0] & 0x3ff | (item[1] & 0x3ff) << 10 | (item[2] & 0x3ff) << 20;
            continue;
        }
        for (number, place) in item.into_iter().enumerate().take(items + 1) {
            if let Some(register) = wave.vector.get_mut(number) {
                register[lane] = place;
            }
        }
    }
}
