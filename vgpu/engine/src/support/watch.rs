//! What is told of accesses and fences to whoever looks for races.

use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gangway_device_memory::{BASE, FIRST, is_device_address};
use gangway_races::{Places, Values};

use super::helper::run;
use super::host::{Began, Noted, Passed};
use super::lanes::{lanes, narrow};
use super::place::{Access, Space};
use crate::abi::{ALL, LANES, Lanes64, Warp};

/// Whether accesses are told of: nobody else sees what is in a lane's own memory.
pub(super) fn watches(access: Access) -> bool {
    access.watch && access.space != Space::Local
}

/// Whether all lanes may be told of before the first one has accessed memory: an access that hands
/// something on is made where it is told of.
pub(super) fn at_once(warp: &Warp, access: Access) -> bool {
    let ordered = access.acquire || access.release;
    // SAFETY: helpers are called by running warps only.
    !ordered && (!access.strong || unsafe { warp.host() }.is_quiet())
}

/// The right to access a word that may hand something on. Who reads what another thread has written goes by what that one
/// had published: so each access is made before the next one of the word is told of, and they are told of in the order in
/// which they are made.
#[must_use = "the access is made while it is there"]
pub(super) struct Turn(Option<&'static AtomicBool>);

/// Whether somebody accesses such words, by their addresses.
static TURNS: [AtomicBool; 64] = [const { AtomicBool::new(false) }; 64];

/// How often a turn is waited for, a moment each time but the first ones. Only a kernel whose device memory goes away
/// while it runs never ends its turn; then what is told is as good as without.
const PATIENCE: u32 = 50_000;
const MOMENT: Duration = Duration::from_micros(100);

impl Turn {
    /// Waits for the turn of an access of lanes at places, if it needs one.
    fn take(warp: &Warp, access: Access, places: Places<'_>) -> Self {
        let Places::Steps { first, .. } = places else { return Self(None) };
        // A block's shared memory is accessed by one thread of the host, and only with words of the device is
        // anything handed on.
        if access.space == Space::Shared || !is_device_address(first) || at_once(warp, access) {
            return Self(None);
        }
        let turn = &TURNS[(first / 8) as usize % TURNS.len()];
        for attempt in 0..PATIENCE {
            if !turn.swap(true, Ordering::Acquire) {
                return Self(Some(turn));
            }
            if attempt < 100 {
                thread::yield_now();
            } else {
                thread::sleep(MOMENT);
            }
        }
        Self(None)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turn) = self.0 {
            turn.store(false, Ordering::Release);
        }
    }
}

/// Lanes are about to load.
pub(super) fn loads(warp: &Warp, mask: u32, access: Access, places: Places<'_>) -> Turn {
    tell(warp, access, Noted { reads: true, ..noted(mask, access, places) })
}

/// Lanes are about to store the warp's `values`.
pub(super) fn stores(warp: &Warp, mask: u32, access: Access, places: Places<'_>) -> Turn {
    let values = Some(values(warp, access));
    tell(warp, access, Noted { writes: true, values, ..noted(mask, access, places) })
}

/// A lane is about to store bytes.
pub(super) fn stores_bytes(warp: &Warp, lane: usize, access: Access, place: *mut u8, bytes: &[u8]) {
    if watches(access) {
        let values = Some(Values::Bytes(bytes));
        note(warp, Noted { writes: true, values, ..noted(1 << lane, access, at(place)) });
    }
}

/// Lanes are about to read and write places at once.
pub(super) fn exchanges(warp: &Warp, mask: u32, access: Access, places: Places<'_>) -> Turn {
    let access = Access { strong: true, ..access };
    tell(warp, access, Noted { reads: true, writes: true, ..noted(mask, access, places) })
}

/// Tells of an access, if accesses are told of, when its turn has come.
fn tell(warp: &Warp, access: Access, noted: Noted<'_>) -> Turn {
    if !watches(access) || is_shadow(noted.lanes, noted.places) {
        return Turn(None);
    }
    let turn = Turn::take(warp, access, noted.places);
    note(warp, noted);
    turn
}

/// Whether lanes access shadows, which nobody asks for: all of them do then.
fn is_shadow(lanes: u32, places: Places<'_>) -> bool {
    let place = match places {
        Places::Steps { first, .. } => first,
        Places::Each(each) | Places::Alike(each, _) => each[lanes.trailing_zeros() as usize % LANES],
        Places::Words { line, .. } => line,
    };
    (FIRST..BASE).contains(&place)
}

/// One place, of all lanes.
pub(super) fn at(place: *mut u8) -> Places<'static> {
    Places::Steps { first: place as u64, step: 0 }
}

/// Places of all lanes, one behind the other.
pub(super) fn row(first: *mut u8, access: Access) -> Places<'static> {
    Places::Steps { first: first as u64, step: access.bytes() as i64 }
}

/// The places of lanes: in steps, if they are.
pub(super) fn places(mask: u32, each: &Lanes64) -> Places<'_> {
    let first = mask.trailing_zeros() as usize % LANES;
    let others = mask & mask.wrapping_sub(1);
    if others == 0 {
        return Places::Steps { first: each[first], step: 0 };
    }
    let next = others.trailing_zeros() as usize;
    let distance = each[next].wrapping_sub(each[first]) as i64;
    let step = distance / (next - first) as i64;
    let start = each[first].wrapping_sub((step * first as i64) as u64);
    let is_there = |lane: usize| each[lane] == start.wrapping_add((step * lane as i64) as u64);
    let all = match mask {
        u32::MAX => (0..LANES).fold(true, |all, lane| all & is_there(lane)),
        mask => lanes(mask).all(is_there),
    };
    if all { Places::Steps { first: start, step } } else { Places::Each(each) }
}

/// What lanes store.
fn values(warp: &Warp, access: Access) -> Values<'_> {
    let stride = size_of::<Lanes64>() / size_of::<u32>();
    // SAFETY: values of 64 bits are twice as many of 32.
    let words =
        unsafe { slice::from_raw_parts(narrow(&warp.values[0]).as_ptr(), stride * warp.values.len()) };
    match access.size {
        8 => Values::Wide { words, stride },
        size => Values::Narrow { words, size: size.into(), stride },
    }
}

fn noted(lanes: u32, access: Access, places: Places<'_>) -> Noted<'_> {
    let Access { strong, acquire, release, narrow, .. } = access;
    let (size, reads, writes, values) = (access.bytes(), false, false, None);
    Noted { lanes, places, size, reads, writes, strong, acquire, release, narrow, values }
}

fn note(warp: &Warp, noted: Noted<'_>) {
    // SAFETY: helpers are called by running warps only.
    unsafe { warp.host() }.note_access(warp, noted);
}

/// Lanes are about to load at steps from `first`, which lane 0 has.
pub(super) unsafe extern "C" fn watch_loads(warp: *mut Warp, mask: u64, first: u64, step: u64, access: u64) {
    let places = Places::Steps { first, step: step as i64 };
    // SAFETY: compiled code passes its warp, which runs.
    unsafe { run(warp, |warp| drop(loads(warp, mask as u32, Access::from_bits(access), places))) }
}

/// Lanes are about to store the warp's `values` at steps from `first`, which lane 0 has.
pub(super) unsafe extern "C" fn watch_stores(warp: *mut Warp, mask: u64, first: u64, step: u64, access: u64) {
    let places = Places::Steps { first, step: step as i64 };
    // SAFETY: as above.
    unsafe { run(warp, |warp| drop(stores(warp, mask as u32, Access::from_bits(access), places))) }
}

/// An instruction comes to another line of memory, which all lanes access at one place: whether its words may be told of
/// together.
pub(super) unsafe extern "C" fn begin_line(
    warp: *mut Warp,
    lanes: u64,
    place: u64,
    number: u64,
    instruction: u64,
    writes: u64,
) -> u64 {
    let line =
        Began { lanes: lanes as u32, place, number: number as usize, instruction, writes: writes != 0 };
    // SAFETY: compiled code passes its warp, which runs.
    unsafe { run(warp, |warp| warp.host().begin_line(warp, line).into()) }
}

/// All lanes have gone through memory in steps, `count` times. `values` is where what they have stored stands; 0 if they
/// have loaded. An access that is said to acquire is told of with the [next](Passed::more) one.
pub(super) unsafe extern "C" fn watch_passed(
    warp: *mut Warp,
    first: u64,
    step: u64,
    count: u64,
    access: u64,
    values: u64,
) -> u64 {
    let access = Access::from_bits(access);
    let (size, step) = (access.bytes(), step as i64);
    // SAFETY: compiled code has stored so many there.
    let stored = |values: *const u8| unsafe { slice::from_raw_parts(values, (count * size) as usize) };
    let values = (values != 0).then(|| stored(values as *const u8));
    // Such accesses have no order of their own.
    let passed = Passed { lanes: ALL, first, step, count, size, values, more: access.acquire };
    // SAFETY: compiled code passes its warp, which runs.
    unsafe {
        run(warp, |warp| {
            if !is_shadow(ALL, Places::Steps { first, step: 0 }) {
                warp.host().note_passed(warp, passed);
            }
            0
        })
    }
}

/// The warp has come to a fence, which is `narrow` if it is one for the block alone.
pub(super) unsafe extern "C" fn fence(warp: *mut Warp, narrow: u64) {
    // SAFETY: compiled code passes its warp, which runs.
    unsafe { run(warp, |warp| warp.host().note_fence(warp, narrow != 0)) }
}

/// Lanes have waited for each other.
pub(super) unsafe extern "C" fn synchronize(warp: *mut Warp, lanes: u64) {
    // SAFETY: as above.
    unsafe { run(warp, |warp| warp.host().note_meeting(warp, lanes as u32)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_steps_are_found() {
        let row: Lanes64 = std::array::from_fn(|lane| 0x1000 + 8 * lane as u64);
        fn steps(mask: u32, each: &Lanes64) -> Option<(u64, i64)> {
            match places(mask, each) {
                Places::Steps { first, step } => Some((first, step)),
                _ => None,
            }
        }
        assert_eq!(steps(u32::MAX, &row), Some((0x1000, 8)));
        assert_eq!(steps(0b1010_0000, &row), Some((0x1000, 8)));
        assert_eq!(steps(1 << 31, &row), Some((0x10f8, 0)));
        assert_eq!(steps(u32::MAX, &[7; LANES]), Some((7, 0)));
        let mut other = row;
        other[9] += 4;
        assert_eq!(steps(u32::MAX, &other), None);
        assert_eq!(steps(!(1 << 9), &other), Some((0x1000, 8)));
        // Half a step apart is no step.
        other = row;
        other[2] = 0x100c;
        assert_eq!(steps(0b101, &other), Some((0x1000, 6)));
        assert_eq!(steps(0b111, &other), None);
    }
}
