//! Where code takes from the fuel.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::emit::Emitter;
use super::state::field;
use crate::support::Helper;

impl Emitter<'_, '_> {
    /// Takes some of the fuel; whether that was the last of it.
    pub fn spend(&mut self, amount: i64) -> Value {
        let fuel = self.load_field(I64, field!(fuel));
        let fuel = self.builder.ins().iadd_imm_s(fuel, -amount);
        self.store_field(fuel, field!(fuel));
        self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, fuel, 0)
    }

    /// Takes what it costs to enter the function, and gives way when that was the last.
    pub fn spend_entry(&mut self) {
        let Some(cost) = self.unit.fuel.entry else { return };
        let negative = self.spend(cost);
        self.call_if(negative, Helper::Turn, &[]);
    }
}
