//! The operands of an instruction, for one lane: reading and writing them.

use gangway_ptx::{Body, Instruction, Opcode, Operand, SpecialRegister, StateSpace, Symbol, Type};

use crate::exchange::LANES;
use crate::fault::FaultKind;
use crate::integer::{extend, mask};
use crate::machine::{Block, Frame, Lane, Warp};
use crate::program::Program;

/// No instruction that computes has more source operands.
const MOST_INPUTS: usize = 6;

/// An instruction that one lane runs.
pub(crate) struct Step<'a> {
    pub warp: &'a mut Warp,
    /// The lane.
    pub index: usize,
    pub body: &'a Body,
    pub operands: &'a [Operand],
    pub opcode: &'a Opcode,
}

/// The values of an instruction's source operands.
#[derive(Default)]
pub(crate) struct Inputs {
    values: [u64; MOST_INPUTS],
    count: usize,
}

impl std::ops::Deref for Inputs {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.values[..self.count]
    }
}

impl<'a> Step<'a> {
    #[must_use]
    pub fn new(
        program: &'a Program,
        warp: &'a mut Warp,
        index: usize,
        body: &'a Body,
        instruction: &Instruction,
    ) -> Self {
        let (operands, opcode) = (body.operands(instruction), program.module.opcode(instruction));
        Step { warp, index, body, operands, opcode }
    }

    #[must_use]
    pub fn lane(&self) -> &Lane {
        &self.warp.lanes[self.index]
    }

    pub fn lane_mut(&mut self) -> &mut Lane {
        &mut self.warp.lanes[self.index]
    }

    #[must_use]
    pub fn frame(&self) -> &Frame {
        self.lane().frame()
    }

    /// Writes the operand at a position.
    pub fn write(&mut self, position: usize, ty: Type, value: u64) {
        self.put(self.operands[position], ty, value);
    }

    /// A part of the operand at a position, which may be a vector in braces or in one register.
    #[must_use]
    pub fn part(&self, position: usize, number: usize) -> Operand {
        match self.operands[position] {
            vector @ Operand::Vector { .. } => self.body.elements(vector)[number],
            Operand::Register(id) if self.body.register(id).vector > 1 => {
                Operand::Component(id, number as u8)
            }
            other => other,
        }
    }

    /// Writes a register, or a part of one.
    pub fn put(&mut self, operand: Operand, ty: Type, value: u64) {
        let body = self.body;
        self.lane_mut().frame_mut().write(body, operand, ty, value);
    }
}

impl Block<'_> {
    /// The value of the operand at a position.
    pub(crate) fn value(&self, step: &Step<'_>, position: usize, ty: Type) -> Result<u64, FaultKind> {
        self.read(step.warp, step.index, step.operands[position], ty)
    }

    /// The values of all source operands that are there, in order.
    pub(crate) fn inputs(&self, step: &Step<'_>) -> Result<Inputs, FaultKind> {
        let mut inputs = Inputs::default();
        for (&operand, expected) in step.operands.iter().zip(&step.opcode.expected) {
            if !expected.role.writes() && operand != Operand::Absent {
                let value = self.read(step.warp, step.index, operand, expected.ty.unwrap_or(Type::B64))?;
                inputs.values[inputs.count] = value;
                inputs.count += 1;
            }
        }
        Ok(inputs)
    }

    /// The values of the operand at a position: several of a vector.
    pub(crate) fn parts(&self, step: &Step<'_>, position: usize, ty: Type) -> Result<Vec<u64>, FaultKind> {
        let read = |operand| self.read(step.warp, step.index, operand, ty);
        match step.operands[position] {
            vector @ Operand::Vector { .. } => {
                step.body.elements(vector).iter().map(|&part| read(part)).collect()
            }
            Operand::Register(id) if step.body.register(id).vector > 1 => {
                (0..step.body.register(id).vector).map(|part| read(Operand::Component(id, part))).collect()
            }
            operand => Ok(vec![read(operand)?]),
        }
    }

    /// The value of an operand, in the low bits.
    pub(crate) fn read(
        &self,
        warp: &Warp,
        index: usize,
        operand: Operand,
        ty: Type,
    ) -> Result<u64, FaultKind> {
        let frame = warp.lanes[index].frame();
        let value = match operand {
            Operand::Register(id) => frame.registers[id.index()][0],
            Operand::Component(id, element) => frame.registers[id.index()][usize::from(element)],
            Operand::Negated(id) => return Ok(u64::from(frame.registers[id.index()][0] == 0)),
            Operand::Integer(value) if ty == Type::Pred => u64::from(value != 0),
            Operand::Integer(value) => value as u64,
            Operand::Float32(bits) => bits.into(),
            Operand::Float64(bits) => bits,
            Operand::Symbol(symbol, offset) => self.symbol(frame, symbol).wrapping_add_signed(offset),
            Operand::Special(special) => self.special(warp, index, special),
            _ => return Err(FaultKind::Unsupported("an operand of this kind".to_owned())),
        };
        Ok(value & mask(ty.bits()))
    }

    /// The address of a symbol in its own space; in local memory, as the frame has it.
    pub(crate) fn symbol(&self, frame: &Frame, symbol: Symbol) -> u64 {
        let layout = &self.program.layouts[frame.function];
        match symbol {
            Symbol::Parameter(number) => frame.base + layout.parameters[number as usize],
            Symbol::Return(number) => frame.base + layout.returns[number as usize],
            Symbol::Local(number) => {
                let space =
                    self.program.body(frame.function).map(|(_, body)| body.variables[number as usize].space);
                let inside =
                    matches!(space.map(StateSpace::plain), Some(StateSpace::Local | StateSpace::Param));
                layout.variables[number as usize] + if inside { frame.base } else { 0 }
            }
            other => self.program.address(other).unwrap_or(0),
        }
    }

    fn special(&self, warp: &Warp, index: usize, special: SpecialRegister) -> u64 {
        use SpecialRegister::*;
        let (thread, block, grid) = (warp.lanes[index].thread, self.launch.block, self.launch.grid);
        let lane = index as u32;
        let warps = block.iter().product::<u32>().div_ceil(LANES as u32);
        let value = match special {
            TidX => thread[0],
            TidY => thread[1],
            TidZ => thread[2],
            NtidX => block[0],
            NtidY => block[1],
            NtidZ => block[2],
            CtaidX => self.index[0],
            CtaidY => self.index[1],
            CtaidZ => self.index[2],
            NctaidX => grid[0],
            NctaidY => grid[1],
            NctaidZ => grid[2],
            Laneid => lane,
            Warpid => warp.index,
            Nwarpid => warps,
            Smid | Gridid => 0,
            Nsmid => 1,
            LanemaskEq => 1 << lane,
            LanemaskLt => (1 << lane) - 1,
            LanemaskLe => (1 << lane) | ((1 << lane) - 1),
            LanemaskGt => !((1 << lane) | ((1 << lane) - 1)),
            LanemaskGe => !((1 << lane) - 1),
            Clock | GlobaltimerLo => self.time as u32,
            ClockHi | GlobaltimerHi => (self.time >> 32) as u32,
            Clock64 | Globaltimer => return self.time,
            TotalSmemSize => self.shared.len() as u32,
            DynamicSmemSize => self.launch.shared,
            // Blocks run one after another here: there is no grid that could wait for itself.
            Envreg1 | Envreg2 => 0,
        };
        value.into()
    }
}

impl Frame {
    /// Writes a value of type `ty`; a wider register is filled by the type's sign.
    pub(crate) fn write(&mut self, body: &Body, operand: Operand, ty: Type, value: u64) {
        let (id, element) = match operand {
            Operand::Register(id) => (id, 0),
            Operand::Component(id, element) => (id, usize::from(element)),
            _ => return,
        };
        let register = body.register(id).ty;
        let value = match (register, ty) {
            (Type::Pred, _) => value & 1,
            (_, ty) if register.bits() > ty.bits() => extend(value, ty) as u64,
            _ => value,
        };
        self.registers[id.index()][element] = value & mask(register.bits());
    }
}
