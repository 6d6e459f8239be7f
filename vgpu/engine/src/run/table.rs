//! The compiled functions of a program, each made when it is first called.
//!
//! Compiled code calls through the entries and asks for those that are null. Two workers may ask
//! for the same one at once: the second waits for the first. Code stays at least until the program
//! is dropped.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use gangway_interpreter::FaultKind;

use super::builtin;
use super::cache::{self, CodeCache, Key};
use super::code::CodeObject;
use crate::abi::Flavour;
use crate::compile::{self, BlockShape};
use crate::program::Program;

/// Shapes of blocks that code differs by: rows of 32, 16, 8, 4 and 1 lanes.
const SHAPES: usize = 5;
/// Functions with the same remainder are not compiled at once.
const LOCKS: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: [OnceLock<Box<[AtomicPtr<c_void>]>>; SHAPES],
    compiling: [Mutex<()>; LOCKS],
    /// What the compiler has refused, by shape and entry: it would refuse it at each launch.
    refused: Mutex<BTreeMap<(usize, usize), FaultKind>>,
    objects: RwLock<Vec<Arc<CodeObject>>>,
    digest: OnceLock<Key>,
}

fn number(shape: BlockShape) -> usize {
    match shape.row {
        32 => 0,
        16 => 1,
        8 => 2,
        4 => 3,
        _ => 4,
    }
}

fn index(function: u32, flavour: Flavour) -> usize {
    2 * function as usize + usize::from(flavour == Flavour::Masked)
}

/// Where in the program a piece of compiled code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub function: u32,
    /// None where the function is entered: its frame is made there.
    pub instruction: Option<u32>,
}

impl Table {
    /// What `Warp::functions` points to in launches with blocks of this shape.
    #[must_use]
    pub fn entries(&self, program: &Program, shape: BlockShape) -> &[AtomicPtr<c_void>] {
        self.entries[number(shape)].get_or_init(|| {
            let count = 2 * program.module().functions.len();
            (0..count).map(|_| AtomicPtr::new(ptr::null_mut())).collect()
        })
    }

    /// The code of a function.
    pub fn resolve(
        &self,
        program: &Program,
        shape: BlockShape,
        function: u32,
        flavour: Flavour,
    ) -> Result<*const c_void, FaultKind> {
        let index = index(function, flavour);
        let entry = &self.entries(program, shape)[index];
        let known = entry.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let target = program.target(function);
        if target != function {
            // An alias: the code is the target's.
            let code = self.resolve(program, shape, target, flavour)?;
            entry.store(code.cast_mut(), Ordering::Release);
            return Ok(code);
        }
        let _alone = self.compiling[index % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        let known = entry.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let refused = || self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(refusal) = refused().get(&(number(shape), index)) {
            return Err(refusal.clone());
        }
        // A panic of the compiler's must not pass through compiled code that called for it.
        let made = catch_unwind(AssertUnwindSafe(|| self.make(program, shape, function, flavour)));
        let made = made.unwrap_or_else(|_| {
            let name = &program.module().functions[function as usize].name;
            Err(FaultKind::Unsupported(format!("'{name}', on which the compiler failed,")))
        });
        match &made {
            Ok(code) => entry.store(code.cast_mut(), Ordering::Release),
            Err(refusal @ FaultKind::Unsupported(_)) => {
                refused().insert((number(shape), index), refusal.clone());
            }
            // Other causes, such as a lack of memory, may be gone at the next launch.
            Err(_) => {}
        }
        made
    }

    /// The cache, and the hash of the module that files are named by.
    fn cached<'a>(&'a self, program: &'a Program) -> Option<(&'a CodeCache, &'a Key)> {
        let cache = program.cache()?;
        Some((cache, self.digest.get_or_init(|| cache::digest(program.module()))))
    }

    /// Compiles a function, or takes its code from the cache.
    fn make(
        &self,
        program: &Program,
        shape: BlockShape,
        function: u32,
        flavour: Flavour,
    ) -> Result<*const c_void, FaultKind> {
        let declared = &program.module().functions[function as usize];
        if declared.body.is_none() {
            let code = builtin::code(declared, flavour);
            return code.ok_or_else(|| FaultKind::Undefined(declared.name.to_string()));
        }
        let request = compile::Request {
            module: program.module(),
            function,
            symbols: program.first_symbol(function),
            flavour,
            shape,
            check: program.device().check,
            abreast: program.keeps_abreast(),
            waits: program.waits(),
        };
        let object = cache::compile(self.cached(program), &request)?;
        let entry = object.entry();
        self.objects.write().unwrap_or_else(PoisonError::into_inner).push(object);
        Ok(entry.cast())
    }

    /// Makes a function of the test's own the code of one of the program's.
    #[cfg(test)]
    pub fn set(
        &self,
        program: &Program,
        shape: BlockShape,
        function: u32,
        flavour: Flavour,
        code: *const c_void,
    ) {
        self.entries(program, shape)[index(function, flavour)].store(code.cast_mut(), Ordering::Release);
    }

    /// What the code at an address is of; `None` if the program has no code there.
    #[must_use]
    pub fn find(&self, pc: usize) -> Option<Position> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let object = objects.iter().find(|object| object.contains(pc))?;
        Some(Position { function: object.function, instruction: object.instruction(pc) })
    }
}
