//! Operations with which a warp works on matrices: a helper has them, and the registers of all
//! lanes are put down for it.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind};
use gangway_simt::Matrix;

use crate::cranelift::emit::Emitter;
use crate::cranelift::state::field;
use crate::cranelift::value::Lanes;
use crate::support::{Helper, most_fragment_bytes};

impl Emitter<'_, '_> {
    /// The operation, for the lanes that run the block.
    pub fn matrix(&mut self, matrix: &Matrix) {
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
        if let Some(address) = &matrix.address {
            let address = self.address(address);
            address.store(&mut self.builder, self.warp, field!(addresses));
        }
        for &(read, offset) in &matrix.sources {
            let value = self.value(read.source, read.ty);
            value.store(&mut self.builder, area, offset as i32);
        }
        let (opcode, running) = (self.number(matrix.opcode.into()), self.running(None));
        let check = self.number(self.unit.check.into());
        self.call(Helper::Matrix, &[opcode, running, area, check]);
        for &(result, offset) in &matrix.results {
            debug_assert!((offset as usize) < most_fragment_bytes(), "{matrix:?}");
            if result.slot.is_some() {
                let value = Lanes::load(&mut self.builder, result.ty.is_wide(), area, offset as i32);
                self.write_lanes(result.slot, result.ty, value, None);
            }
        }
    }
}
