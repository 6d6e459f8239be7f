//! What the checks know: blocks of device memory, and the host's ranges that are mapped.

use super::guards::{self, Damage};
use super::lock::Lock;
use super::pages::Pages;
use super::place::Place;
use crate::crash::names::{Name, Part, name_of};
use gangway_backend::{Described, RangeNotice};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Once;

/// Of all devices: they share the addresses, and so does the signal handler.
pub(super) static STATE: Lock<State> = Lock::new(State::new());

#[derive(Debug)]
pub(super) struct State {
    /// By address of the first byte.
    pub blocks: BTreeMap<usize, Block>,
    /// By address of the first byte and size.
    pub ranges: BTreeMap<(usize, usize), Range>,
    pub pages: Pages,
}

/// A live block of device memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub device: usize,
    pub size: usize,
    pub place: Place,
    /// Bytes before what is mapped.
    pub padding: usize,
    /// What is mapped to it; at first nothing.
    pub variable: Option<Described>,
}

/// A range of the host that is mapped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    /// On several devices, and while an unmapping is under way once more.
    count: usize,
    /// Its storage lies in the range itself, as the program has associated the two.
    pub in_place: bool,
    pub variable: Described,
}

impl Block {
    pub const fn new(device: usize, size: usize, place: Place) -> Self {
        Self { device, size, place, padding: 0, variable: None }
    }

    /// Bytes between what is mapped and one beside it, by its offset from the beginning of what is mapped.
    pub fn distance(&self, offset: isize) -> usize {
        let size = self.size - self.padding;
        usize::try_from(offset)
            .map_or_else(|_| offset.unsigned_abs() - 1, |offset| offset.saturating_sub(size))
    }

    /// What the user calls the element at a byte of what is mapped, or beside it.
    pub fn element(&self, offset: isize) -> Option<Name> {
        name_of(Part::Element, self.variable?, offset)
    }
}

/// The variable, for messages.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size - self.padding;
        let Some(variable) = self.variable else {
            return write!(f, "{size} bytes that no variable is mapped to");
        };
        match variable.name {
            Some(name) => write!(f, "`{name}` of {size} bytes")?,
            None => write!(f, "{size} mapped bytes (-g gives them their name)")?,
        }
        match variable.location {
            Some(at) => write!(f, " (declared at {}:{})", at.file, at.line),
            None => Ok(()),
        }
    }
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
pub(super) fn damage_on(device: usize) -> Vec<Damage> {
    STATE.with(|state| {
        let blocks = state.blocks.iter().filter(|(_, block)| block.device == device);
        // SAFETY: blocks leave the table before they are freed.
        blocks.flat_map(|(begin, block)| unsafe { guards::damage(*begin, block) }).collect()
    })
}

/// Has forked children find the state whole. Called before there is any.
pub(super) fn survive_forks() {
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
