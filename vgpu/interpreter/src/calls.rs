//! Calls and returns, also of the functions that the driver provides.

use gangway_ptx::{Body, Operand, StateSpace, Type, Variable};

use crate::builtins::{self, Builtin, Caller, Host};
use crate::fault::FaultKind;
use crate::machine::{Block, Frame, Lane, Status};
use crate::operands::Step;
use crate::signature::{bad_prototype, signature};

impl Block<'_> {
    pub(crate) fn call(&mut self, step: &mut Step<'_>) -> Result<(), FaultKind> {
        let function = match step.operands[1] {
            Operand::Function(id) => id.index(),
            _ => {
                let address = self.value(step, 1, Type::B64)?;
                self.program.function_at(address).ok_or(FaultKind::BadTarget(address))?
            }
        };
        let program = self.program;
        let function = program.resolve(function);
        let callee = &program.module.functions[function];
        if let Operand::Prototype(id) = step.operands[3] {
            let prototype = &step.body.prototypes[id.index()];
            let passed = signature(&prototype.parameters, &prototype.returns);
            if callee.entry {
                return Err(FaultKind::BadTarget(self.value(step, 1, Type::B64)?));
            }
            if passed != signature(&callee.parameters, &callee.returns) {
                return Err(bad_prototype(callee));
            }
        }
        let arguments = step.body.elements(step.operands[2]);
        let results = step.body.elements(step.operands[0]);
        if arguments.len() != callee.parameters.len() || results.len() != callee.returns.len() {
            return Err(FaultKind::BadTarget(function as u64));
        }
        let mut values = Vec::new();
        for (&argument, parameter) in arguments.iter().zip(&callee.parameters) {
            values.push(self.argument(step, argument, parameter)?);
        }
        let builtin = Builtin::named(&callee.name).filter(|builtin| builtin.is_declared_by(callee));
        if let Some(builtin) = builtin.filter(|_| callee.body.is_none()) {
            let result = self.builtin(step, builtin, &values)?;
            let (body, frame) = (step.body, step.frame().clone());
            for (&operand, variable) in results.iter().zip(&callee.returns) {
                self.hand_over(step.lane_mut(), &frame, body, operand, variable, &result.to_le_bytes());
            }
            step.lane_mut().frame_mut().at += 1;
            return Ok(());
        }
        let lane = step.lane_mut();
        lane.enter(program, function)?;
        let base = lane.frame().base;
        for (value, offset) in values.iter().zip(&program.layouts[function].parameters) {
            let at = (base + offset) as usize;
            lane.memory[at..at + value.len()].copy_from_slice(value);
        }
        Ok(())
    }

    /// The bytes of an argument.
    fn argument(
        &self,
        step: &Step<'_>,
        argument: Operand,
        parameter: &Variable,
    ) -> Result<Vec<u8>, FaultKind> {
        let size = parameter.size().unwrap_or(0) as usize;
        if let Operand::Symbol(symbol, offset) = argument {
            let at = self.symbol(step.frame(), symbol).wrapping_add_signed(offset) as usize;
            return Ok(step.lane().memory.get(at..at + size).ok_or(FaultKind::StackOverflow)?.to_vec());
        }
        let value = self.read(step.warp, step.index, argument, parameter.ty)?;
        Ok(value.to_le_bytes()[..size.min(8)].to_vec())
    }

    /// Gives the caller, whose frame is on top again, a result.
    fn hand_over(
        &self,
        lane: &mut Lane,
        frame: &Frame,
        body: &Body,
        operand: Operand,
        variable: &Variable,
        bytes: &[u8],
    ) {
        let size = variable.size().unwrap_or(0) as usize;
        let Some(bytes) = bytes.get(..size) else { return };
        if let Operand::Symbol(symbol, offset) = operand {
            let at = self.symbol(frame, symbol).wrapping_add_signed(offset) as usize;
            if let Some(target) = lane.memory.get_mut(at..at + size) {
                target.copy_from_slice(bytes);
            }
        } else if size <= 8 {
            let mut wide = [0; 8];
            wide[..size].copy_from_slice(bytes);
            lane.frame_mut().write(body, operand, variable.ty, u64::from_le_bytes(wide));
        }
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
        let frame = lane.frame().clone();
        let (_, body) = program.body(frame.function).expect("a running body");
        let results = body.elements(body.operands(&body.instructions[frame.at])[0]);
        let layout = &program.layouts[done.function];
        let returns = &program.module.functions[done.function].returns;
        for ((&result, variable), offset) in results.iter().zip(returns).zip(&layout.returns) {
            let from = (done.base + offset) as usize;
            let bytes = lane.memory[from..from + variable.size().unwrap_or(0) as usize].to_vec();
            self.hand_over(lane, &frame, body, result, variable, &bytes);
        }
        lane.frame_mut().at += 1;
    }

    fn builtin(&mut self, step: &Step<'_>, builtin: Builtin, values: &[Vec<u8>]) -> Result<u64, FaultKind> {
        let arguments: Vec<u64> = values
            .iter()
            .map(|bytes| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            .collect();
        let caller = Caller { block: self.index, thread: step.lane().thread };
        builtins::call(builtin, &arguments, &caller, &mut Services { block: self, lane: step.lane() })
    }
}

/// What the driver's functions use, for one lane.
struct Services<'a, 'b> {
    block: &'a mut Block<'b>,
    lane: &'a Lane,
}

impl Host for Services<'_, '_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        self.block.get(self.lane, StateSpace::Generic, address, bytes)
    }

    fn allocate(&mut self, size: u64) -> Result<u64, FaultKind> {
        self.block.memory.heap_allocate(size)
    }

    fn free(&mut self, address: u64) -> Result<(), FaultKind> {
        self.block.memory.heap_free(address)
    }

    fn print(&mut self, text: &[u8]) {
        self.block.memory.print(text);
    }

    fn complain(&mut self, text: &str) {
        self.block.memory.complain(text);
    }
}
