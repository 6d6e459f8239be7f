//! Who of a block has written what others have written by the same instruction.
//!
//! Threads that write one value to one place by one instruction do what one of them would: compilers let all threads do
//! what one could do and would have to hand on. Whoever has done so reads the value as its own, and so does who knows of
//! that; anybody else races with the others.

use crate::cell::Cell;

/// Writes of lanes together, the last of each warp by each instruction.
#[derive(Debug, Default)]
pub struct Alike(Vec<Write>);

#[derive(Debug)]
struct Write {
    /// Of the first lane.
    cell: u64,
    warp: usize,
    lanes: u32,
}

impl Alike {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Lanes of a warp have written; the access is that of one of them.
    pub fn note(&mut self, cell: u64, warp: usize, lanes: u32) {
        let site = Cell::of(cell).site;
        let is_its = |write: &&mut Write| write.warp == warp && Cell::of(write.cell).site == site;
        match self.0.iter_mut().rev().find(is_its) {
            // A loop's next round has other lanes, perhaps.
            Some(write) if Cell::of(write.cell).clock == Cell::of(cell).clock => write.lanes |= lanes,
            Some(write) => (write.cell, write.lanes) = (cell, lanes),
            None => self.0.push(Write { cell, warp, lanes }),
        }
    }

    /// Whether a lane of a warp has written by an instruction, or knows of somebody who has.
    pub fn is_known(&self, site: u16, (warp, lane): (usize, usize), knows: impl Fn(u64) -> bool) -> bool {
        let of_site = |write: &&Write| Cell::of(write.cell).site == site;
        let own = |write: &Write| write.warp == warp && write.lanes >> lane & 1 != 0;
        self.0.iter().filter(of_site).any(|write| own(write) || knows(write.cell))
    }
}
