//! How lanes wait for each other: for those of a mask, and at barriers of the block.

use gangway_ptx::meaning::{self, BarrierReduction, ExchangeOperation};
use gangway_ptx::{Body, Instruction, Meaning, Type};

use crate::exchange::{LANES, exchange, lanes};
use crate::fault::{Fault, FaultKind, barrier_count};
use crate::machine::{Barrier, Block, Lane, Status, Warp};
use crate::operands::Step;

impl<'p> Block<'p> {
    /// Lets lanes wait for those that their member masks name.
    pub(crate) fn meet(
        &mut self,
        warp: &mut Warp,
        instruction: &Instruction,
        run: u32,
    ) -> Result<(), Box<Fault>> {
        let program = self.program;
        for index in lanes(run) {
            let lane = &warp.lanes[index];
            let (_, body) = program.body(lane.frame().function).expect("a running body");
            let operands = body.operands(instruction);
            let mask = self.read(warp, index, operands[operands.len() - 1], Type::B32);
            let mask = mask.map_err(|kind| self.fault(&warp.lanes[index], kind))? as u32;
            if mask >> index & 1 == 0 {
                return Err(self.fault(&warp.lanes[index], FaultKind::NotInMask(mask)));
            }
            warp.lanes[index].status = Status::Warp(mask);
        }
        Ok(())
    }

    /// The instruction that a lane stands at, and the body that it is of.
    fn instruction_of(&self, lane: &Lane) -> (&'p Body, &'p Instruction) {
        let frame = lane.frame();
        let (_, body) = self.program.body(frame.function).expect("a running body");
        (body, &body.instructions[frame.at])
    }

    /// Runs the instructions for which all lanes of a mask have come, but those that have exited.
    /// They need not be at the same one, only at one of the same form.
    pub(crate) fn gather(&mut self, warp: &mut Warp) -> Result<(), Box<Fault>> {
        loop {
            let alive = (0..warp.lanes.len()).filter(|&index| warp.lanes[index].status != Status::Exited);
            let alive = alive.fold(0u32, |mask, index| mask | 1 << index);
            let ready = lanes(alive).find_map(|first| {
                let Status::Warp(mask) = warp.lanes[first].status else { return None };
                let form = self.instruction_of(&warp.lanes[first]).1.opcode;
                let same = |&index: &usize| {
                    let lane = &warp.lanes[index];
                    lane.status == Status::Warp(mask) && self.instruction_of(lane).1.opcode == form
                };
                let there = lanes(mask & alive).filter(same).fold(0u32, |there, index| there | 1 << index);
                (there == mask & alive).then_some((there, form))
            });
            let Some((together, form)) = ready else { return Ok(()) };
            for index in lanes(together) {
                warp.lanes[index].status = Status::Running;
            }
            match self.program.module.opcodes[form.index()].meaning {
                Meaning::Exchange(exchange) => self.together(warp, exchange.op, together)?,
                Meaning::Matrix(matrix) => self.matrix(warp, matrix, together)?,
                // Lanes wait for those of a mask in nothing else.
                _ => return Ok(()),
            }
        }
    }

    /// Runs the collective instructions of one form that the lanes of `set` stand at, and moves
    /// them on.
    pub(crate) fn together(
        &mut self,
        warp: &mut Warp,
        op: ExchangeOperation,
        set: u32,
    ) -> Result<(), Box<Fault>> {
        let mut results = [[0; LANES]; 2];
        let mut inputs = [[0; LANES]; 4];
        let mut count = 0;
        for index in lanes(set) {
            let (body, instruction) = self.instruction_of(&warp.lanes[index]);
            let sources = self.inputs(&Step::new(self.program, warp, index, body, instruction));
            let sources = sources.map_err(|kind| self.fault(&warp.lanes[index], kind))?;
            count = sources.len();
            inputs.iter_mut().zip(sources.iter()).for_each(|(input, &value)| input[index] = value);
        }
        exchange(op, set, &inputs[..count], &mut results);
        for index in lanes(set) {
            let (body, instruction) = self.instruction_of(&warp.lanes[index]);
            let opcode = self.program.module.opcode(instruction);
            let frame = warp.lanes[index].frame_mut();
            let written = body
                .operands(instruction)
                .iter()
                .zip(&opcode.expected)
                .filter(|(_, expected)| expected.role.writes());
            for ((&operand, expected), values) in written.zip(&results) {
                frame.write(body, operand, expected.ty.unwrap_or(Type::B32), values[index]);
            }
            frame.at += 1;
        }
        Ok(())
    }

    /// `bar` and `barrier`: the lanes arrive, and wait unless they only arrive.
    pub(crate) fn arrive(
        &mut self,
        warp: &mut Warp,
        body: &Body,
        instruction: &Instruction,
        barrier: meaning::Barrier,
        run: u32,
    ) -> Result<(), Box<Fault>> {
        let operands = body.operands(instruction);
        let (reduces, waits) = match barrier {
            meaning::Barrier::Wait => (false, true),
            meaning::Barrier::Arrive => (false, false),
            meaning::Barrier::Reduce(_) => (true, true),
        };
        let first = usize::from(reduces);
        for index in lanes(run) {
            let read = |operand| self.read(warp, index, operand, Type::U32);
            let read = (|| -> Result<_, FaultKind> {
                let number = read(operands[first])? as usize;
                let count = match operands.get(first + 1) {
                    Some(gangway_ptx::Operand::Absent) | None => None,
                    Some(&operand) => Some(read(operand)? as u32),
                };
                let predicate = match reduces {
                    true => self.read(warp, index, operands[operands.len() - 1], Type::Pred)? != 0,
                    false => false,
                };
                Ok((number, count, predicate))
            })();
            let read = read.and_then(|(number, count, predicate)| {
                Ok((number, barrier_count(count, self.launch.block.iter().product())?, predicate))
            });
            let (number, count, predicate) = read.map_err(|kind| self.fault(&warp.lanes[index], kind))?;
            let Some(barrier) = self.barriers.get_mut(number) else {
                return Err(self.fault(&warp.lanes[index], FaultKind::BadTarget(number as u64)));
            };
            barrier.arrived += 1;
            barrier.came[warp.index as usize] |= 1 << index;
            barrier.count = count;
            barrier.holds += u32::from(predicate);
            let lane = &mut warp.lanes[index];
            lane.frame_mut().at += 1;
            if waits {
                lane.status = Status::Barrier(number);
            }
        }
        Ok(())
    }

    /// Lets go of those whose barrier is complete; whether there were any.
    pub(crate) fn release_barriers(&mut self, warps: &mut [Warp]) -> bool {
        let alive =
            warps.iter().flat_map(|warp| &warp.lanes).filter(|lane| lane.status != Status::Exited).count();
        let mut released = false;
        for number in 0..self.barriers.len() {
            let barrier = &self.barriers[number];
            let wanted = match barrier.count {
                // Hardware counts whole warps: lanes that are gone count with those that have come.
                Some(count) => count.saturating_sub(gone(barrier, warps)),
                None => alive as u32,
            };
            if barrier.arrived == 0 || barrier.arrived < wanted {
                continue;
            }
            let barrier = std::mem::take(&mut self.barriers[number]);
            released = true;
            let program = self.program;
            for lane in warps.iter_mut().flat_map(|warp| &mut warp.lanes) {
                if lane.status != Status::Barrier(number) {
                    continue;
                }
                lane.status = Status::Running;
                let frame = lane.frame_mut();
                let (_, body) = program.body(frame.function).expect("a running body");
                let instruction = &body.instructions[frame.at - 1];
                let opcode = program.module.opcode(instruction);
                if let Meaning::Barrier(meaning::Barrier::Reduce(reduction)) = opcode.meaning {
                    let value = match reduction {
                        BarrierReduction::Count => barrier.holds.into(),
                        BarrierReduction::And => u64::from(barrier.holds == barrier.arrived),
                        BarrierReduction::Or => u64::from(barrier.holds > 0),
                    };
                    let ty = opcode.expected[0].ty.unwrap_or(Type::U32);
                    frame.write(body, body.operands(instruction)[0], ty, value);
                }
            }
        }
        released
    }
}

/// How many lanes have exited without having come, or are not in the block, of those warps of
/// which lanes have come.
fn gone(barrier: &Barrier, warps: &[Warp]) -> u32 {
    let warps = warps.iter().zip(&barrier.came).filter(|&(_, &came)| came != 0);
    let gone = |warp: &Warp, came: u32| {
        let is_gone = |&lane: &usize| {
            let exited = warp.lanes.get(lane).is_none_or(|lane| lane.status == Status::Exited);
            exited && came >> lane & 1 == 0
        };
        (0..LANES).filter(is_gone).count() as u32
    };
    warps.map(|(warp, &came)| gone(warp, came)).sum()
}
