//! The compiled functions of a program, each made when it is first called.
//!
//! Compiled code calls through the entries and asks for those that are null. Two workers may ask
//! for the same one at once: the second waits for the first. Code stays at least until the program
//! is dropped. [`object`] is code that can run, and [`cache`] keeps it.

mod cache;
mod later;
mod object;
mod perf_map;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use gangway_interpreter::{FaultKind, signature};
use gangway_ptx::{Function, Module};

pub use self::cache::CodeCache;
use self::cache::Key;
pub use self::later::lower_priority;
use self::object::CodeObject;
use crate::abi::{Flavour, entry_of_regions};
use crate::analysis::block::BlockShape;
use crate::analysis::unit::Request;
use crate::generator::Tier;
use crate::llvm;

/// Shapes of blocks that code differs by: rows of 32 lanes, in whole warps or not, of 16, 8, 4 and 1.
const SHAPES: usize = 6;
/// Functions with the same remainder are not compiled at once.
const LOCKS: usize = 16;

/// The code of a function that is only declared and that the engine has; `None` of all others.
pub(crate) type Provided = fn(&Function, Flavour) -> Option<*const c_void>;

/// What code is made of, and what it depends on.
pub(crate) struct Source {
    pub module: Arc<Module>,
    /// What [`crate::abi::Warp::symbols`] points to: the variables of the module, then those of
    /// each function.
    pub symbols: Vec<u64>,
    /// Where the variables of each function begin in `symbols`.
    pub bodies: Vec<u32>,
    /// Whether the warps of a block are kept abreast, by time that compiled code counts.
    pub abreast: bool,
    /// In which functions lanes may wait for others of their warp.
    pub waits: Vec<bool>,
    /// Check every access to the byte.
    pub check: bool,
    /// Tell of every access.
    pub watch: bool,
    pub provided: Provided,
    /// Which generators make code.
    pub tier: Tier,
}

/// The functions of a program.
pub(crate) struct Functions {
    /// Itself, for who makes code of it later.
    own: Weak<Functions>,
    source: Source,
    /// What each function takes and returns, as [`signature`] says; none of kernels.
    signatures: Vec<Option<u64>>,
    /// What each function runs: itself, or what it is an alias of.
    targets: Vec<u32>,
    /// Where the code is kept for others who load the same module.
    cache: Option<Arc<CodeCache>>,
    digest: OnceLock<Key>,
    table: Table,
}

/// What there is of code.
#[derive(Debug, Default)]
struct Table {
    entries: [OnceLock<Box<[AtomicPtr<c_void>]>>; SHAPES],
    compiling: [Mutex<()>; LOCKS],
    /// The same of regions, which are asked for while the function is compiled.
    compiling_regions: [Mutex<()>; LOCKS],
    /// What the compiler has refused, by shape and entry: it would refuse it at each launch.
    refused: Mutex<BTreeMap<(usize, usize), FaultKind>>,
    objects: RwLock<Vec<Arc<CodeObject>>>,
}

/// A function's code, and whether it calls code of regions.
#[derive(Clone, Copy)]
struct Made {
    code: *const c_void,
    regions: bool,
}

fn number(shape: BlockShape) -> usize {
    match shape {
        BlockShape { row: 32, whole: true } => 0,
        BlockShape { row: 32, whole: false } => 1,
        BlockShape { row: 16, .. } => 2,
        BlockShape { row: 8, .. } => 3,
        BlockShape { row: 4, .. } => 4,
        _ => 5,
    }
}

/// Where in the program a piece of compiled code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub function: u32,
    /// None where the function is entered: its frame is made there.
    pub instruction: Option<u32>,
}

impl Functions {
    #[must_use]
    pub fn new(source: Source, cache: Option<Arc<CodeCache>>) -> Arc<Self> {
        let module = &source.module;
        let mut targets: Vec<u32> = (0..module.functions.len() as u32).collect();
        for alias in &module.aliases {
            targets[alias.alias.index()] = alias.target.0;
        }
        let passed = |function: &Function| signature(&function.parameters, &function.returns);
        let signatures = module.functions.iter();
        let signatures = signatures.map(|function| (!function.entry).then(|| passed(function))).collect();
        Arc::new_cyclic(|own| Functions {
            own: own.clone(),
            source,
            signatures,
            targets,
            cache,
            digest: OnceLock::new(),
            table: Table::default(),
        })
    }

    /// The addresses of variables, for compiled code.
    #[must_use]
    pub fn symbols(&self) -> &[u64] {
        &self.source.symbols
    }

    /// Whether the warps of a block are kept abreast, by time that compiled code counts.
    #[must_use]
    pub fn keep_abreast(&self) -> bool {
        self.source.abreast
    }

    /// Whether lanes may wait for others of their warp in a function.
    #[must_use]
    pub fn waits(&self, function: u32) -> bool {
        self.source.waits[function as usize]
    }

    /// What a function takes and returns, as a number. None where there is no function that can be
    /// called.
    #[must_use]
    pub fn signature(&self, function: usize) -> Option<u64> {
        self.signatures.get(function).copied().flatten()
    }

    /// Where in the table the code of a function is.
    fn index(&self, function: u32, flavour: Flavour) -> usize {
        match flavour {
            Flavour::Converged => 2 * function as usize,
            Flavour::Masked => 2 * function as usize + 1,
            Flavour::Lanewise => entry_of_regions(self.source.module.functions.len(), function),
        }
    }

    /// What `Warp::functions` points to in launches with blocks of this shape.
    #[must_use]
    pub fn entries(&self, shape: BlockShape) -> &[AtomicPtr<c_void>] {
        self.table.entries[number(shape)].get_or_init(|| {
            let count = 3 * self.source.module.functions.len();
            (0..count).map(|_| AtomicPtr::new(ptr::null_mut())).collect()
        })
    }

    /// The code of a function, which is compiled now when it is not yet.
    pub fn resolve(
        &self,
        shape: BlockShape,
        function: u32,
        flavour: Flavour,
    ) -> Result<*const c_void, FaultKind> {
        let index = self.index(function, flavour);
        let entry = &self.entries(shape)[index];
        let known = entry.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let target = self.targets[function as usize];
        if target != function {
            // An alias: the code is the target's.
            let code = self.resolve(shape, target, flavour)?;
            entry.store(code.cast_mut(), Ordering::Release);
            return Ok(code);
        }
        let locks = match flavour {
            Flavour::Lanewise => &self.table.compiling_regions,
            Flavour::Converged | Flavour::Masked => &self.table.compiling,
        };
        let _alone = locks[index % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        let known = entry.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let refused = || self.table.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(refusal) = refused().get(&(number(shape), index)) {
            return Err(refusal.clone());
        }
        // A panic of the compiler's must not pass through compiled code that called for it.
        let made = catch_unwind(AssertUnwindSafe(|| self.make(shape, function, flavour)));
        let made = made.unwrap_or_else(|_| {
            let name = &self.source.module.functions[function as usize].name;
            Err(FaultKind::Unsupported(format!("'{name}', on which the compiler failed,")))
        });
        match &made {
            Ok(made) => {
                match self.source.tier {
                    Tier::Auto if made.regions => self.make_lanewise_later(shape, function),
                    Tier::Llvm if made.regions => {
                        // What LLVM refuses runs in the code that has been made now.
                        let _ = self.resolve(shape, function, Flavour::Lanewise);
                    }
                    _ => {}
                }
                entry.store(made.code.cast_mut(), Ordering::Release);
            }
            Err(refusal @ FaultKind::Unsupported(_)) => {
                refused().insert((number(shape), index), refusal.clone());
            }
            // Other causes, such as a lack of memory, may be gone at the next launch.
            Err(_) => {}
        }
        made.map(|made| made.code)
    }

    /// Has code made of a function's regions while others run. Converged code enters it when it comes to one then.
    fn make_lanewise_later(&self, shape: BlockShape, function: u32) {
        let own = self.own.clone();
        later::ask(move || {
            // The program may have gone.
            let Some(functions) = own.upgrade() else { return };
            if let Err(why) = llvm::llvm_version() {
                let name = &functions.source.module.functions[function as usize].name;
                return llvm::note(name, Err(why));
            }
            let _ = functions.resolve(shape, function, Flavour::Lanewise);
        });
    }

    /// The cache, and the hash of the module that files are named by.
    fn cached(&self) -> Option<(&CodeCache, &Key)> {
        let cache = self.cache.as_deref()?;
        Some((cache, self.digest.get_or_init(|| cache::digest(&self.source.module))))
    }

    /// Compiles a function, or takes its code from the cache.
    fn make(&self, shape: BlockShape, function: u32, flavour: Flavour) -> Result<Made, FaultKind> {
        let Source { module, symbols: _, bodies, abreast, waits, check, watch, provided, tier } =
            &self.source;
        let declared = &module.functions[function as usize];
        if declared.body.is_none() {
            let code = provided(declared, flavour);
            let made = code.map(|code| Made { code, regions: false });
            return made.ok_or_else(|| FaultKind::Undefined(declared.name.to_string()));
        }
        let request = Request {
            module,
            function,
            symbols: bodies[function as usize],
            flavour,
            shape,
            check: *check,
            watch: *watch,
            abreast: *abreast,
            waits,
            lanewise: *tier != Tier::Cranelift,
        };
        let object = cache::compile(self.cached(), &request)?;
        let made = Made { code: object.entry().cast(), regions: object.regions };
        self.table.objects.write().unwrap_or_else(PoisonError::into_inner).push(object);
        Ok(made)
    }

    /// Makes a function of the test's own the code of one of the program's.
    #[cfg(test)]
    pub fn set(&self, shape: BlockShape, function: u32, flavour: Flavour, code: *const c_void) {
        self.entries(shape)[self.index(function, flavour)].store(code.cast_mut(), Ordering::Release);
    }

    /// What the code at an address is of; `None` if the program has no code there.
    #[must_use]
    pub fn find(&self, pc: usize) -> Option<Position> {
        let objects = self.table.objects.read().unwrap_or_else(PoisonError::into_inner);
        let object = objects.iter().find(|object| object.contains(pc))?;
        Some(Position { function: object.function, instruction: object.instruction(pc) })
    }
}
