//! Instructions by their addresses, each decoded once in a launch.

use std::collections::HashMap;

use gangway_gcn::{Decoder, Gpu, Instruction, Refusal};

use crate::execute::Action;
use crate::fault::FaultKind;
use crate::memory::Memory;

/// Bytes of code that are looked up together.
const PAGE: u64 = 1 << 12;
const PLACES: usize = (PAGE / 4) as usize;

/// An instruction, and what it does.
#[derive(Clone, Copy)]
pub struct Known {
    pub instruction: Instruction,
    pub action: Action,
}

/// The code that a launch has run so far.
pub struct Code {
    gpu: Gpu,
    pages: HashMap<u64, usize>,
    /// By page and place: which of the instructions stands there, plus one.
    places: Vec<[u32; PLACES]>,
    known: Vec<Known>,
    /// The page of the last look.
    last: (u64, usize),
}

impl Code {
    pub fn new(gpu: Gpu) -> Self {
        Self { gpu, pages: HashMap::new(), places: Vec::new(), known: Vec::new(), last: (u64::MAX, 0) }
    }

    /// The instruction at an address; `check` is asked when it is met first.
    pub fn at(
        &mut self,
        memory: &dyn Memory,
        address: u64,
        check: impl FnOnce(&Instruction) -> Result<(), FaultKind>,
    ) -> Result<&Known, Box<(FaultKind, Option<Instruction>)>> {
        let page = address / PAGE;
        if self.last.0 != page {
            let next = self.places.len();
            let index = *self.pages.entry(page).or_insert(next);
            if index == next {
                self.places.push([0; PLACES]);
            }
            self.last = (page, index);
        }
        let place = (address % PAGE / 4) as usize;
        let index = self.places[self.last.1][place] as usize;
        if index > 0 {
            return Ok(&self.known[index - 1]);
        }
        let instruction = self.decode(memory, address).map_err(|kind| Box::new((kind, None)))?;
        check(&instruction).map_err(|kind| Box::new((kind, Some(instruction))))?;
        let action = Action::of(instruction.row)
            .ok_or_else(|| (FaultKind::Unsupported(instruction.row.name.to_owned()), Some(instruction)))?;
        self.known.push(Known { instruction, action });
        self.places[self.last.1][place] = self.known.len() as u32;
        Ok(&self.known[self.known.len() - 1])
    }

    /// Reads an instruction anew.
    pub fn decode(&self, memory: &dyn Memory, address: u64) -> Result<Instruction, FaultKind> {
        let mut bytes = [0; 8];
        let bytes = if memory.read(address, &mut bytes).is_ok() {
            &bytes[..]
        } else {
            // The last instruction may be the last word of its memory.
            let read = memory.read(address, &mut bytes[..4]);
            read.map_err(|_| FaultKind::BadTarget(address))?;
            &bytes[..4]
        };
        Decoder::of(self.gpu)
            .decode(bytes)
            .map_err(|refusal: Refusal| FaultKind::Illegal(refusal.to_string()))
    }
}
