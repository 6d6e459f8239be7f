//! Regions that each lane runs by itself, in code of another generator.
//!
//! Such code stands in the table of functions, or is not there yet. Where it is, all lanes' registers go to the frame
//! in the form that they have here, and what the region may have written comes from there, as behind masked code.
//! Where it is not, what follows is the region's ordinary code.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature};
use cranelift_codegen::isa::CallConv;

use super::Converged;
use crate::abi::{LANES, entry_of_regions};
use crate::analysis::lanewise::Region;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::Lanes;

impl Converged<'_, '_> {
    /// Has lanes run the region that begins with a block by themselves where there is code for it. What is made
    /// next is the block's ordinary code.
    pub(super) fn lanewise(&mut self, block: u32) {
        let regions = self.emit.unit.lanewise.as_deref().unwrap_or_default();
        let Some(number) = regions.iter().position(|region| region.head == block) else { return };
        let region = &regions[number];
        let table = self.emit.load_field(I64, field!(functions));
        let entry = entry_of_regions(self.emit.unit.functions(), self.emit.unit.index);
        let code = self.emit.load_at(I64, table, 8 * entry as i32);
        let (there, ordinary) = (self.label(), self.label());
        self.emit.builder.ins().brif(code, there, &[], ordinary, &[]);
        self.switch(there);
        for &slot in &region.enters {
            self.hand(slot);
        }
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend([AbiParam::new(I64); 3]);
        let signature = self.emit.builder.import_signature(signature);
        let number = self.emit.number(number as i64);
        let (warp, frame) = (self.emit.warp, self.frame);
        self.emit.builder.ins().call_indirect(signature, code, &[warp, frame, number]);
        self.come_back(region);
        self.switch(ordinary);
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
