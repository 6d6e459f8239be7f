//! One instruction for the lanes of a warp that stand at it.

use gangway_ptx::{
    Body, Instruction, Op, Opcode, Operand, Role, SpecialRegister, StateSpace, Symbol, Type, Word,
};

use crate::evaluate::evaluate;
use crate::exchange::{LANES, is_collective};
use crate::fault::{Fault, Kind};
use crate::integer::{extend, mask};
use crate::machine::{Block, Frame, Lane, STACK, Status, Warp};
use crate::memory::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW};

/// No instruction that computes has more source operands.
const MOST_INPUTS: usize = 6;

/// The values of an instruction's source operands.
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

impl Block<'_> {
    /// Runs the next instruction of the lanes in `active`, which stand at one place.
    pub(crate) fn execute(&mut self, warp: &mut Warp, active: u32) -> Result<(), Box<Fault>> {
        let program = self.program;
        let frame = warp.lanes[active.trailing_zeros() as usize].frame();
        let (function, at) = (frame.function, frame.at);
        let (_, body) = program.body(function).expect("a running body");
        let members = || (0..LANES).filter(move |lane| active >> lane & 1 != 0);
        let Some(instruction) = body.instructions.get(at) else {
            // The end of a body is a return.
            for index in members() {
                self.leave(&mut warp.lanes[index]);
            }
            return self.gather(warp);
        };
        let opcode = program.module.opcode(instruction);
        let mut run = 0u32;
        for index in members() {
            let frame = warp.lanes[index].frame();
            let holds = instruction
                .guard
                .is_none_or(|guard| (frame.registers[guard.register.index()][0] != 0) != guard.negated);
            if holds {
                run |= 1 << index;
            } else {
                frame.at += 1;
            }
        }
        if run == 0 {
            return Ok(());
        }
        let warp_barrier = opcode.op == Op::Bar && opcode.has(Word::Warp);
        if is_collective(opcode.op) || warp_barrier {
            if opcode.has(Word::Sync) {
                self.meet(warp, instruction, run)?;
                return self.gather(warp);
            }
            // The old forms are for whoever happens to be there.
            return self.together(warp, body, instruction, run);
        }
        if matches!(opcode.op, Op::Bar | Op::Barrier) {
            self.pause = true;
            return self.arrive(warp, body, instruction, run);
        }
        for index in (0..LANES).filter(|lane| run >> lane & 1 != 0) {
            self.instruction(warp, index, body, instruction, opcode, run)
                .map_err(|kind| self.fault(&warp.lanes[index], kind))?;
        }
        self.gather(warp)
    }

    fn instruction(
        &mut self,
        warp: &mut Warp,
        index: usize,
        body: &Body,
        instruction: &Instruction,
        opcode: &Opcode,
        run: u32,
    ) -> Result<(), Kind> {
        let operands = body.operands(instruction);
        let ty = opcode.ty(0).unwrap_or(Type::B32);
        let mut next = warp.lanes[index].frame().at + 1;
        match opcode.op {
            Op::Bra => {
                let Operand::Block(block) = operands[0] else { return Err(Kind::BadTarget(0)) };
                next = body.blocks[block.index()].instructions.start as usize;
            }
            Op::Brx => {
                let chosen = self.read(warp, index, operands[0], Type::U32)?;
                let Operand::Targets(targets) = operands[1] else { return Err(Kind::BadTarget(chosen)) };
                let target = body.targets[targets.index()].blocks.get(chosen as usize);
                let target = target.ok_or(Kind::BadTarget(chosen))?;
                next = body.blocks[target.index()].instructions.start as usize;
            }
            Op::Call => return self.call(warp, index, body, operands),
            Op::Ret => {
                self.leave(&mut warp.lanes[index]);
                return Ok(());
            }
            Op::Exit => {
                warp.lanes[index].status = Status::Exited;
                return Ok(());
            }
            Op::Trap => return Err(Kind::Trap),
            // One lane runs at a time, so memory is always in order.
            Op::Membar | Op::Fence | Op::Prefetch | Op::Prefetchu | Op::Nanosleep | Op::Brkpt => {}
            Op::Activemask => warp.lanes[index].frame().write(body, operands[0], Type::B32, run.into()),
            Op::Mov => self.mov(warp, index, body, operands, opcode)?,
            Op::Ld | Op::Ldu => self.load(warp, index, body, operands, opcode)?,
            Op::St => self.store(warp, index, body, operands, opcode)?,
            Op::Atom | Op::Red => self.atomic(warp, index, body, operands, opcode)?,
            Op::Cp => self.copy(warp, index, operands, opcode)?,
            Op::Cvta => {
                let address = self.read(warp, index, operands[1], ty)?;
                let window = match opcode.space() {
                    StateSpace::Shared => SHARED_WINDOW,
                    StateSpace::Local | StateSpace::Param => LOCAL_WINDOW,
                    _ => 0,
                };
                let to = opcode.has(Word::To);
                let value = if to { address.wrapping_sub(window) } else { address.wrapping_add(window) };
                warp.lanes[index].frame().write(body, operands[0], ty, value);
            }
            Op::Isspacep => {
                let address = self.read(warp, index, operands[1], Type::B64)?;
                let inside = |window: u64| address.wrapping_sub(window) < WINDOW;
                let holds = match opcode.space() {
                    StateSpace::Shared => inside(SHARED_WINDOW),
                    StateSpace::Local => inside(LOCAL_WINDOW),
                    StateSpace::Global => !inside(SHARED_WINDOW) && !inside(LOCAL_WINDOW),
                    _ => return Err(Kind::Unsupported(opcode.to_string())),
                };
                warp.lanes[index].frame().write(body, operands[0], Type::Pred, holds.into());
            }
            Op::Alloca => {
                let size = self.read(warp, index, operands[1], ty)?;
                let align = match operands[2] {
                    Operand::Integer(align) => (align as u64).max(8),
                    _ => 8,
                };
                let lane = &mut warp.lanes[index];
                let start = lane.frame().top.next_multiple_of(align.min(1 << 20));
                let top = start.checked_add(size).filter(|&top| top <= STACK).ok_or(Kind::StackOverflow)?;
                if lane.memory.len() < top as usize {
                    lane.memory.resize(top as usize, 0);
                }
                lane.frame().top = top;
                lane.frame().write(body, operands[0], ty, start);
            }
            Op::Stacksave => {
                let top = warp.lanes[index].frame().top;
                warp.lanes[index].frame().write(body, operands[0], ty, top);
            }
            Op::Stackrestore => {
                let top = self.read(warp, index, operands[0], ty)?;
                let frame = warp.lanes[index].frame();
                if top < frame.base || top > frame.top {
                    return Err(Kind::OutOfBounds { address: top, size: 0, write: false });
                }
                frame.top = top;
            }
            _ => self.compute(warp, index, body, operands, opcode)?,
        }
        warp.lanes[index].frame().at = next;
        Ok(())
    }

    /// Instructions that compute results from values alone.
    fn compute(
        &mut self,
        warp: &mut Warp,
        index: usize,
        body: &Body,
        operands: &[Operand],
        opcode: &Opcode,
    ) -> Result<(), Kind> {
        let inputs = self.inputs(warp, index, operands, opcode)?;
        let lane = &mut warp.lanes[index];
        let results = evaluate(opcode, &inputs, &mut lane.carry);
        let results = results.ok_or_else(|| Kind::Unsupported(opcode.to_string()))?;
        let frame = lane.frame();
        frame.write(body, operands[0], opcode.expected[0].ty.unwrap_or(Type::B64), results.first);
        if opcode.expected.get(1).is_some_and(|expected| expected.role == Role::SecondDestination) {
            frame.write(body, operands[1], Type::Pred, results.second.unwrap_or(false).into());
        }
        Ok(())
    }

    /// The values of all source operands that are there, in order.
    pub(crate) fn inputs(
        &self,
        warp: &Warp,
        index: usize,
        operands: &[Operand],
        opcode: &Opcode,
    ) -> Result<Inputs, Kind> {
        let mut inputs = Inputs { values: [0; MOST_INPUTS], count: 0 };
        for (&operand, expected) in operands.iter().zip(&opcode.expected) {
            if !expected.role.writes() && operand != Operand::Absent {
                let value = self.read(warp, index, operand, expected.ty.unwrap_or(Type::B64))?;
                inputs.values[inputs.count] = value;
                inputs.count += 1;
            }
        }
        Ok(inputs)
    }

    fn mov(
        &mut self,
        warp: &mut Warp,
        index: usize,
        body: &Body,
        operands: &[Operand],
        opcode: &Opcode,
    ) -> Result<(), Kind> {
        let ty = opcode.ty(0).unwrap_or(Type::B32);
        let source = self.parts(warp, index, body, operands[1], ty)?;
        let mut targets: Vec<Operand> = body.elements(operands[0]).to_vec();
        if let Operand::Register(id) = operands[0] {
            let vector = body.register(id).vector;
            let element = |element| if vector == 1 { operands[0] } else { Operand::Component(id, element) };
            targets = (0..vector).map(element).collect();
        } else if targets.is_empty() {
            targets.push(operands[0]);
        }
        let frame = warp.lanes[index].frame();
        if opcode.vector() > 1 || (source.len() == 1 && targets.len() == 1) {
            for (&target, value) in targets.iter().zip(source) {
                frame.write(body, target, ty, value);
            }
            return Ok(());
        }
        // Packing and unpacking, the least significant part first.
        let width = ty.bits() / source.len() as u32;
        let packed = source
            .iter()
            .rev()
            .fold(0u64, |all, part| if width >= 64 { *part } else { all << width | part & mask(width) });
        let width = ty.bits() / targets.len() as u32;
        let part = match width {
            8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            _ => Type::B64,
        };
        for (number, &target) in targets.iter().enumerate() {
            frame.write(body, target, part, packed >> (width * number as u32) & mask(width));
        }
        Ok(())
    }

    /// The values of an operand: several of a vector.
    pub(crate) fn parts(
        &self,
        warp: &Warp,
        index: usize,
        body: &Body,
        operand: Operand,
        ty: Type,
    ) -> Result<Vec<u64>, Kind> {
        match operand {
            Operand::Vector { .. } => {
                body.elements(operand).iter().map(|&part| self.read(warp, index, part, ty)).collect()
            }
            Operand::Register(id) if body.register(id).vector > 1 => {
                let vector = body.register(id).vector;
                (0..vector).map(|part| self.read(warp, index, Operand::Component(id, part), ty)).collect()
            }
            _ => Ok(vec![self.read(warp, index, operand, ty)?]),
        }
    }

    /// The value of an operand, in the low bits.
    pub(crate) fn read(&self, warp: &Warp, index: usize, operand: Operand, ty: Type) -> Result<u64, Kind> {
        let lane = &warp.lanes[index];
        let frame = &lane.frames[lane.frames.len() - 1];
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
            _ => return Err(Kind::Unsupported("an operand of this kind".to_owned())),
        };
        Ok(value & mask(ty.bits()))
    }

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
        };
        value.into()
    }

    fn call(&mut self, warp: &mut Warp, index: usize, body: &Body, operands: &[Operand]) -> Result<(), Kind> {
        let function = match operands[1] {
            Operand::Function(id) => id.index(),
            other => {
                let address = self.read(warp, index, other, Type::B64)?;
                self.program.function_at(address).ok_or(Kind::BadTarget(address))?
            }
        };
        let function = self.program.resolve(function);
        let callee = &self.program.module.functions[function];
        let arguments = body.elements(operands[2]);
        let results = body.elements(operands[0]).len();
        if arguments.len() != callee.parameters.len() || results != callee.returns.len() {
            return Err(Kind::BadTarget(function as u64));
        }
        let mut values = Vec::new();
        for (&argument, parameter) in arguments.iter().zip(&callee.parameters) {
            let size = parameter.size().unwrap_or(0) as usize;
            values.push(match argument {
                Operand::Symbol(symbol, offset) => {
                    let lane = &warp.lanes[index];
                    let frame = &lane.frames[lane.frames.len() - 1];
                    let at = self.symbol(frame, symbol).wrapping_add_signed(offset) as usize;
                    lane.memory.get(at..at + size).ok_or(Kind::StackOverflow)?.to_vec()
                }
                other => self.read(warp, index, other, parameter.ty)?.to_le_bytes()[..size.min(8)].to_vec(),
            });
        }
        let lane = &mut warp.lanes[index];
        lane.enter(self.program, function)?;
        let base = lane.frame().base;
        for (value, offset) in values.iter().zip(&self.program.layouts[function].parameters) {
            let at = (base + offset) as usize;
            lane.memory[at..at + value.len()].copy_from_slice(value);
        }
        Ok(())
    }

    /// Ends a function: results go to the caller, which stands at its call; without a
    /// caller the lane is done.
    pub(crate) fn leave(&mut self, lane: &mut Lane) {
        if lane.frames.len() <= 1 {
            lane.status = Status::Exited;
            return;
        }
        let Some(done) = lane.frames.pop() else { return };
        let program = self.program;
        let frame = lane.frames.last().expect("a caller").clone();
        let (_, body) = program.body(frame.function).expect("a running body");
        let results = body.elements(body.operands(&body.instructions[frame.at])[0]);
        let layout = &program.layouts[done.function];
        let returns = &program.module.functions[done.function].returns;
        for ((&result, variable), offset) in results.iter().zip(returns).zip(&layout.returns) {
            let size = variable.size().unwrap_or(0) as usize;
            let from = (done.base + offset) as usize;
            let bytes = lane.memory[from..from + size].to_vec();
            if let Operand::Symbol(symbol, offset) = result {
                let at = self.symbol(&frame, symbol).wrapping_add_signed(offset) as usize;
                if let Some(target) = lane.memory.get_mut(at..at + size) {
                    target.copy_from_slice(&bytes);
                }
            } else if size <= 8 {
                let mut wide = [0; 8];
                wide[..size].copy_from_slice(&bytes);
                lane.frame().write(body, result, variable.ty, u64::from_le_bytes(wide));
            }
        }
        lane.frame().at += 1;
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
