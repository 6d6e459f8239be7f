//! Which slots live where blocks begin. A slot is written under a guard without ending the life of
//! what was in it.

use gangway_simt::{Block, End, Function, predecessors};

/// A set of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    words: Vec<u64>,
}

impl Set {
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Set { words: vec![0; slots.div_ceil(64)] }
    }

    #[must_use]
    pub fn contains(&self, slot: u32) -> bool {
        self.words[slot as usize / 64] >> (slot % 64) & 1 != 0
    }

    pub fn insert(&mut self, slot: u32) {
        self.words[slot as usize / 64] |= 1 << (slot % 64);
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().zip(0u32..).flat_map(|(&word, index)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(64 * index + bit)
            })
        })
    }
}

/// Slots, each once, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    list: Vec<u32>,
    is_in: Vec<bool>,
}

impl Listed {
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Listed { list: Vec::new(), is_in: vec![false; slots] }
    }

    pub fn insert(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.is_in[slot as usize], true) {
            self.list.push(slot);
        }
    }

    #[must_use]
    pub fn contains(&self, slot: u32) -> bool {
        self.is_in[slot as usize]
    }

    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.list
    }

    /// Empties it; what was in it.
    pub fn take(&mut self) -> Vec<u32> {
        for &slot in &self.list {
            self.is_in[slot as usize] = false;
        }
        std::mem::take(&mut self.list)
    }
}

/// What lives where.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    /// The slots whose values each block needs from before, in their order.
    entering: Vec<Vec<u32>>,
    /// The slots that live where any block begins.
    pub across: Set,
}

/// How many slots may live at the beginnings of all blocks together.
const MOST: usize = 1 << 24;

/// What blocks read before they write it, and what they write whatever guards say: pairs of slot
/// and block.
struct Touched {
    reads: Vec<(u32, u32)>,
    writes: Vec<(u32, u32)>,
}

impl Touched {
    fn new(code: &Function) -> Self {
        let slots = code.slots.len();
        let mut touched = Touched { reads: Vec::new(), writes: Vec::new() };
        let (mut read, mut written) = (Listed::new(slots), Listed::new(slots));
        for (block, number) in code.blocks.iter().zip(0u32..) {
            for (index, unguarded) in block.each_operation() {
                let operation = &code.operations[index as usize];
                let guarded = operation.guard.is_some() && !unguarded;
                operation.each_slot(&mut |slot, write| {
                    if !write && !written.contains(slot) {
                        read.insert(slot);
                    }
                });
                operation.each_slot(&mut |slot, write| {
                    if write && guarded && !written.contains(slot) {
                        read.insert(slot);
                    }
                    if write && !guarded {
                        written.insert(slot);
                    }
                });
            }
            if let End::Branch(guard, ..) = block.end
                && !written.contains(guard.slot)
            {
                read.insert(guard.slot);
            }
            touched.reads.extend(read.take().into_iter().map(|slot| (slot, number)));
            touched.writes.extend(written.take().into_iter().map(|slot| (slot, number)));
        }
        touched.reads.sort_unstable();
        touched.writes.sort_unstable();
        touched
    }
}

impl Liveness {
    /// Goes from each read backwards to where the slot is written: so it costs what it finds. None
    /// if that is too much.
    #[must_use]
    pub fn new(code: &Function) -> Option<Self> {
        let touched = Touched::new(code);
        let blocks = code.blocks.len();
        let predecessors = predecessors(&code.blocks);
        let mut entering = vec![Vec::new(); blocks];
        let mut across = Set::new(code.slots.len());
        // By block: one more than the slot that is written there, or found to enter.
        let (mut writes, mut enters) = (vec![0; blocks], vec![0; blocks]);
        let mut found = 0;
        let mut steps = touched.reads.len() + touched.writes.len();
        let mut writers = touched.writes.iter().peekable();
        let mut waiting = Vec::new();
        for &(slot, block) in &touched.reads {
            while let Some(&(written, writer)) = writers.next_if(|&&(written, _)| written <= slot) {
                if written == slot {
                    writes[writer as usize] = slot + 1;
                }
            }
            waiting.push(block);
            while let Some(block) = waiting.pop() {
                if std::mem::replace(&mut enters[block as usize], slot + 1) == slot + 1 {
                    continue;
                }
                entering[block as usize].push(slot);
                found += 1;
                steps += predecessors[block as usize].len();
                if found > MOST {
                    return None;
                }
                let before = predecessors[block as usize].iter().copied();
                waiting.extend(before.filter(|&from| writes[from as usize] != slot + 1));
            }
            across.insert(slot);
        }
        crate::work::count(steps);
        Some(Liveness { entering, across })
    }

    /// The slots whose values a block needs from before.
    #[must_use]
    pub fn entering(&self, block: u32) -> &[u32] {
        &self.entering[block as usize]
    }

    #[must_use]
    pub fn enters(&self, block: u32, slot: u32) -> bool {
        self.entering[block as usize].binary_search(&slot).is_ok()
    }

    /// Whether a slot's value is needed behind a block.
    #[must_use]
    pub fn leaves(&self, block: &Block, slot: u32) -> bool {
        self.across.contains(slot) && block.end.leads(|to| self.enters(to, slot))
    }
}
