//! Registers as engines keep them: one with several elements is as many *slots*.

use gangway_ptx::{Body, Function, Module, RegisterId, Type};
use gangway_simt::Guard;

use crate::analysis::layout::Layout;

/// The slots of a function: those of its registers, then those of scalar `.param` variables.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The first slot of each register.
    first: Vec<u32>,
    /// What each holds.
    pub types: Vec<Type>,
    pub layout: Layout,
}

impl Slots {
    #[must_use]
    pub fn new(module: &Module, function: &Function, body: &Body, symbols: u32) -> Self {
        let (mut first, mut types) = (Vec::with_capacity(body.registers.len()), Vec::new());
        for register in &body.registers {
            first.push(types.len() as u32);
            types.extend((0..register.vector.max(1)).map(|_| register.ty));
        }
        let layout = Layout::new(module, function, body, types.len(), symbols);
        types.extend(&layout.slots);
        Slots { first, types, layout }
    }

    #[must_use]
    pub fn of(&self, register: RegisterId, element: u8) -> u32 {
        self.first[register.index()] + u32::from(element)
    }

    #[must_use]
    pub fn guard(&self, guard: gangway_ptx::Guard) -> Guard {
        Guard { slot: self.of(guard.register, 0), negated: guard.negated }
    }
}
