//! Loads, stores, atomics and copies: from an operand in brackets to bytes.
//!
//! Every access is checked here for alignment and, in shared and local memory, for its
//! bounds; the [`Memory`](crate::Memory) of the launch checks the rest.

use gangway_ptx::{Base, Body, Op, Opcode, Operand, StateSpace, Type, Word};

use crate::evaluate::combine;
use crate::fault::Kind;
use crate::machine::{Block, Lane, Warp};
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW};

/// Memory that an address leads to.
enum Place {
    Global(u64),
    Shared(usize),
    Local(usize),
}

impl Block<'_> {
    /// The address of an operand in brackets.
    fn address(&self, lane: &Lane, operand: Operand) -> u64 {
        let frame = &lane.frames[lane.frames.len() - 1];
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
    ) -> Result<Place, Kind> {
        if !address.is_multiple_of(size as u64) {
            return Err(Kind::Misaligned { address, size });
        }
        let within = |offset: u64, length: usize, first: u64| {
            let fits =
                offset >= first && offset.checked_add(size as u64).is_some_and(|end| end <= length as u64);
            fits.then_some(offset as usize).ok_or(Kind::OutOfBounds { address, size, write })
        };
        let (space, offset) = match space {
            StateSpace::Generic if address.wrapping_sub(SHARED_WINDOW) < WINDOW => {
                (StateSpace::Shared, address - SHARED_WINDOW)
            }
            StateSpace::Generic if address.wrapping_sub(LOCAL_WINDOW) < WINDOW => {
                (StateSpace::Local, address - LOCAL_WINDOW)
            }
            StateSpace::Generic => (StateSpace::Global, address),
            other => (other, address),
        };
        Ok(match space {
            StateSpace::Shared => Place::Shared(within(offset, self.shared.len(), 16)?),
            StateSpace::Local | StateSpace::Param => {
                let top = lane.frames.last().map_or(0, |frame| frame.top);
                Place::Local(within(offset, top as usize, 256)?)
            }
            _ => Place::Global(offset),
        })
    }

    fn get(&self, lane: &Lane, space: StateSpace, address: u64, bytes: &mut [u8]) -> Result<(), Kind> {
        match self.place(lane, space, address, bytes.len(), false)? {
            Place::Global(address) => self.memory.read(address, bytes)?,
            Place::Shared(at) => bytes.copy_from_slice(&self.shared[at..at + bytes.len()]),
            Place::Local(at) => bytes.copy_from_slice(&lane.memory[at..at + bytes.len()]),
        }
        Ok(())
    }

    fn put(&mut self, lane: &mut Lane, space: StateSpace, address: u64, bytes: &[u8]) -> Result<(), Kind> {
        match self.place(lane, space, address, bytes.len(), true)? {
            Place::Global(address) => self.memory.write(address, bytes)?,
            Place::Shared(at) => self.shared[at..at + bytes.len()].copy_from_slice(bytes),
            Place::Local(at) => lane.memory[at..at + bytes.len()].copy_from_slice(bytes),
        }
        Ok(())
    }

    pub(crate) fn load(
        &mut self,
        warp: &mut Warp,
        index: usize,
        body: &Body,
        operands: &[Operand],
        opcode: &Opcode,
    ) -> Result<(), Kind> {
        let ty = opcode.ty(0).unwrap_or(Type::B32);
        let (size, count) = (ty.size() as usize, opcode.vector());
        let mut bytes = [0; 16];
        let lane = &mut warp.lanes[index];
        self.get(lane, opcode.space(), self.address(lane, operands[1]), &mut bytes[..size * count])?;
        let frame = lane.frame();
        for (number, part) in bytes[..size * count].chunks(size).enumerate() {
            let target = match operands[0] {
                Operand::Vector { .. } => body.elements(operands[0])[number],
                Operand::Register(id) if count > 1 => Operand::Component(id, number as u8),
                other => other,
            };
            let mut wide = [0; 8];
            wide[..size].copy_from_slice(part);
            frame.write(body, target, ty, u64::from_le_bytes(wide));
        }
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        warp: &mut Warp,
        index: usize,
        body: &Body,
        operands: &[Operand],
        opcode: &Opcode,
    ) -> Result<(), Kind> {
        let ty = opcode.ty(0).unwrap_or(Type::B32);
        let size = ty.size() as usize;
        let mut bytes = Vec::with_capacity(16);
        for value in self.parts(warp, index, body, operands[1], ty)? {
            bytes.extend_from_slice(&value.to_le_bytes()[..size]);
        }
        let lane = &mut warp.lanes[index];
        let address = self.address(lane, operands[0]);
        self.put(lane, opcode.space(), address, &bytes)
    }

    pub(crate) fn atomic(
        &mut self,
        warp: &mut Warp,
        index: usize,
        body: &Body,
        operands: &[Operand],
        opcode: &Opcode,
    ) -> Result<(), Kind> {
        let ty = opcode.ty(0).unwrap_or(Type::B32);
        let size = ty.size() as usize;
        let first = usize::from(opcode.op == Op::Atom);
        let b = self.read(warp, index, operands[first + 1], ty)?;
        let c = match operands.get(first + 2) {
            Some(&operand) => self.read(warp, index, operand, ty)?,
            None => 0,
        };
        let lane = &mut warp.lanes[index];
        let address = self.address(lane, operands[first]);
        let mut bytes = [0; 8];
        self.get(lane, opcode.space(), address, &mut bytes[..size])?;
        let old = u64::from_le_bytes(bytes);
        let new = combine(opcode, old, b, c).ok_or_else(|| Kind::Unsupported(opcode.to_string()))?;
        self.put(lane, opcode.space(), address, &new.to_le_bytes()[..size])?;
        if opcode.op == Op::Atom {
            lane.frame().write(body, operands[0], ty, old);
        }
        Ok(())
    }

    /// `cp.async`: the copy is done at once, so there is nothing to wait for later.
    pub(crate) fn copy(
        &mut self,
        warp: &mut Warp,
        index: usize,
        operands: &[Operand],
        opcode: &Opcode,
    ) -> Result<(), Kind> {
        if operands.len() != 4 {
            return if opcode.has(Word::Async) { Ok(()) } else { Err(Kind::Unsupported(opcode.to_string())) };
        }
        let size = self.read(warp, index, operands[2], Type::U32)? as usize;
        let taken = match operands[3] {
            Operand::Absent => size,
            operand => (self.read(warp, index, operand, Type::U32)? as usize).min(size),
        };
        let lane = &mut warp.lanes[index];
        let (to, from) = (self.address(lane, operands[0]), self.address(lane, operands[1]));
        if !from.is_multiple_of(size as u64) {
            return Err(Kind::Misaligned { address: from, size });
        }
        let mut bytes = [0; 16];
        if taken > 0 {
            self.memory.read(from, &mut bytes[..taken])?;
        }
        self.put(lane, StateSpace::Shared, to, &bytes[..size])
    }
}
