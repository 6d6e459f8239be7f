//! One instruction for the lanes of a warp that stand at it.

use gangway_ptx::{Op, Operand, Role, StateSpace, Type, Word};

use crate::evaluate::evaluate;
use crate::exchange::{is_collective, lanes};
use crate::fault::{Fault, Kind};
use crate::integer::mask;
use crate::machine::{Block, STACK, Status, Warp};
use crate::memory::{Window, window};
use crate::operands::Step;

impl Block<'_> {
    /// Runs the next instruction of the lanes in `active`, which stand at one place.
    pub(crate) fn execute(&mut self, warp: &mut Warp, active: u32) -> Result<(), Box<Fault>> {
        let program = self.program;
        let frame = warp.lanes[active.trailing_zeros() as usize].frame();
        let (function, at) = (frame.function, frame.at);
        let (_, body) = program.body(function).expect("a running body");
        let Some(instruction) = body.instructions.get(at) else {
            // The end of a body is a return.
            for index in lanes(active) {
                self.leave(&mut warp.lanes[index]);
            }
            return self.gather(warp);
        };
        let opcode = program.module.opcode(instruction);
        let mut run = 0u32;
        for index in lanes(active) {
            let frame = warp.lanes[index].frame_mut();
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
        let mut failed = None;
        for index in lanes(run) {
            let ended = self.instruction(&mut Step::new(program, warp, index, body, instruction), run);
            if let Err(kind) = ended {
                // All lanes whose assertion fails tell so, as on hardware.
                let last = !matches!(kind, Kind::Assert(_));
                failed.get_or_insert(self.fault(&warp.lanes[index], kind));
                if last {
                    break;
                }
            }
        }
        failed.map_or_else(|| self.gather(warp), Err)
    }

    fn instruction(&mut self, step: &mut Step<'_>, run: u32) -> Result<(), Kind> {
        let ty = step.ty();
        let mut next = step.frame().at + 1;
        let start = |block: gangway_ptx::BlockId| step.body.blocks[block.index()].instructions.start as usize;
        match step.opcode.op {
            Op::Bra => {
                let Operand::Block(block) = step.operands[0] else { return Err(Kind::BadTarget(0)) };
                next = start(block);
            }
            Op::Brx => {
                let chosen = self.value(step, 0, Type::U32)?;
                let Operand::Targets(targets) = step.operands[1] else { return Err(Kind::BadTarget(chosen)) };
                let target = step.body.targets[targets.index()].blocks.get(chosen as usize);
                next = start(*target.ok_or(Kind::BadTarget(chosen))?);
            }
            Op::Call => return self.call(step),
            Op::Ret => {
                self.leave(step.lane_mut());
                return Ok(());
            }
            Op::Exit => {
                step.lane_mut().status = Status::Exited;
                return Ok(());
            }
            Op::Trap => return Err(Kind::Trap),
            // One lane runs at a time, so memory is always in order.
            Op::Membar | Op::Fence | Op::Prefetch | Op::Prefetchu | Op::Nanosleep | Op::Brkpt => {}
            Op::Activemask => step.write(0, Type::B32, run.into()),
            Op::Mov => self.mov(step)?,
            Op::Ld | Op::Ldu => self.load(step)?,
            Op::St => self.store(step)?,
            Op::Atom | Op::Red => self.atomic(step)?,
            Op::Cp => self.copy(step)?,
            Op::Cvta => {
                let address = self.value(step, 1, ty)?;
                let (base, _) = window(step.opcode.space());
                let to = step.opcode.has(Word::To);
                step.write(0, ty, if to { address.wrapping_sub(base) } else { address.wrapping_add(base) });
            }
            Op::Isspacep => {
                let address = self.value(step, 1, Type::B64)?;
                let holds = self.is_in_space(step, address);
                step.write(0, Type::Pred, holds.into());
            }
            Op::Alloca => {
                let size = self.value(step, 1, ty)?;
                let align = match step.operands[2] {
                    Operand::Integer(align) => (align as u64).max(8),
                    _ => 8,
                };
                let lane = step.lane_mut();
                let start = lane.frame().top.next_multiple_of(align.min(1 << 20));
                let top = start.checked_add(size).filter(|&top| top <= STACK).ok_or(Kind::StackOverflow)?;
                if lane.memory.len() < top as usize {
                    lane.memory.resize(top as usize, 0);
                }
                lane.frame_mut().top = top;
                step.write(0, ty, start);
            }
            Op::Stacksave => step.write(0, ty, step.frame().top),
            Op::Stackrestore => {
                let top = self.value(step, 0, ty)?;
                let frame = step.lane_mut().frame_mut();
                if top < frame.base || top > frame.top {
                    return Err(Kind::OutOfBounds { address: top, size: 0, write: false });
                }
                frame.top = top;
            }
            _ => self.compute(step)?,
        }
        step.lane_mut().frame_mut().at = next;
        Ok(())
    }

    /// Instructions that compute results from values alone.
    fn compute(&mut self, step: &mut Step<'_>) -> Result<(), Kind> {
        let inputs = self.inputs(step)?;
        let mut carry = step.lane().carry;
        let results = evaluate(step.opcode, &inputs, &mut carry);
        let results = results.ok_or_else(|| step.unsupported())?;
        step.lane_mut().carry = carry;
        step.write(0, step.opcode.expected[0].ty.unwrap_or(Type::B64), results.first);
        if step.opcode.expected.get(1).is_some_and(|expected| expected.role == Role::SecondDestination) {
            step.write(1, Type::Pred, results.second.unwrap_or(false).into());
        }
        Ok(())
    }

    /// Whether a generic address lies in the space that an `isspacep` names. A kernel's parameters
    /// count as global memory as well, constants do not.
    fn is_in_space(&self, step: &Step<'_>, address: u64) -> bool {
        let inside = |space| {
            let (base, size) = window(space);
            address.wrapping_sub(base) < size
        };
        let parameter = inside(StateSpace::Param) && {
            let frame = &step.lane().frames[0];
            let offset = address - window(StateSpace::Param).0;
            offset.wrapping_sub(frame.base) < self.program.layouts[frame.function].parameter_size
        };
        match step.opcode.space() {
            StateSpace::Param => parameter,
            StateSpace::Local => inside(StateSpace::Local) && !parameter,
            StateSpace::Shared => inside(StateSpace::Shared),
            StateSpace::Const => self.program.is_constant(address),
            _ => match Window::of(address) {
                Window::Memory => !self.program.is_constant(address),
                Window::Local => parameter,
                Window::Shared => false,
            },
        }
    }

    fn mov(&mut self, step: &mut Step<'_>) -> Result<(), Kind> {
        let ty = step.ty();
        let source = self.parts(step, 1, ty)?;
        let mut targets: Vec<Operand> = step.body.elements(step.operands[0]).to_vec();
        if let Operand::Register(id) = step.operands[0] {
            let vector = step.body.register(id).vector;
            let element =
                |element| if vector == 1 { step.operands[0] } else { Operand::Component(id, element) };
            targets = (0..vector).map(element).collect();
        } else if targets.is_empty() {
            targets.push(step.operands[0]);
        }
        if step.opcode.vector() > 1 || (source.len() == 1 && targets.len() == 1) {
            for (&target, value) in targets.iter().zip(source) {
                step.put(target, ty, value);
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
            step.put(target, part, packed >> (width * number as u32) & mask(width));
        }
        Ok(())
    }
}
