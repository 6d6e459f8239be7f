//! Regions that each lane runs by itself, or in which all do the same, in code of another generator.
//!
//! Such code stands in the table of functions, or is not there yet. Where it is, all lanes' registers go to the frame
//! in the form that they have here, and what the region may have written comes from there, as behind masked code.
//! Where it is not, what follows is the region's ordinary code.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    AbiParam, Block as Label, BlockCall, InstBuilder, JumpTableData, Signature, Value,
};
use cranelift_codegen::isa::CallConv;

use super::Converged;
use crate::abi::{LANES, entry_of_regions};
use crate::analysis::lanewise::Region;
use crate::analysis::uniform::Uniform;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::Lanes;

impl Converged<'_, '_> {
    /// Has code of another generator run the region that begins with a block where there is such code. What is made
    /// next is the block's ordinary code.
    pub(super) fn lanewise(&mut self, block: u32) {
        let unit = self.emit.unit;
        let apart = unit.lanewise.as_deref().unwrap_or_default();
        if let Some(number) = apart.iter().position(|region| region.head == block) {
            let region = &apart[number];
            let (_, ordinary) = self.enter_region(number, &region.enters);
            self.come_back(region);
            self.switch(ordinary);
        } else if let Some(number) = unit.uniform.iter().position(|region| region.head == block) {
            let region = &unit.uniform[number];
            let (exit, ordinary) = self.enter_region(apart.len() + number, &region.enters);
            self.leave_region(region, exit, ordinary);
            self.switch(ordinary);
        }
    }

    /// Calls the code of a region, if it is there. What that gives, and where ordinary code is.
    fn enter_region(&mut self, number: usize, enters: &[u32]) -> (Value, Label) {
        let table = self.emit.load_field(I64, field!(functions));
        let entry = entry_of_regions(self.emit.unit.functions(), self.emit.unit.index);
        let code = self.emit.load_at(I64, table, 8 * entry as i32);
        let (there, ordinary) = (self.label(), self.label());
        self.emit.builder.ins().brif(code, there, &[], ordinary, &[]);
        self.switch(there);
        for &slot in enters {
            self.hand(slot);
        }
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend([AbiParam::new(I64); 3]);
        signature.returns.push(AbiParam::new(I64));
        let signature = self.emit.builder.import_signature(signature);
        let number = self.emit.number(number as i64);
        let (warp, frame) = (self.emit.warp, self.frame);
        let call = self.emit.builder.ins().call_indirect(signature, code, &[warp, frame, number]);
        (self.emit.builder.inst_results(call)[0], ordinary)
    }

    /// Goes on at the exit of a region in which all lanes have done the same.
    fn leave_region(&mut self, region: &Uniform, exit: Value, ordinary: Label) {
        let labels: Vec<Label> = region.exits.iter().map(|_| self.label()).collect();
        let pool = &mut self.emit.builder.func.dfg.value_lists;
        let calls: Vec<BlockCall> = labels.iter().map(|&label| BlockCall::new(label, [], pool)).collect();
        let Some(&last) = calls.last() else {
            unreachable!("a loop without an exit ends in none of its blocks")
        };
        let table = self.emit.builder.create_jump_table(JumpTableData::new(last, &calls));
        let exit = self.emit.builder.ins().ireduce(I32, exit);
        self.emit.builder.ins().br_table(exit, table);
        for (exit, label) in region.exits.iter().zip(labels) {
            self.switch(label);
            for &slot in &exit.leaves {
                let value = self.take(slot);
                self.keep(slot, value);
            }
            // Ordinary code of the head would enter the region again.
            let to = if exit.to == region.head { ordinary } else { self.labels[exit.to as usize] };
            self.emit.builder.ins().jump(to, &[]);
        }
    }

    /// Writes a slot to the frame as its variables hold it: what is the same in all lanes, or steps, as the first
    /// lanes' values alone.
    fn hand(&mut self, slot: u32) {
        let unit = self.emit.unit;
        let home = unit.homes[slot as usize];
        let bytes = if unit.code.slots[slot as usize].is_wide() { 8 } else { 4 };
        match self.emit.known_for_frame(slot) {
            Known::Steps(steps) if steps.bases.len() == self.rows => {
                let row = (LANES / self.rows) as i32;
                for (&base, number) in steps.bases.iter().zip(0..) {
                    self.store(base, home + number * row * bytes);
                }
            }
            Known::Input(Input::Lanes(Lanes::Uniform(value))) => self.store(value, home),
            _ => self.spill(slot),
        }
    }

    /// Goes on behind a region if what it has written still has its shapes; else all lanes go on in masked code.
    fn come_back(&mut self, region: &Region) {
        let unit = self.emit.unit;
        let written = |slot: &&u32| region.leaves.contains(slot);
        let (leaves, others): (Vec<&u32>, Vec<&u32>) =
            unit.liveness.entering(region.exit).iter().partition(written);
        if let Some(odd) = self.lost_shapes(leaves.iter().map(|&&slot| slot)) {
            let (fine, wrong) = (self.label(), self.cold_label());
            self.emit.builder.ins().brif(odd, wrong, &[], fine, &[]);
            self.switch(wrong);
            for &&slot in &others {
                self.spill(slot);
            }
            self.stop_converging();
            self.leave_for(&[(region.exit, None)], &[]);
            self.switch(fine);
        }
        for &&slot in &leaves {
            let value = self.take(slot);
            self.keep(slot, value);
        }
        let label = self.labels[region.exit as usize];
        self.emit.builder.ins().jump(label, &[]);
    }
}
