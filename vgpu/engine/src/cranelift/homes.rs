//! Registers in the frame of a function.

use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use gangway_simt::Scalar;

use super::emit::Registers;
use super::sequence::Input;
use super::state::{Known, own_memory};
use super::value::{Lanes, Predicate};

/// Registers in the frame.
pub(crate) struct Homes<'a> {
    pub homes: &'a [i32],
    pub frame: Value,
}

impl Registers for Homes<'_> {
    fn fetch(&mut self, builder: &mut FunctionBuilder, slot: u32, ty: Scalar) -> Known {
        Known::Input(fetch(builder, self.frame, self.homes[slot as usize], ty))
    }
}

/// What a slot holds whose place in the frame is `home`.
pub(crate) fn fetch(builder: &mut FunctionBuilder, frame: Value, home: i32, ty: Scalar) -> Input {
    match (home, ty) {
        // A register that nothing has written is zero.
        (0, Scalar::Predicate) => Input::Predicate(Predicate::constant(builder, false)),
        (0, _) => Input::Lanes(Lanes::constant(builder, ty.is_wide(), 0)),
        (home, Scalar::Predicate) => {
            Input::Predicate(Predicate::Bits(builder.ins().load(I32, own_memory(), frame, home)))
        }
        (home, _) => Input::Lanes(Lanes::load(builder, ty.is_wide(), frame, home)),
    }
}
