//! Kernels of a code object that have their functions in common, as all of GCC's have its libgomp: they are compiled
//! together, once for all launches. The engine makes code of a function when a kernel calls it for the first time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use gangway_gcn_interpreter::Memory;
use gangway_gcn_lifter::{Apart, Shape, are_alike};

use super::compiled::{BUG, Outcome, Why};
use super::kernel;
use super::wanted::Wanted;

impl<M: Memory> Wanted<M> {
    /// What has come out of compiling it with the others, if that is known.
    pub fn known_together(&self) -> Option<Outcome> {
        self.kernel.compiled.together.get().cloned()
    }

    /// The same, which is made now if it is not there; `note` hears the first time why there is none.
    pub fn together(&self, note: impl FnOnce(&str)) -> Outcome {
        let compiled = &self.kernel.compiled;
        if let Some(outcome) = compiled.together.get() {
            return outcome.clone();
        }
        let _turn = self.kernel.code.together.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have made it meanwhile.
        let outcome = compiled.together.get_or_init(|| {
            let made = catch_unwind(AssertUnwindSafe(|| make(self))).unwrap_or_else(|_| Err(Why::of(BUG)));
            made.inspect_err(|why| note(&why.what))
        });
        outcome.clone()
    }
}

/// Compiles the wanted kernel and those that are like it; the others are left what has come out.
fn make<M: Memory>(wanted: &Wanted<M>) -> Outcome {
    let gpu = wanted.agent.config().processor;
    let mut all = vec![wanted.described(wanted.object, wanted.kernel.clone())?];
    let first = all[0].descriptor;
    let alone = wanted.kernel.compiled.is_left_out.load(Ordering::Relaxed);
    let others = if alone { Vec::new() } else { kernel::all_of(&wanted.kernel.code) };
    for (object, kernel) in others {
        // One that cannot be read fails when it is launched.
        if object != wanted.object
            && kernel.compiled.together.get().is_none()
            && let Ok(other) = wanted.described(object, kernel)
            && are_alike(gpu, &first, &other.descriptor)
        {
            all.push(other);
        }
    }
    // Whatever comes out, the code object is lifted as a whole once: what is left over is lifted alone.
    for other in &all[1..] {
        other.kernel.compiled.is_left_out.store(true, Ordering::Relaxed);
    }
    let lifted = wanted.lift(&all, Shape::any(), Apart::Gccs)?;
    let program = wanted.load(&lifted.text)?;
    for (number, other) in all.iter().enumerate().skip(1) {
        match other.code(number, &lifted, &program) {
            // Alone it may be less.
            Err(why) if why.is_of_calls => {}
            outcome => drop(other.kernel.compiled.together.set(outcome.map(Arc::new))),
        }
    }
    let code = all[0].code(0, &lifted, &program)?;
    code.make_ready(wanted.agent, wanted.shape);
    Ok(Arc::new(code))
}
