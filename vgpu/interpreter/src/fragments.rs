//! Instructions with which a warp works on matrices: from registers and memory to what
//! [`matrix`](crate::matrix) computes, and back.

use gangway_ptx::meaning::{Matrix, MatrixAccess, Multiply};
use gangway_ptx::{Body, Instruction, Type};

use crate::exchange::{LANES, lanes};
use crate::fault::{Fault, FaultKind};
use crate::machine::{Block, Status, Warp};
use crate::matrix::{
    DoubleWords, Rows, Words, fragment_of, multiply, multiply_doubles, row_bytes, row_of, rows_of,
};
use crate::operands::Step;

/// An instruction, and the lanes that execute it together.
struct Together<'a> {
    warp: &'a mut Warp,
    body: &'a Body,
    instruction: &'a Instruction,
    set: u32,
}

impl Block<'_> {
    /// Lets lanes wait for all others of their warp.
    pub(crate) fn meet_all(&mut self, warp: &mut Warp, run: u32) {
        for index in lanes(run) {
            warp.lanes[index].status = Status::Warp(u32::MAX);
        }
    }

    /// Runs the instruction that the lanes of `set` stand at, all that are left of their warp, and
    /// moves them on.
    pub(crate) fn matrix(&mut self, warp: &mut Warp, matrix: Matrix, set: u32) -> Result<(), Box<Fault>> {
        let place = |index: usize| (warp.lanes[index].frame().function, warp.lanes[index].frame().at);
        let first = set.trailing_zeros() as usize;
        let (function, at) = place(first);
        if lanes(set).any(|index| place(index) != (function, at)) {
            return Err(self.fault(&warp.lanes[first], FaultKind::Apart(set)));
        }
        let (_, body) = self.program.body(function).expect("a running body");
        let together = &mut Together { warp, body, instruction: &body.instructions[at], set };
        let done = match matrix {
            Matrix::Multiply(op) if op.sum == Type::F64 => self.multiply_doubles(together, op),
            Matrix::Multiply(op) => self.multiply(together, op),
            Matrix::Load(access) => self.load_matrices(together, access),
            Matrix::Store(access) => self.store_matrices(together, access),
            Matrix::Transpose => self.fragment(together, 1).map(|source| {
                let turned = source.iter().map(|words| fragment_of(&rows_of(words, false), true));
                self.leave_fragment(together, &turned.collect::<Vec<_>>(), u64::from);
            }),
        };
        match done {
            Ok(()) => lanes(set).for_each(|index| warp.lanes[index].frame_mut().at += 1),
            Err((index, kind)) => return Err(self.fault(&warp.lanes[index], kind)),
        }
        Ok(())
    }

    fn multiply(&self, together: &mut Together<'_>, op: Multiply) -> Result<(), (usize, FaultKind)> {
        let sources = [1, 2, 3].map(|position| self.fragment(together, position));
        let [a, b, c] = sources;
        let (a, b, c) = (a?, b?, c?);
        let mut d = vec![[0; LANES]; c.len()];
        multiply(op, [&a, &b, &c], &mut d);
        self.leave_fragment(together, &d, u64::from);
        Ok(())
    }

    fn multiply_doubles(&self, together: &mut Together<'_>, op: Multiply) -> Result<(), (usize, FaultKind)> {
        let sources = [1, 2, 3].map(|position| self.wide_fragment(together, position));
        let [a, b, c] = sources;
        let (a, b, c) = (a?, b?, c?);
        let mut d = vec![[0; LANES]; c.len()];
        multiply_doubles(op, [&a, &b, &c], &mut d);
        self.leave_fragment(together, &d, |value| value);
        Ok(())
    }

    /// The lanes that have the addresses of a matrix's rows, in their order.
    fn load_matrices(
        &self,
        together: &mut Together<'_>,
        access: MatrixAccess,
    ) -> Result<(), (usize, FaultKind)> {
        let mut loaded = Vec::with_capacity(access.count.into());
        for matrix in 0..usize::from(access.count) {
            let mut rows = Rows::default();
            for (row, index) in rows.iter_mut().zip(MatrixAccess::ROWS * matrix..) {
                if together.set >> index & 1 == 0 {
                    continue;
                }
                let step = Step::new(self.program, together.warp, index, together.body, together.instruction);
                let address = self.address(step.lane(), step.operands[1]);
                let mut bytes = [0; MatrixAccess::ROW as usize];
                self.get(step.lane(), access.space, address, &mut bytes).map_err(|kind| (index, kind))?;
                *row = row_of(bytes);
            }
            loaded.push(fragment_of(&rows, access.transposed));
        }
        self.leave_fragment(together, &loaded, u64::from);
        Ok(())
    }

    fn store_matrices(
        &mut self,
        together: &mut Together<'_>,
        access: MatrixAccess,
    ) -> Result<(), (usize, FaultKind)> {
        let fragment = self.fragment(together, 1)?;
        for (matrix, words) in fragment.iter().enumerate() {
            let rows = rows_of(words, access.transposed);
            for (row, index) in rows.into_iter().zip(MatrixAccess::ROWS * matrix..) {
                if together.set >> index & 1 == 0 {
                    continue;
                }
                let mut step =
                    Step::new(self.program, together.warp, index, together.body, together.instruction);
                let address = self.address(step.lane(), step.operands[0]);
                let stored = self.put(step.lane_mut(), access.space, address, &row_bytes(row));
                stored.map_err(|kind| (index, kind))?;
            }
        }
        Ok(())
    }

    /// The registers of an operand, those of lanes that take no part as zeros.
    fn fragment(
        &self,
        together: &mut Together<'_>,
        position: usize,
    ) -> Result<Vec<Words>, (usize, FaultKind)> {
        let wide = self.wide_fragment(together, position)?;
        Ok(wide.into_iter().map(|register| register.map(|value| value as u32)).collect())
    }

    fn wide_fragment(
        &self,
        together: &mut Together<'_>,
        position: usize,
    ) -> Result<Vec<DoubleWords>, (usize, FaultKind)> {
        let mut registers = Vec::new();
        for index in lanes(together.set) {
            let step = Step::new(self.program, together.warp, index, together.body, together.instruction);
            let ty = step.opcode.expected[position].ty.unwrap_or(Type::B32);
            let parts = self.parts(&step, position, ty).map_err(|kind| (index, kind))?;
            registers.resize(parts.len(), [0; LANES]);
            registers.iter_mut().zip(parts).for_each(|(register, value)| register[index] = value);
        }
        Ok(registers)
    }

    /// Writes the registers of the first operand.
    fn leave_fragment<W: Copy>(
        &self,
        together: &mut Together<'_>,
        registers: &[[W; LANES]],
        value: impl Fn(W) -> u64,
    ) {
        for index in lanes(together.set) {
            let mut step = Step::new(self.program, together.warp, index, together.body, together.instruction);
            let ty = step.opcode.expected[0].ty.unwrap_or(Type::B32);
            for (number, register) in registers.iter().enumerate() {
                let target = step.part(0, number);
                step.put(target, ty, value(register[index]));
            }
        }
    }
}
