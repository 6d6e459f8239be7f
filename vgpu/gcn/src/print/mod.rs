//! Instructions to the text that LLVM's tools print.

mod immediate;
mod memory;
mod operand;
mod vector;

use std::fmt::{self, Display, Formatter};

use crate::instruction::{Form, Instruction, Scalar, ScalarMemory, ScalarOffset};
use operand::{Commas, Place};

impl Display for Instruction {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.row.name)?;
        match &self.form {
            Form::Scalar(scalar) => self.scalar(scalar, out),
            Form::ScalarMemory(access) => self.scalar_memory(access, out),
            Form::Vector(vector) => self.vector(vector, out),
            Form::Local(access) => self.local(access, out),
            Form::Flat(access) => self.flat(access, out),
            Form::Buffer(access) => self.buffer(access, out),
        }
    }
}

impl Instruction {
    fn scalar(&self, scalar: &Scalar, out: &mut Formatter<'_>) -> fmt::Result {
        let mut commas = Commas::default();
        for (slot, to) in self.row.to.iter().zip(scalar.to.iter()) {
            commas.next(out)?;
            operand::write(*to, Place::of(slot), out)?;
        }
        for (slot, from) in self.row.from.iter().zip(scalar.from.iter()) {
            immediate::place(slot, *from, self.gpu, &mut commas, out)?;
        }
        Ok(())
    }

    fn scalar_memory(&self, access: &ScalarMemory, out: &mut Formatter<'_>) -> fmt::Result {
        let mut commas = Commas::default();
        for to in access.to.iter() {
            commas.next(out)?;
            operand::write(*to, Place::Other, out)?;
        }
        for (slot, from) in self.row.from.iter().zip(access.from.iter()) {
            immediate::place(slot, *from, self.gpu, &mut commas, out)?;
        }
        match access.offset {
            ScalarOffset::None => {}
            ScalarOffset::Constant(value) => write!(out, ", {}", operand::SignedHex(value))?,
            ScalarOffset::Register(register) => {
                commas.next(out)?;
                operand::write(register, Place::Other, out)?;
            }
            ScalarOffset::Both(register, value) => {
                commas.next(out)?;
                operand::write(register, Place::Other, out)?;
                write!(out, " offset:{}", operand::SignedHex(value))?;
            }
        }
        if access.glc { out.write_str(" glc") } else { Ok(()) }
    }
}
