//! How many registers a kernel's waves have.

use gangway_code_object::Descriptor;
use gangway_gcn::{Form, Gpu, Instruction, Operand};

use crate::fault::FaultKind;

/// The registers that a kernel's waves have for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// In all.
    pub count: usize,
    /// The vector registers among them, which come first.
    pub vectors: usize,
    /// Where accumulation registers begin.
    pub accumulators: usize,
}

impl Registers {
    #[must_use]
    pub fn of(gpu: Gpu, descriptor: &Descriptor) -> Self {
        let granules = descriptor.rsrc1.vgpr_granules() as usize + 1;
        let (count, vectors, accumulators) = counts(gpu, descriptor, granules);
        Self { count, vectors, accumulators }
    }

    fn check(&self, operand: Operand) -> Result<(), FaultKind> {
        let (name, end, limit) = match operand {
            Operand::Vector { first, words } => ('v', usize::from(first) + usize::from(words), self.vectors),
            Operand::Accumulator { first, words } => {
                let have = self.count.saturating_sub(self.accumulators);
                ('a', usize::from(first) + usize::from(words), have)
            }
            _ => return Ok(()),
        };
        if end > limit {
            let what = format!("there is no register {name}{}: the kernel has {limit}", end - 1);
            return Err(FaultKind::BadRegister(what));
        }
        Ok(())
    }

    /// Whether those are there that an instruction names.
    ///
    /// # Errors
    /// One is not.
    pub fn are_there(&self, instruction: &Instruction) -> Result<(), FaultKind> {
        let all = |operands: &mut dyn Iterator<Item = Operand>| {
            let mut operands = operands;
            Iterator::try_for_each(&mut operands, |operand| self.check(operand))
        };
        match &instruction.form {
            Form::Vector(vector) => all(&mut vector.to.iter().chain(vector.from.iter()).copied()),
            Form::Local(local) => all(&mut local.to.iter().chain(local.from.iter()).copied()),
            Form::Flat(flat) => all(&mut flat.to.iter().copied().chain(flat.address).chain(flat.data)),
            Form::Buffer(buffer) => all(&mut buffer.address.into_iter().chain(buffer.data)),
            Form::Scalar(_) | Form::ScalarMemory(_) => Ok(()),
        }
    }

    /// What an index that is too large leads to.
    #[must_use]
    pub fn beyond(&self) -> FaultKind {
        FaultKind::BadRegister(format!("an index leads beyond the {} registers of the kernel", self.vectors))
    }
}

fn counts(gpu: Gpu, descriptor: &Descriptor, granules: usize) -> (usize, usize, usize) {
    match gpu {
        Gpu::Gfx90a | Gpu::Gfx942 => {
            // One file; accumulation registers begin in it where the descriptor says.
            let count = granules * 8;
            let first = (descriptor.rsrc3.accum_offset() as usize + 1) * 4;
            (count, first.min(count), first.min(count))
        }
        Gpu::Gfx908 => (granules * 4 * 2, granules * 4, granules * 4),
        Gpu::Gfx900 | Gpu::Gfx906 => (granules * 4, granules * 4, granules * 4),
    }
}
