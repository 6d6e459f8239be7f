//! Loads, stores, atomics and copies: from an operand in brackets to bytes.
//!
//! Every access is checked here for alignment and, in shared and local memory, for its
//! bounds; the [`Memory`](crate::Memory) of the launch checks the rest.

use gangway_ptx::meaning::{Atomic, MemoryAccess};
use gangway_ptx::{Base, Operand, StateSpace, Type};

use crate::evaluate::combine;
use crate::execute::Next;
use crate::fault::FaultKind;
use crate::machine::{Block, Lane};
use crate::memory::{Window, window};
use crate::operands::Step;

/// Memory that an address leads to.
enum Place {
    Global(u64),
    Shared(usize),
    Local(usize),
}

impl Block<'_> {
    /// The address of an operand in brackets.
    pub(crate) fn address(&self, lane: &Lane, operand: Operand) -> u64 {
        let frame = lane.frame();
        let Operand::Address(base, offset) = operand else { return 0 };
        let base = match base {
            Base::Register(id) => frame.registers[id.index()][0],
            Base::Symbol(symbol) => self.symbol(frame, symbol),
            Base::Absolute => 0,
        };
        base.wrapping_add_signed(offset)
    }

    fn place(
        &self,
        lane: &Lane,
        space: StateSpace,
        address: u64,
        size: usize,
        write: bool,
    ) -> Result<Place, FaultKind> {
        let space = space.plain();
        // Addresses there have 32 bits, and wider registers are truncated (PTX ISA 9.0 section 9.7.9).
        let narrow = matches!(space, StateSpace::Shared | StateSpace::Local | StateSpace::Param);
        let address = if narrow { u64::from(address as u32) } else { address };
        if !address.is_multiple_of(size as u64) {
            return Err(FaultKind::Misaligned { address, size });
        }
        let generic = space == StateSpace::Generic;
        let within = |offset: u64, length: usize, first: u64| {
            let fits =
                offset >= first && offset.checked_add(size as u64).is_some_and(|end| end <= length as u64);
            fits.then_some(offset as usize).ok_or(FaultKind::OutOfBounds { address, size, write })
        };
        let space = match space {
            StateSpace::Generic => match Window::of(address) {
                Window::Shared => StateSpace::Shared,
                Window::Local => StateSpace::Local,
                Window::Memory => StateSpace::Global,
            },
            other => other,
        };
        let offset = if generic { address.wrapping_sub(window(space).0) } else { address };
        Ok(match space {
            StateSpace::Shared => Place::Shared(within(offset, self.shared.len(), 0)?),
            StateSpace::Local | StateSpace::Param => {
                Place::Local(within(offset, lane.frame().top as usize, 256)?)
            }
            _ => Place::Global(offset),
        })
    }

    pub(crate) fn get(
        &self,
        lane: &Lane,
        space: StateSpace,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), FaultKind> {
        match self.place(lane, space, address, bytes.len(), false)? {
            Place::Global(address) => self.memory.read(address, bytes)?,
            Place::Shared(at) => bytes.copy_from_slice(&self.shared[at..at + bytes.len()]),
            Place::Local(at) => bytes.copy_from_slice(&lane.memory[at..at + bytes.len()]),
        }
        Ok(())
    }

    pub(crate) fn put(
        &mut self,
        lane: &mut Lane,
        space: StateSpace,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), FaultKind> {
        match self.place(lane, space, address, bytes.len(), true)? {
            Place::Global(address) => self.memory.write(address, bytes)?,
            Place::Shared(at) => self.shared[at..at + bytes.len()].copy_from_slice(bytes),
            Place::Local(at) => lane.memory[at..at + bytes.len()].copy_from_slice(bytes),
        }
        Ok(())
    }

    pub(crate) fn load(&mut self, step: &mut Step<'_>, access: MemoryAccess) -> Result<Next, FaultKind> {
        let (size, count) = (access.ty.size() as usize, usize::from(access.vector));
        let mut bytes = [0; 16];
        let address = self.address(step.lane(), step.operands[1]);
        self.get(step.lane(), access.space, address, &mut bytes[..size * count])?;
        for (number, part) in bytes[..size * count].chunks(size).enumerate() {
            let target = step.part(0, number);
            let mut wide = [0; 8];
            wide[..size].copy_from_slice(part);
            step.put(target, access.ty, u64::from_le_bytes(wide));
        }
        Ok(Next::Following)
    }

    pub(crate) fn store(&mut self, step: &mut Step<'_>, access: MemoryAccess) -> Result<Next, FaultKind> {
        let size = access.ty.size() as usize;
        let mut bytes = Vec::with_capacity(16);
        for value in self.parts(step, 1, access.ty)? {
            bytes.extend_from_slice(&value.to_le_bytes()[..size]);
        }
        let address = self.address(step.lane(), step.operands[0]);
        self.put(step.lane_mut(), access.space, address, &bytes)?;
        Ok(Next::Following)
    }

    pub(crate) fn atomic(&mut self, step: &mut Step<'_>, atomic: Atomic) -> Result<Next, FaultKind> {
        let Atomic { ty, space, returns, .. } = atomic;
        let size = ty.size() as usize;
        let first = usize::from(returns);
        let b = self.value(step, first + 1, ty)?;
        let c = if step.operands.len() > first + 2 { self.value(step, first + 2, ty)? } else { 0 };
        let address = self.address(step.lane(), step.operands[first]);
        let mut bytes = [0; 8];
        self.get(step.lane(), space, address, &mut bytes[..size]).map_err(|kind| match kind {
            // It would be a write as well.
            FaultKind::OutOfBounds { address, size, .. } => {
                FaultKind::OutOfBounds { address, size, write: true }
            }
            other => other,
        })?;
        let old = u64::from_le_bytes(bytes);
        let new = combine(atomic, old, b, c);
        self.put(step.lane_mut(), space, address, &new.to_le_bytes()[..size])?;
        if returns {
            step.write(0, ty, old);
        }
        Ok(Next::Following)
    }

    /// `cp.async`: the copy is done at once, so there is nothing to wait for later.
    pub(crate) fn copy(&mut self, step: &mut Step<'_>) -> Result<Next, FaultKind> {
        let size = self.value(step, 2, Type::U32)? as usize;
        let taken = match step.operands[3] {
            Operand::Absent => size,
            _ => (self.value(step, 3, Type::U32)? as usize).min(size),
        };
        let [to, from] = [0, 1].map(|position| self.address(step.lane(), step.operands[position]));
        if !from.is_multiple_of(size as u64) {
            return Err(FaultKind::Misaligned { address: from, size });
        }
        let mut bytes = [0; 16];
        if taken > 0 {
            self.memory.read(from, &mut bytes[..taken])?;
        }
        self.put(step.lane_mut(), StateSpace::Shared, to, &bytes[..size])?;
        Ok(Next::Following)
    }
}
