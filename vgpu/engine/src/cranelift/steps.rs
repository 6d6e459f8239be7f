//! Values of equal steps in converged code: computed once for each row, not for each lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_device_memory::shadow::{NOTHING, NOWHERE, SHADOW};
use gangway_device_memory::{BASE, LOCAL_SIZE, LOCAL_WINDOW, SIZE};
use gangway_simt::{Address, Compute, Kind, Operation, Scalar, Source};

use crate::abi::LANES;
use crate::analysis::shape::{Shape, has_predicates, widened, widens};
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::{Input, Output};
use crate::cranelift::state::{Known, Steps};
use crate::cranelift::value::Lanes;

impl Emitter<'_, '_> {
    /// A source as it is known, in the bits of `ty`; none where that takes the values of all lanes.
    pub fn narrowed(&mut self, known: Known, ty: Scalar) -> Option<Known> {
        let wide = |emitter: &Self, value: Value| emitter.builder.func.dfg.value_type(value) == I64;
        match known {
            Known::Steps(steps) if ty.bits() >= 32 => {
                if wide(self, steps.bases[0]) == ty.is_wide() {
                    return Some(Known::Steps(steps));
                }
                if ty.is_wide() {
                    return None;
                }
                let bases = steps.bases.iter().map(|&base| self.builder.ins().ireduce(I32, base)).collect();
                Some(Known::Steps(Steps { bases, step: steps.step }))
            }
            Known::Input(Input::Lanes(Lanes::Uniform(value))) => {
                Some(Known::lanes(self.fit(Lanes::Uniform(value), ty)))
            }
            _ => None,
        }
    }

    /// Computes what has sources of equal steps, if its result has some too. What is speculative has
    /// been checked.
    pub fn compute_steps(&mut self, compute: &Compute) -> Option<Known> {
        if !self.converged || has_predicates(compute) {
            return None;
        }
        let mut sources = Vec::with_capacity(4);
        let mut shapes = Vec::with_capacity(4);
        let mut rows = 1;
        for read in &compute.sources {
            let known = self.known_source(read.source, read.ty);
            let known = self.narrowed(known, read.ty)?;
            shapes.push(match &known {
                Known::Steps(steps) => {
                    rows = steps.bases.len();
                    Shape::Steps(steps.step)
                }
                Known::Input(_) => Shape::Uniform,
            });
            sources.push(known);
        }
        let step = if !shapes.iter().any(|shape| matches!(shape, Shape::Steps(_))) {
            return None;
        } else if shapes.iter().all(|&shape| matches!(shape, Shape::Uniform | Shape::Steps(0))) {
            0
        } else if widens(compute) && !self.unit.shapes.is_speculative_compute(compute) {
            return None;
        } else {
            let step = self.unit.shapes.steps_of(compute, &shapes);
            step.filter(|step| step.abs() <= crate::analysis::shape::MOST_STEP)?
        };
        let mut bases = Vec::with_capacity(rows);
        for row in 0..rows {
            let inputs: Vec<Input> = sources
                .iter()
                .map(|source| match source {
                    Known::Steps(steps) => Input::Lanes(Lanes::Uniform(steps.bases[row])),
                    Known::Input(input) => input.clone(),
                })
                .collect();
            let outputs = self.pure(compute, &inputs)?;
            let Output::Lanes(lanes) = outputs.first else { return None };
            bases.push(lanes.lane(&mut self.builder, 0));
        }
        // A destination that is wider takes the sign of a value that may have wrapped around.
        let wide = self.builder.func.dfg.value_type(bases[0]) == I64;
        let register = self.ty(compute.results[0].slot?);
        if register.is_wide() != wide || register.bits() < 32 {
            return None;
        }
        if let (&[base], 0) = (&bases[..], step) {
            return Some(Known::lanes(Lanes::Uniform(base)));
        }
        Some(Known::Steps(Steps { bases: bases.into(), step }))
    }

    /// Where the shadows of a row are, or nowhere where it is not in device memory: a row that is not whole there or
    /// whole elsewhere is none that a program may access.
    pub fn shadow_steps(&mut self, compute: &Compute) -> Option<Known> {
        if !self.unit.init || !self.converged {
            return None;
        }
        let [yes, no, inside] = &compute.sources[..] else { return None };
        let Source::Constant(nowhere @ (NOTHING | NOWHERE)) = no.source else { return None };
        if inside.ty != Scalar::Predicate || !yes.ty.is_wide() {
            return None;
        }
        let Known::Steps(steps) = self.known_source(yes.source, yes.ty) else { return None };
        if self.builder.func.dfg.value_type(steps.bases[0]) != I64 {
            return None;
        }
        let row = (LANES / steps.bases.len()) as i64;
        let (nowhere, size) = (self.number(nowhere as i64), self.number(SIZE as i64));
        let mut bases = Vec::with_capacity(steps.bases.len());
        for &base in &steps.bases {
            // The middle one is where the others are.
            let above = steps.step * (row / 2) - (BASE - SHADOW) as i64;
            let above = self.builder.ins().iadd_imm_s(base, above);
            let inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, above, size);
            bases.push(self.builder.ins().select(inside, base, nowhere));
        }
        Some(Known::Steps(Steps { bases: bases.into(), step: steps.step }))
    }

    /// Whether something that a speculative operation needs does not hold, as a value that is not
    /// zero then; none where nothing can be wrong.
    pub fn expectation(&mut self, operation: &Operation) -> Option<Value> {
        let compute = match &operation.kind {
            Kind::Load { address, .. } => return self.expect_memory(address),
            Kind::Compute(compute) => compute,
            _ => return None,
        };
        let (ty, count) = widened(compute)?;
        let mut wrong = None;
        for read in &compute.sources[..count] {
            let Known::Steps(steps) = self.known_source(read.source, ty) else { continue };
            let Some(Known::Steps(steps)) = self.narrowed(Known::Steps(steps), ty) else { continue };
            if steps.step == 0 {
                continue;
            }
            let row = (LANES / steps.bases.len()) as i64;
            for &base in &steps.bases {
                let end = self.builder.ins().iadd_imm_s(base, steps.step * (row - 1));
                let over = self.builder.ins().icmp(beyond(ty.is_signed(), steps.step), end, base);
                wrong = Some(self.or(wrong, over));
            }
        }
        wrong
    }

    /// A generic address that is the same in all lanes leads to the same memory in all lanes, and
    /// not to each lane's own.
    fn expect_memory(&mut self, address: &Address) -> Option<Value> {
        let Lanes::Uniform(address) = self.address(address) else { return None };
        let offset = self.builder.ins().iadd_imm_s(address, (LOCAL_WINDOW as i64).wrapping_neg());
        let size = self.number(LOCAL_SIZE as i64);
        Some(self.builder.ins().icmp(IntCC::UnsignedLessThan, offset, size))
    }
}

/// How the last value of a row compares with the first if it has gone beyond what its type holds.
pub(crate) fn beyond(signed: bool, step: i64) -> IntCC {
    match (signed, step > 0) {
        (true, true) => IntCC::SignedLessThan,
        (true, false) => IntCC::SignedGreaterThan,
        (false, true) => IntCC::UnsignedLessThan,
        (false, false) => IntCC::UnsignedGreaterThan,
    }
}
