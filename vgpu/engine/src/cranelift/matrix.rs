//! Instructions with which a warp works on matrices: a helper has them, and the registers of all
//! lanes are put down for it.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind};
use gangway_ptx::meaning::Matrix;
use gangway_ptx::{Operand, Role, Type};

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::state::field;
use crate::cranelift::value::{Lanes, is_wide};
use crate::support::{Helper, most_fragment_bytes};

impl Emitter<'_, '_> {
    /// The instruction with this number, for the lanes that run the block.
    pub fn matrix(&mut self, index: u32, matrix: Matrix) {
        let unit = self.unit;
        let instruction = &unit.body.instructions[index as usize];
        let opcode = unit.module.opcode(instruction);
        let operands = unit.body.operands(instruction);
        let area = match self.fragments {
            Some(area) => area,
            None => {
                let size = most_fragment_bytes() as u32;
                // Vectors of 16 bytes are stored there.
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
                *self.fragments.insert(self.builder.create_sized_stack_slot(data))
            }
        };
        let area = self.builder.ins().stack_addr(I64, area, 0);
        let mut offset = 0;
        let (mut written, mut read) = (Vec::new(), Vec::new());
        for (&operand, expected) in operands.iter().zip(&opcode.expected) {
            if expected.role == Role::Address {
                let address = self.address(operand);
                address.store(&mut self.builder, self.warp, field!(addresses));
                continue;
            }
            let ty = expected.ty.unwrap_or(Type::B32);
            let list = if expected.role.writes() { &mut written } else { &mut read };
            for part in self.parts(operand) {
                list.push((part, ty, offset));
                offset += (LANES * if is_wide(ty) { 8 } else { 4 }) as i32;
            }
        }
        for (part, ty, offset) in read {
            let value = self.value(part, ty);
            value.store(&mut self.builder, area, offset);
        }
        let (number, running) = (self.number(i64::from(instruction.opcode.0)), self.running(None));
        let check = self.number(unit.check.into());
        self.call(Helper::Matrix, &[number, running, area, check]);
        for (part, ty, offset) in written {
            if part != Operand::Sink {
                let value = Lanes::load(&mut self.builder, is_wide(ty), area, offset);
                self.write_lanes(part, ty, value, None);
            }
        }
        debug_assert!(offset as usize <= most_fragment_bytes(), "{matrix:?}");
    }
}
