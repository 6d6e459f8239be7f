//! Loads and stores lane by lane.

use super::helper::{fault, run, spin};
use super::lanes::{each_lane, lanes, narrow, narrow_mut};
use super::own;
use super::place::{Access, Space, loose_place};
use super::pointers::{Pointers, pointers, row};
use super::rows::{last_lane, load_consecutive, store_consecutive};
use super::watch;
use crate::abi::Warp;

/// Loads for the lanes of `mask` from the warp's `addresses` to its `values`, zero-extended.
pub(super) unsafe extern "C" fn load(warp: *mut Warp, mask: u64, access: u64) {
    // SAFETY: compiled code passes its warp; places are in memory that may be read.
    unsafe {
        run(warp, |warp| {
            let (mask, access) = (mask as u32, Access::from_bits(access));
            if access.strong {
                spin(warp);
            }
            if access.space == Space::Local && own::load(warp, mask, access) {
                return;
            }
            let at_once = !watch::watches(access) || watch::at_once(warp, access);
            if let (Some(first), 4 | 8, true) = (row(warp, mask, access), access.size, at_once) {
                drop(watch::loads(warp, mask, access, watch::row(first, access)));
                let values = &mut warp.values[0];
                match access.size {
                    4 => load_consecutive(narrow_mut(values), first.cast_const().cast()),
                    _ => load_consecutive(values, first.cast_const().cast()),
                }
                return;
            }
            if let (Some(Pointers { each, .. }), true) = (pointers(warp, mask, access), at_once) {
                if access.watch {
                    drop(watch::loads(
                        warp,
                        mask,
                        access,
                        watch::places(mask, &each.map(|place| place as u64)),
                    ));
                }
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
                let from = match loose_place(warp, lane, access, warp.addresses[lane], false) {
                    Ok(from) => from,
                    Err(kind) => fault(warp, 1 << lane, kind),
                };
                let _turn = watch::loads(warp, 1 << lane, access, watch::at(from));
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
                        2 if from.cast::<u16>().is_aligned() => from.cast::<u16>().read_volatile().into(),
                        2 => from.cast::<u16>().read_unaligned().into(),
                        4 if from.cast::<u32>().is_aligned() => from.cast::<u32>().read_volatile().into(),
                        8 if from.cast::<u64>().is_aligned() => from.cast::<u64>().read_volatile(),
                        4 => from.cast::<u32>().read_unaligned().into(),
                        _ => from.cast::<u64>().read_unaligned(),
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

/// Stores the warp's `values` to its `addresses` for the lanes of `mask`.
pub(super) unsafe extern "C" fn store(warp: *mut Warp, mask: u64, access: u64) {
    // SAFETY: compiled code passes its warp; places are in memory that may be written.
    unsafe {
        run(warp, |warp| {
            let (mask, access) = (mask as u32, Access::from_bits(access));
            if access.space == Space::Local && own::store(warp, mask, access) {
                return;
            }
            let at_once = !watch::watches(access) || watch::at_once(warp, access);
            if let (Some(first), 4 | 8, true) = (row(warp, mask, access), access.size, at_once) {
                drop(watch::stores(warp, mask, access, watch::row(first, access)));
                let values = &warp.values[0];
                match access.size {
                    4 => store_consecutive(mask, narrow(values), first.cast()),
                    _ => store_consecutive(mask, values, first.cast()),
                }
                return;
            }
            if let (Some(Pointers { each, .. }), 1, true) =
                (pointers(warp, mask, access), access.count, at_once)
            {
                if access.watch {
                    drop(watch::stores(
                        warp,
                        mask,
                        access,
                        watch::places(mask, &each.map(|place| place as u64)),
                    ));
                }
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
            // A lock that all lanes open is opened once: another one may have it by the time of the second store. Lanes
            // that have the same address may have places of their own, in local memory.
            let storing = storing(mask, |lane| {
                let to = loose_place(warp, lane, access, warp.addresses[lane], true);
                to.map_or(lane, |to| to as usize)
            });
            for lane in lanes(storing) {
                let to = match loose_place(warp, lane, access, warp.addresses[lane], true) {
                    Ok(to) => to,
                    Err(kind) => fault(warp, 1 << lane, kind),
                };
                let told = if storing == mask { 1 << lane } else { mask };
                let _turn = watch::stores(warp, told, access, watch::at(to));
                for index in 0..usize::from(access.count) {
                    let to = to.wrapping_add(index * usize::from(access.size));
                    let values = &warp.values[index];
                    match access.size {
                        1 => to.write_volatile(narrow(values)[lane] as u8),
                        2 if !to.cast::<u16>().is_aligned() => {
                            to.cast::<u16>().write_unaligned(narrow(values)[lane] as u16);
                        }
                        2 => to.cast::<u16>().write_volatile(narrow(values)[lane] as u16),
                        4 if !to.cast::<u32>().is_aligned() => {
                            to.cast::<u32>().write_unaligned(narrow(values)[lane]);
                        }
                        8 if !to.cast::<u64>().is_aligned() => {
                            to.cast::<u64>().write_unaligned(values[lane]);
                        }
                        4 => to.cast::<u32>().write_volatile(narrow(values)[lane]),
                        _ => to.cast::<u64>().write_volatile(values[lane]),
                    }
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
