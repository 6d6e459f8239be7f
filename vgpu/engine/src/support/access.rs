//! Loads and stores lane by lane: where an address leads to, and whether it may.

use gangway_device_memory::{
    AllocationKind, BASE, LOCAL_SIZE, LOCAL_WINDOW, Space as DeviceMemory, WINDOWS, is_device_address,
};
use gangway_interpreter::FaultKind;
use gangway_ptx::StateSpace;

use super::atomic::Operation;
use super::pointers::{Pointers, pointers};
use super::{fault, lanes, narrow, narrow_mut, own, run, spin};
use crate::abi::{LANES, Warp};

/// The space of an access, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Space {
    Generic,
    /// Also constants.
    Global,
    Shared,
    /// Also parameters.
    Local,
}

impl Space {
    /// Whether its addresses have 32 bits.
    #[must_use]
    pub const fn is_narrow(self) -> bool {
        matches!(self, Self::Shared | Self::Local)
    }

    #[must_use]
    pub fn of(space: StateSpace) -> Self {
        match space {
            StateSpace::Shared | StateSpace::SharedCta => Space::Shared,
            StateSpace::Local | StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
                Space::Local
            }
            StateSpace::Generic => Space::Generic,
            StateSpace::Global | StateSpace::Const => Space::Global,
            StateSpace::Reg | StateSpace::Sreg | StateSpace::SharedCluster => {
                unreachable!("no form of an access has this space")
            }
        }
    }
}

/// What is left of an address in shared or local memory, which is of 32 bits: wider registers are
/// truncated (PTX ISA 9.0 section 9.7.9, `ld` and its kin).
#[inline(always)]
pub(super) const fn narrow_address(address: u64) -> u64 {
    address as u32 as u64
}

/// What kind of access it is, packed into a number for helpers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Of an element, in bytes.
    pub size: u8,
    /// Elements.
    pub count: u8,
    pub space: Space,
    /// Volatile, or with an order: each element is accessed once, and nothing moves across.
    pub strong: bool,
    /// Checked to the byte.
    pub check: bool,
    /// What an atomic one does, if that has a fast path.
    pub operation: Option<Operation>,
}

impl Access {
    #[must_use]
    pub fn bits(self) -> i64 {
        i64::from(self.size)
            | i64::from(self.count) << 8
            | (self.space as i64) << 16
            | i64::from(self.strong) << 24
            | i64::from(self.check) << 25
            | self.operation.map_or(0, Operation::bits) << 32
    }

    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        let space = match bits >> 16 & 3 {
            0 => Space::Generic,
            1 => Space::Global,
            2 => Space::Shared,
            _ => Space::Local,
        };
        Access {
            size: bits as u8,
            count: (bits >> 8) as u8,
            space,
            strong: bits >> 24 & 1 != 0,
            check: bits >> 25 & 1 != 0,
            operation: Operation::from_bits((bits >> 32) as u8),
        }
    }

    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.size) * u64::from(self.count)
    }
}

/// Lane 0's local memory begins to be used here, so that a null pointer is none.
pub(crate) const FIRST_LOCAL: u64 = 256;

/// Where an access of a lane goes; the fault that it is otherwise.
pub(super) fn place(
    warp: &Warp,
    lane: usize,
    access: Access,
    address: u64,
    write: bool,
) -> Result<*mut u8, FaultKind> {
    let size = access.bytes();
    let address = if access.space.is_narrow() { narrow_address(address) } else { address };
    let outside = || FaultKind::OutOfBounds { address, size: size as usize, write };
    if !address.is_multiple_of(size.next_power_of_two()) {
        return Err(FaultKind::Misaligned { address, size: size as usize });
    }
    let within = |offset: u64, first: u64, end: u64| {
        offset >= first && offset.checked_add(size).is_some_and(|last| last <= end)
    };
    let local = |offset: u64| {
        if !within(offset, FIRST_LOCAL, warp.local_top.min(warp.local_stride)) {
            return Err(outside());
        }
        Ok(warp.local.wrapping_add((lane as u64 * warp.local_stride + offset) as usize))
    };
    match access.space {
        Space::Shared => {
            if !within(address, 0, warp.shared_size) {
                return Err(outside());
            }
            Ok(warp.shared.wrapping_add(address as usize))
        }
        Space::Local => local(address),
        Space::Generic if address.wrapping_sub(LOCAL_WINDOW) < LOCAL_SIZE => local(address - LOCAL_WINDOW),
        Space::Generic | Space::Global => {
            let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
            let own = warp.shared as u64;
            if access.check && !(own..own + warp.shared_size).contains(&address) {
                let memory = DeviceMemory::get().map_err(|error| FaultKind::Launch(error.to_string()))?;
                memory.check(address, size, write).map_err(|_| outside())?;
                if !is_device_address(address) {
                    // SAFETY: the engine has set up the warp, which runs.
                    unsafe { warp.host() }.note_host_access(warp, lane, address, size, write);
                }
                return Ok(pointer);
            }
            // What is in the range and not allocated raises a signal.
            let inside = address.wrapping_sub(BASE) < WINDOWS - BASE;
            let host = || DeviceMemory::get().is_ok_and(|memory| warp.windows.find(memory, address, size));
            if inside || warp.windows.cover(address, size) || host() { Ok(pointer) } else { Err(outside()) }
        }
    }
}

/// Loads for the lanes of `mask` from the warp's `addresses` to its `values`, zero-extended.
pub(super) unsafe extern "C" fn load(warp: *mut Warp, mask: u64, access: u64) {
    // SAFETY: compiled code passes its warp; places are in memory that may be read.
    unsafe {
        run(warp, |warp| {
            let (mask, access) = (mask as u32, Access::from_bits(access));
            if access.strong {
                spin(warp);
            }
            if access.space == Space::Local && !access.check && own::load(warp, mask, access) {
                return;
            }
            if let Some(Pointers { each, .. }) = pointers(warp, mask, access) {
                for index in 0..usize::from(access.count) {
                    let offset = index * usize::from(access.size);
                    let values = &mut warp.values[index];
                    let place = |lane: usize| each[lane].add(offset).cast_const();
                    match access.size {
                        1 => {
                            load_each(mask, place, |lane, value: u8| narrow_mut(values)[lane] = value.into())
                        }
                        2 => {
                            load_each(mask, place, |lane, value: u16| narrow_mut(values)[lane] = value.into())
                        }
                        4 => load_each(mask, place, |lane, value: u32| narrow_mut(values)[lane] = value),
                        _ => load_each(mask, place, |lane, value: u64| values[lane] = value),
                    }
                }
                return;
            }
            let mut last = None;
            for lane in lanes(mask) {
                let from = match place(warp, lane, access, warp.addresses[lane], false) {
                    Ok(from) => from,
                    Err(kind) => fault(warp, 1 << lane, kind),
                };
                let same = last.replace((from, lane)).filter(|&(other, _)| other == from);
                for index in 0..usize::from(access.count) {
                    if let Some((_, other)) = same {
                        let values = &mut warp.values[index];
                        if access.size == 8 {
                            values[lane] = values[other];
                        } else {
                            let values = narrow_mut(values);
                            values[lane] = values[other];
                        }
                        continue;
                    }
                    let from = from.wrapping_add(index * usize::from(access.size));
                    let value = match access.size {
                        1 => from.read_volatile().into(),
                        2 => from.cast::<u16>().read_volatile().into(),
                        4 => from.cast::<u32>().read_volatile().into(),
                        _ => from.cast::<u64>().read_volatile(),
                    };
                    if access.size == 8 {
                        warp.values[index][lane] = value;
                    } else {
                        narrow_mut(&mut warp.values[index])[lane] = value as u32;
                    }
                }
            }
        });
    }
}

/// Loads an element for each lane. Lanes side by side with one place load once, as on hardware:
/// another block may store there meanwhile, and GCC's code has all lanes go on with the same value.
///
/// # Safety
/// The places of the lanes are in memory that may be read.
#[inline(always)]
unsafe fn load_each<T: Copy>(mask: u32, place: impl Fn(usize) -> *const u8, mut put: impl FnMut(usize, T)) {
    if mask == 0 {
        return;
    }
    // SAFETY: by the caller; elements are as aligned as they have to be.
    let load = |place: *const u8| unsafe { place.cast::<T>().read_volatile() };
    let mut last = place(mask.trailing_zeros() as usize);
    let mut value = load(last);
    each_lane(mask, |lane| {
        let place = place(lane);
        if place != last {
            (last, value) = (place, load(place));
        }
        put(lane, value);
    });
}

/// Does something for each lane of a mask, with no test where that is all of them.
#[inline(always)]
pub(super) fn each_lane(mask: u32, mut work: impl FnMut(usize)) {
    if mask == u32::MAX {
        (0..LANES).for_each(work);
    } else {
        lanes(mask).for_each(&mut work);
    }
}

/// The lanes that store, of those of `mask`: one if all have the same place, as on hardware. Whoever
/// else looks there, as the host that takes a call out of a mailbox, sees one store and not many.
#[inline(always)]
fn storing<P: PartialEq>(mask: u32, place: impl Fn(usize) -> P) -> u32 {
    let last = last_lane(mask);
    if last == mask {
        return mask;
    }
    let (first, one) = (place(mask.trailing_zeros() as usize), place(last.trailing_zeros() as usize));
    let is_shared = first == one && lanes(mask).all(|lane| place(lane) == one);
    if is_shared { last } else { mask }
}

/// The last lane of a mask, whose value stays where lanes store to one place.
fn last_lane(mask: u32) -> u32 {
    if mask == 0 { 0 } else { 1 << mask.ilog2() }
}

/// Stores the warp's `values` to its `addresses` for the lanes of `mask`.
pub(super) unsafe extern "C" fn store(warp: *mut Warp, mask: u64, access: u64) {
    // SAFETY: compiled code passes its warp; places are in memory that may be written.
    unsafe {
        run(warp, |warp| {
            let (mask, access) = (mask as u32, Access::from_bits(access));
            if access.space == Space::Local && !access.check && own::store(warp, mask, access) {
                return;
            }
            if let (Some(Pointers { each, .. }), 1) = (pointers(warp, mask, access), access.count) {
                let values = &warp.values[0];
                let mask = storing(mask, |lane| each[lane]);
                match access.size {
                    1 => each_lane(mask, |lane| each[lane].write_volatile(narrow(values)[lane] as u8)),
                    2 => each_lane(mask, |lane| {
                        each[lane].cast::<u16>().write_volatile(narrow(values)[lane] as u16)
                    }),
                    4 => {
                        each_lane(mask, |lane| each[lane].cast::<u32>().write_volatile(narrow(values)[lane]))
                    }
                    _ => each_lane(mask, |lane| each[lane].cast::<u64>().write_volatile(values[lane])),
                }
                return;
            }
            for lane in lanes(mask) {
                let to = match place(warp, lane, access, warp.addresses[lane], true) {
                    Ok(to) => to,
                    Err(kind) => fault(warp, 1 << lane, kind),
                };
                for index in 0..usize::from(access.count) {
                    let to = to.wrapping_add(index * usize::from(access.size));
                    let values = &warp.values[index];
                    match access.size {
                        1 => to.write_volatile(narrow(values)[lane] as u8),
                        2 => to.cast::<u16>().write_volatile(narrow(values)[lane] as u16),
                        4 => to.cast::<u32>().write_volatile(narrow(values)[lane]),
                        _ => to.cast::<u64>().write_volatile(values[lane]),
                    }
                }
            }
        });
    }
}

/// Stores the warp's first `values` for the lanes of `mask`, which is in memory that may be
/// written, `step` bytes from lane to lane.
pub(super) unsafe extern "C" fn store_row(warp: *mut Warp, mask: u64, first: *mut u8, step: u64, size: u64) {
    // SAFETY: compiled code passes its warp, and has checked where it goes.
    unsafe {
        let (mask, values) = (mask as u32, &(*warp).values[0]);
        let mask = if step == 0 { last_lane(mask) } else { mask };
        let to = |lane: usize| first.wrapping_offset((step as i64 * lane as i64) as isize);
        match size {
            1 => each_lane(mask, |lane| to(lane).write_volatile(narrow(values)[lane] as u8)),
            2 => each_lane(mask, |lane| to(lane).cast::<u16>().write_volatile(narrow(values)[lane] as u16)),
            4 if step == 4 => store_consecutive(mask, narrow(values), first.cast()),
            4 => each_lane(mask, |lane| to(lane).cast::<u32>().write_volatile(narrow(values)[lane])),
            8 if step == 8 => store_consecutive(mask, values, first.cast()),
            _ => each_lane(mask, |lane| to(lane).cast::<u64>().write_volatile(values[lane])),
        }
    }
}

/// Loads consecutive elements of 4 or 8 bytes for the lanes of `mask`, which are in device memory
/// from `first` on, and puts them where those of lane 0 on are to be.
pub(super) unsafe extern "C" fn load_row(_: *mut Warp, mask: u64, first: *const u8, to: *mut u8, size: u64) {
    // SAFETY: compiled code has checked where it goes, and has room for what all lanes load.
    unsafe {
        let mask = mask as u32;
        match size {
            4 => each_lane(mask, |lane| {
                let value = first.cast::<u32>().wrapping_add(lane).read_volatile();
                to.cast::<u32>().add(lane).write(value);
            }),
            _ => each_lane(mask, |lane| {
                let value = first.cast::<u64>().wrapping_add(lane).read_volatile();
                to.cast::<u64>().add(lane).write(value);
            }),
        }
    }
}

/// Stores consecutive elements for the lanes of a mask.
///
/// # Safety
/// `first` is where lane 0 stores to, and the memory of all lanes in the mask may be written.
#[inline(always)]
unsafe fn store_consecutive<T: Copy>(mask: u32, values: &[T; LANES], first: *mut T) {
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>() == 4 && is_x86_feature_detected!("avx512vl") {
        // SAFETY: by the caller; elements of four bytes are words.
        unsafe { store_masked(mask, &*std::ptr::from_ref(values).cast(), first.cast()) };
        return;
    }
    let (quads, _) = values.as_chunks::<4>();
    for (number, quad) in quads.iter().enumerate() {
        let (mask, to) = (mask >> (4 * number) & 0xf, first.wrapping_add(4 * number));
        if mask == 0xf {
            // SAFETY: by the caller. Elements are as aligned as they have to be, which four of them
            // are not.
            unsafe { to.cast::<[T; 4]>().write_unaligned(*quad) };
        } else if mask != 0 {
            for (lane, &value) in quad.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0) {
                // SAFETY: as above.
                unsafe { to.wrapping_add(lane).write_volatile(value) };
            }
        }
    }
}

/// As [`store_consecutive`], without a branch: masks are different each time, and no processor
/// foretells them. Memory of other lanes is neither touched nor has to be there.
///
/// # Safety
/// As there; the processor has AVX-512VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn store_masked(mask: u32, values: &[i32; LANES], first: *mut i32) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_mask_storeu_epi32};
    // Four at a time, as they have just been written: what is read in larger parts has to wait.
    for (number, four) in values.as_chunks::<4>().0.iter().enumerate() {
        let chosen = (mask >> (4 * number)) as u8 & 0xf;
        // SAFETY: four values, and the memory of the lanes that are chosen, by the caller.
        unsafe {
            let four = _mm_loadu_si128(four.as_ptr().cast());
            _mm_mask_storeu_epi32(first.wrapping_add(4 * number), chosen, four);
        }
    }
}

/// What `isspacep` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsIn {
    Global,
    Constant,
    Local,
    Parameters,
}

impl IsIn {
    #[must_use]
    pub fn of(space: StateSpace) -> Self {
        match space {
            StateSpace::Const => IsIn::Constant,
            StateSpace::Local => IsIn::Local,
            StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => IsIn::Parameters,
            StateSpace::Global => IsIn::Global,
            StateSpace::Shared | StateSpace::SharedCta => unreachable!("compiled code asks that itself"),
            StateSpace::Reg | StateSpace::Sreg | StateSpace::SharedCluster | StateSpace::Generic => {
                unreachable!("no form of 'isspacep' has this space")
            }
        }
    }
}

/// Those lanes of `mask` whose generic address in `values[0]` is in a space. The kernel's
/// parameters count as global memory as well, constants do not.
pub(super) unsafe extern "C" fn is_space(warp: *mut Warp, mask: u64, space: u64) -> u64 {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let mut bits = 0;
            for lane in lanes(mask as u32) {
                let address = warp.values[0][lane];
                let local = address.wrapping_sub(LOCAL_WINDOW);
                let parameter = local >= FIRST_LOCAL && local < warp.local_parameters;
                let shared = address.wrapping_sub(warp.shared as u64) < warp.shared_size;
                let constant = || {
                    let allocation = DeviceMemory::get().ok().and_then(|memory| memory.find(address));
                    allocation.is_some_and(|allocation| allocation.kind == AllocationKind::Constant)
                };
                let holds = if space == IsIn::Parameters as u64 {
                    parameter
                } else if space == IsIn::Local as u64 {
                    local < LOCAL_SIZE && !parameter
                } else if space == IsIn::Constant as u64 {
                    constant()
                } else {
                    parameter || !shared && local >= LOCAL_SIZE && !constant()
                };
                bits |= u64::from(holds) << lane;
            }
            bits
        })
    }
}

/// `cp.async`: to the shared `addresses` from the global ones in `values[0]`, as many bytes as
/// `values[1]` says; the rest of `size` becomes zero.
pub(super) unsafe extern "C" fn copy(warp: *mut Warp, mask: u64, size: u64, check: u64) {
    // SAFETY: compiled code passes its warp; `place` gives places in memory that may be used.
    unsafe {
        run(warp, |warp| {
            let access = |space, size: u64| Access {
                size: size as u8,
                count: 1,
                space,
                strong: false,
                check: check != 0,
                operation: None,
            };
            for lane in lanes(mask as u32) {
                let taken = u64::from(narrow(&warp.values[1])[lane]).min(size);
                let source = warp.values[0][lane];
                let from = match taken {
                    _ if !source.is_multiple_of(size) => {
                        Err(FaultKind::Misaligned { address: source, size: size as usize })
                    }
                    0 => Ok(std::ptr::null_mut()),
                    // Less than the whole may be at the end of an allocation.
                    _ => (0..taken).try_fold(std::ptr::null_mut(), |first: *mut u8, offset| {
                        let place = place(warp, lane, access(Space::Global, 1), source + offset, false);
                        let outside =
                            FaultKind::OutOfBounds { address: source, size: taken as usize, write: false };
                        let place = place.map_err(|_| outside)?;
                        Ok(if first.is_null() { place } else { first })
                    }),
                };
                let to = place(warp, lane, access(Space::Shared, size), warp.addresses[lane], true);
                match (from, to) {
                    (Ok(from), Ok(to)) => {
                        let mut bytes = [0u8; 16];
                        if taken > 0 {
                            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), taken as usize);
                        }
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, size.min(16) as usize);
                    }
                    (Err(kind), _) | (_, Err(kind)) => fault(warp, 1 << lane, kind),
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_with_one_place_store_once() {
        assert_eq!(storing(u32::MAX, |_| 8), 1 << 31);
        assert_eq!(storing(0b0110, |_| 8), 0b0100);
        assert_eq!(storing(0b0100, |_| 8), 0b0100);
        assert_eq!(storing(u32::MAX, |lane| lane), u32::MAX);
        // The first and the last one alone are not all.
        assert_eq!(storing(0b0111, |lane| lane % 2), 0b0111);
        assert_eq!((storing(0, |lane| lane), last_lane(0)), (0, 0));
    }
}
