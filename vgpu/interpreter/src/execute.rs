//! One instruction for the lanes of a warp that stand at it.

use gangway_ptx::meaning::{AsyncCopy, Compute, Control, Hint, Stack};
use gangway_ptx::{BlockId, Body, Instruction, Meaning, Operand, Role, StateSpace, Type};

use crate::evaluate::evaluate;
use crate::exchange::lanes;
use crate::fault::{Fault, FaultKind};
use crate::integer::mask;
use crate::machine::{Block, STACK, Status, Warp};
use crate::memory::{Window, window};
use crate::operands::Step;

/// Where a lane goes on after an instruction.
pub(crate) enum Next {
    Following,
    /// At an instruction of the same body.
    At(usize),
    /// In another frame, or not at all: the lane has been moved already.
    Elsewhere,
}

/// An instruction that each lane runs by itself, and the lanes that do.
struct Alone<'a> {
    warp: &'a mut Warp,
    body: &'a Body,
    instruction: &'a Instruction,
    run: u32,
}

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
        if let Meaning::Barrier(_) = opcode.meaning {
            self.pause = true;
        }
        let mut alone = Alone { warp: &mut *warp, body, instruction, run };
        match opcode.meaning {
            Meaning::Exchange(exchange) if exchange.sync => {
                self.meet(warp, instruction, run)?;
                return self.gather(warp);
            }
            // The old forms are for whichever lanes happen to be there.
            Meaning::Exchange(exchange) => {
                return self.together(warp, exchange.op, run);
            }
            Meaning::Matrix(_) => {
                self.meet_all(warp, run);
                return self.gather(warp);
            }
            Meaning::Barrier(barrier) => return self.arrive(warp, body, instruction, barrier, run),
            Meaning::Compute(compute) => self.each(&mut alone, |block, step| block.compute(step, compute)),
            Meaning::Move { ty, vector } => self.each(&mut alone, |block, step| block.mov(step, ty, vector)),
            Meaning::ConvertAddress { ty, space, to_space } => self.each(&mut alone, |block, step| {
                let address = block.value(step, 1, ty)?;
                let (base, _) = window(space);
                let add = if to_space { base.wrapping_neg() } else { base };
                step.write(0, ty, address.wrapping_add(add));
                Ok(Next::Following)
            }),
            Meaning::IsInSpace(space) => self.each(&mut alone, |block, step| {
                let address = block.value(step, 1, Type::B64)?;
                let holds = block.is_in_space(step, space, address);
                step.write(0, Type::Pred, holds.into());
                Ok(Next::Following)
            }),
            Meaning::Load(access) => self.each(&mut alone, |block, step| block.load(step, access)),
            Meaning::Store(access) => self.each(&mut alone, |block, step| block.store(step, access)),
            Meaning::Atomic(atomic) => self.each(&mut alone, |block, step| block.atomic(step, atomic)),
            Meaning::Copy(AsyncCopy::Start) => self.each(&mut alone, |block, step| block.copy(step)),
            Meaning::Stack(stack, ty) => self.each(&mut alone, |block, step| block.stack(step, stack, ty)),
            Meaning::Control(control) => self.each(&mut alone, |block, step| block.control(step, control)),
            Meaning::ActiveMask => self.each(&mut alone, |_, step| {
                step.write(0, Type::B32, run.into());
                Ok(Next::Following)
            }),
            // Copies are done when they start, and one lane runs at a time, so that memory is
            // always in order.
            Meaning::Copy(AsyncCopy::Group)
            | Meaning::Fence { .. }
            | Meaning::Hint(Hint::Prefetch | Hint::Sleep | Hint::Breakpoint) => {
                self.each(&mut alone, |_, _| Ok(Next::Following))
            }
        }?;
        self.gather(warp)
    }

    /// Runs an instruction that lanes do not wait in, for one lane after the other.
    fn each(
        &mut self,
        alone: &mut Alone<'_>,
        run: impl Fn(&mut Self, &mut Step<'_>) -> Result<Next, FaultKind>,
    ) -> Result<(), Box<Fault>> {
        let Alone { ref mut warp, body, instruction, run: active } = *alone;
        let program = self.program;
        let mut failed = None;
        for index in lanes(active) {
            let mut step = Step::new(program, warp, index, body, instruction);
            match run(self, &mut step) {
                Ok(Next::Following) => step.lane_mut().frame_mut().at += 1,
                Ok(Next::At(at)) => step.lane_mut().frame_mut().at = at,
                Ok(Next::Elsewhere) => {}
                Err(kind) => {
                    // All lanes whose assertion fails tell so, as on hardware.
                    let last = !matches!(kind, FaultKind::Assert(_));
                    failed.get_or_insert(self.fault(&warp.lanes[index], kind));
                    if last {
                        break;
                    }
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn control(&mut self, step: &mut Step<'_>, control: Control) -> Result<Next, FaultKind> {
        let start = |block: BlockId| step.body.blocks[block.index()].instructions.start as usize;
        match control {
            Control::Branch => {
                let Operand::Block(block) = step.operands[0] else { return Err(FaultKind::BadTarget(0)) };
                Ok(Next::At(start(block)))
            }
            Control::BranchIndexed => {
                let chosen = self.value(step, 0, Type::U32)?;
                let Operand::Targets(targets) = step.operands[1] else {
                    return Err(FaultKind::BadTarget(chosen));
                };
                let target = step.body.targets[targets.index()].blocks.get(chosen as usize);
                Ok(Next::At(start(*target.ok_or(FaultKind::BadTarget(chosen))?)))
            }
            Control::Call => self.call(step).map(|()| Next::Elsewhere),
            Control::Return => {
                self.leave(step.lane_mut());
                Ok(Next::Elsewhere)
            }
            Control::Exit => {
                step.lane_mut().status = Status::Exited;
                Ok(Next::Elsewhere)
            }
            Control::Trap => Err(FaultKind::Trap),
        }
    }

    fn stack(&mut self, step: &mut Step<'_>, stack: Stack, ty: Type) -> Result<Next, FaultKind> {
        match stack {
            Stack::Allocate => {
                let size = self.value(step, 1, ty)?;
                let align = match step.operands[2] {
                    Operand::Integer(align) => (align as u64).max(8),
                    _ => 8,
                };
                let lane = step.lane_mut();
                let start = lane.frame().top.next_multiple_of(align.min(1 << 20));
                let top =
                    start.checked_add(size).filter(|&top| top <= STACK).ok_or(FaultKind::StackOverflow)?;
                if lane.memory.len() < top as usize {
                    lane.memory.resize(top as usize, 0);
                }
                lane.frame_mut().top = top;
                step.write(0, ty, start);
            }
            Stack::Save => step.write(0, ty, step.frame().top),
            Stack::Restore => {
                let top = self.value(step, 0, ty)?;
                let frame = step.lane_mut().frame_mut();
                if top < frame.base || top > frame.top {
                    return Err(FaultKind::OutOfBounds { address: top, size: 0, write: false });
                }
                frame.top = top;
            }
        }
        Ok(Next::Following)
    }

    /// Instructions that compute results from values alone.
    fn compute(&mut self, step: &mut Step<'_>, compute: Compute) -> Result<Next, FaultKind> {
        let inputs = self.inputs(step)?;
        let mut carry = step.lane().carry;
        let results = evaluate(compute, &inputs, &mut carry);
        step.lane_mut().carry = carry;
        step.write(0, step.opcode.expected[0].ty.unwrap_or(Type::B64), results.first);
        if step.opcode.expected.get(1).is_some_and(|expected| expected.role == Role::SecondDestination) {
            step.write(1, Type::Pred, results.second.unwrap_or(false).into());
        }
        Ok(Next::Following)
    }

    /// Whether a generic address lies in the space that an `isspacep` names. A kernel's parameters
    /// count as global memory as well, constants do not.
    fn is_in_space(&self, step: &Step<'_>, space: StateSpace, address: u64) -> bool {
        let inside = |space| {
            let (base, size) = window(space);
            address.wrapping_sub(base) < size
        };
        let parameter = inside(StateSpace::Param) && {
            let frame = &step.lane().frames[0];
            let offset = address - window(StateSpace::Param).0;
            offset.wrapping_sub(frame.base) < self.program.layouts[frame.function].parameter_size
        };
        match space {
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

    fn mov(&mut self, step: &mut Step<'_>, ty: Type, vector: u8) -> Result<Next, FaultKind> {
        let source = self.parts(step, 1, ty)?;
        let mut targets: Vec<Operand> = step.body.elements(step.operands[0]).to_vec();
        if let Operand::Register(id) = step.operands[0] {
            let elements = step.body.register(id).vector;
            let element =
                |element| if elements == 1 { step.operands[0] } else { Operand::Component(id, element) };
            targets = (0..elements).map(element).collect();
        } else if targets.is_empty() {
            targets.push(step.operands[0]);
        }
        if vector > 1 || (source.len() == 1 && targets.len() == 1) {
            for (&target, value) in targets.iter().zip(source) {
                step.put(target, ty, value);
            }
            return Ok(Next::Following);
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
        Ok(Next::Following)
    }
}
