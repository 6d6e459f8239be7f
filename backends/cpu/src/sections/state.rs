//! What the checks know: blocks of device memory, and the host's ranges that are mapped.

use super::block::Block;
use super::guards::{self, Damage};
use super::lock::Lock;
use super::pages::Pages;
use gangway_backend::{Described, RangeNotice};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Once;

/// Of all devices: they share the addresses, and so does the signal handler.
pub(crate) static STATE: Lock<State> = Lock::new(State::new());

#[derive(Debug)]
pub(crate) struct State {
    /// By address of the first byte.
    pub blocks: BTreeMap<usize, Block>,
    /// By address of the first byte and size.
    pub ranges: BTreeMap<(usize, usize), Range>,
    pages: Pages,
}

/// A range of the host that is mapped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// On several devices, and while an unmapping is under way once more.
    count: usize,
    /// Its storage lies in the range itself, as the program has associated the two.
    pub in_place: bool,
    pub variable: Described,
}

impl State {
    const fn new() -> Self {
        Self { blocks: BTreeMap::new(), ranges: BTreeMap::new(), pages: Pages::new() }
    }

    /// The live block that an address lies in, and its beginning.
    pub fn block_at(&self, address: usize) -> Option<(usize, &Block)> {
        let (&begin, block) = self.blocks.range(..=address).next_back()?;
        (address - begin < block.size).then_some((begin, block))
    }

    /// Notes which variable has this storage.
    pub fn name_block(&mut self, storage: usize, notice: &RangeNotice) {
        let before = (Bound::Unbounded, Bound::Included(storage));
        let Some((&begin, block)) = self.blocks.range_mut(before).next_back() else { return };
        if storage - begin < block.size {
            block.variable = Some(notice.variable);
            // What programs associate may end before the block does.
            if storage + notice.size == begin + block.size {
                block.padding = storage - begin;
            }
        }
    }

    pub fn map(&mut self, storage: usize, notice: &RangeNotice) {
        let RangeNotice { begin, size, variable, .. } = *notice;
        let in_place = storage < begin + size && begin < storage + size;
        let range = self.ranges.entry((begin, size)).or_insert(Range { count: 0, in_place, variable });
        range.count += 1;
        range.in_place |= in_place;
        range.variable = variable;
    }

    pub fn unmap(&mut self, notice: &RangeNotice) {
        let key = (notice.begin, notice.size);
        if let Some(range) = self.ranges.get_mut(&key) {
            range.count -= 1;
            if range.count == 0 {
                self.ranges.remove(&key);
            }
        }
    }
}

/// What has been written beside the blocks of a device.
pub(crate) fn damage_on(device: usize) -> Vec<Damage> {
    STATE.with(|state| {
        let blocks = state.blocks.iter().filter(|(_, block)| block.device == device);
        // SAFETY: blocks leave the table before they are freed.
        blocks.flat_map(|(begin, block)| unsafe { guards::damage(*begin, block) }).collect()
    })
}

/// The block before the closed page that an address is in, and its beginning. For signal handlers.
pub(crate) fn fenced_at(address: usize) -> Option<(usize, Block)> {
    let (begin, block) = STATE.try_with(|state| {
        let (&begin, &block) = state.blocks.range(..=address).next_back()?;
        Some((begin, block))
    })??;
    block.place.is_fenced(address).then_some((begin, block))
}

/// Gives the pages back when no kernel runs.
pub(crate) struct Protected(());

impl Drop for Protected {
    fn drop(&mut self) {
        STATE.with(|state| state.pages.end());
    }
}

/// Takes the pages of all mapped variables away, until what this returns is dropped.
///
/// While other kernels run, the pages stay as they are: a variable that has been mapped since
/// is not protected.
pub(crate) fn protect() -> Protected {
    STATE.with(|State { pages, ranges, .. }| {
        let mapped = ranges.iter().filter(|(_, range)| !range.in_place);
        pages.begin(mapped.map(|(&section, _)| section));
    });
    Protected(())
}

/// A variable whose pages are protected.
pub(crate) struct HostData {
    pub variable: Described,
    pub begin: usize,
    pub size: usize,
}

/// The variable whose protected pages an address lies in. For signal handlers.
pub(crate) fn protected_at(address: usize) -> Option<HostData> {
    STATE.try_with(|State { pages, ranges, .. }| {
        let inside = |&(&(begin, size), _): &(&(usize, usize), _)| address.wrapping_sub(begin) < size;
        let (&(begin, size), range) = ranges.iter().find(inside).filter(|_| pages.protects(address))?;
        Some(HostData { variable: range.variable, begin, size })
    })?
}

/// Whether the program may go on with an access, as the pages were protected and are no
/// longer. For signal handlers.
pub(crate) fn lift(address: usize, writes: bool) -> bool {
    STATE.try_with(|state| state.pages.lift(address, writes)).unwrap_or(false)
}

/// Has forked children find the state whole. Called before there is any.
pub(crate) fn survive_forks() {
    extern "C" fn before() {
        STATE.acquire();
    }
    extern "C" fn in_parent() {
        STATE.release();
    }
    extern "C" fn in_child() {
        STATE.release();
        STATE.with(|state| state.pages.after_fork());
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: functions of a library that stays loaded. Without memory for them, a child of
        // a process with several threads may hang; nothing can be done about that here.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}
