//! Operands that NVIDIA's assembler takes and the PTX ISA hardly mentions: an element of
//! an array, `a[4]`; a vector of one element, `{%r0}`; and the sum of a register or a
//! variable's address and a constant, `%r0+1`, where a value is expected.
//!
//! A sum becomes an instruction of its own, before the one that uses it, and a register
//! that no program can name. So nothing behind the parser knows of sums.

use std::ops::Range;

use crate::error::{Fault, Result, Span};
use crate::forms::{Expected, Role};
use crate::ir::{Instruction, Operand, Origin, Symbol, Variable};
use crate::types::{Type, TypeClass};

use super::Parser;
use super::function::Frame;

/// `register = operand + constant`, to be done before the instruction that is read.
pub(super) struct Sum {
    opcode: &'static str,
    /// Into the operands of the body.
    operands: Range<u32>,
}

impl<'a> Parser<'a> {
    /// The offset of `[index]` behind the name of an array, in bytes.
    pub(super) fn index(&mut self, frame: &Frame<'a>, symbol: Symbol, name: &str) -> Result<i64> {
        let span = self.advance().span;
        let array = self.declared(frame, symbol).filter(|variable| !variable.dimensions.is_empty());
        let Some(array) = array else {
            return Err(Fault::invalid(span, format!("'{name}' is no array, so it has no elements")));
        };
        // Of one element, also where vectors or rows are declared.
        let size = i64::from(array.ty.size());
        if !self.at_constant() {
            return Err(Fault::unsupported(
                self.token.span,
                "an array's element whose index is no constant is not supported",
            ));
        }
        let index = self.constant()?;
        self.expect(b']', "after an array's index")?;
        Ok(index.wrapping_mul(size))
    }

    /// The variable that a symbol names; `None` for a function.
    fn declared<'f>(&'f self, frame: &'f Frame<'a>, symbol: Symbol) -> Option<&'f Variable> {
        let function = &self.module.functions[frame.function.index()];
        match symbol {
            Symbol::Local(index) => frame.body.variables.get(index as usize),
            other => self.module.variable_of(function, other),
        }
    }

    /// What an operand of several tokens is, where `want` is expected.
    pub(super) fn composed(
        &mut self,
        frame: &mut Frame<'a>,
        operand: Operand,
        want: Option<&Expected>,
        start: Span,
    ) -> Result<Operand> {
        let role = want.map_or(Role::Source, |want| want.role);
        match operand {
            // A part of a matrix keeps its braces, as it must have them.
            Operand::Vector { first, length: 1 } if role.takes_vectors() && role.fragment().is_none() => {
                let element = frame.body.operands[first as usize];
                // Equal modules are equal in memory, too.
                frame.body.operands.truncate(first as usize);
                Ok(element)
            }
            Operand::Register(id) if !role.writes() && self.at(b'+') => {
                let register = frame.body.register(id);
                let ty = match (register.ty.class(), register.ty.size(), register.vector) {
                    (TypeClass::Bits | TypeClass::Signed | TypeClass::Unsigned, 2, 1) => Type::B16,
                    (TypeClass::Bits | TypeClass::Signed | TypeClass::Unsigned, 4, 1) => Type::B32,
                    (TypeClass::Bits | TypeClass::Signed | TypeClass::Unsigned, 8, 1) => Type::B64,
                    _ => {
                        let message =
                            format!("a sum with a register of type .{} is not supported", register.ty);
                        return Err(Fault::unsupported(start, message));
                    }
                };
                let constant = self.constant()?;
                Ok(self.sum(frame, ty, operand, constant))
            }
            Operand::Symbol(symbol, offset) if matches!(role, Role::Source | Role::VectorSource) => {
                let short = want.and_then(|want| want.ty).is_some_and(|ty| ty.size() == 4);
                let ty = if short { Type::B32 } else { Type::B64 };
                Ok(self.sum(frame, ty, Operand::Symbol(symbol, offset), 0))
            }
            other => Ok(other),
        }
    }

    fn sum(&mut self, frame: &mut Frame<'a>, ty: Type, operand: Operand, constant: i64) -> Operand {
        let register = frame.make_register("%sum", ty);
        let moves = matches!(operand, Operand::Symbol(..));
        let opcode = match (moves, ty) {
            (true, Type::B32) => "mov.b32",
            (true, _) => "mov.b64",
            (false, Type::B16) => "add.u16",
            (false, Type::B32) => "add.u32",
            (false, _) => "add.u64",
        };
        let first = frame.body.operands.len() as u32;
        frame.body.operands.extend([Operand::Register(register), operand]);
        if !moves {
            frame.body.operands.push(Operand::Integer(constant));
        }
        let operands = first..frame.body.operands.len() as u32;
        self.scratch.sums.push(Sum { opcode, operands });
        Operand::Register(register)
    }

    /// Writes the instructions of the sums that the operands of the instruction at `span`
    /// have.
    pub(super) fn add_up(&mut self, frame: &mut Frame<'a>, span: Span) -> Result<()> {
        for Sum { opcode, operands } in std::mem::take(&mut self.scratch.sums) {
            let opcode = self.opcode(opcode, span)?;
            let (location, origin) = (frame.location, Origin(span));
            frame.body.instructions.push(Instruction { opcode, guard: None, operands, location, origin });
        }
        Ok(())
    }
}
