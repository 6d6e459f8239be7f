//! A module in device memory, ready to be launched from.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gangway_device_memory::{AllocationKind, Error};
use gangway_ptx::{Function, Linkage, Module, StateSpace};
use rustc_hash::FxHashMap;

use crate::device::{Device, Held};
use crate::functions::{CodeCache, Functions, Provided, Source};
use crate::init::{self, Init};
use crate::load::{self, Graph, Kernel, LoadError, Piece, PieceClass, Places, Reach};

/// A loaded module. Dropping it frees its variables.
pub struct Program {
    id: u64,
    module: Arc<Module>,
    kernels: Vec<Kernel>,
    names: FxHashMap<Box<str>, KernelId>,
    globals: FxHashMap<Box<str>, Global>,
    interpreted: gangway_interpreter::Program,
    /// What runs each kernel.
    entries: Vec<Entry>,
    functions: Arc<Functions>,
    /// Where dynamic shared memory begins in a block's.
    shared: u64,
    device: Arc<Device>,
    /// Where variables of the device runtime are in device memory: what is between its functions is not the program's.
    runtimes: Vec<Range<u64>>,
    /// Where it is checked for uses of what nothing has written.
    init: Option<Init>,
    /// Holds the variables' memory.
    _memory: Vec<Held>,
}

/// What names of the device runtime's variables have in them: its crate's name, mangled.
const RUNTIME: &str = "11gangway_gpu";

/// The variable in which it has those of the program that threads share: `share::STACK`.
const OF_PROGRAM: &str = "11gangway_gpu5share5STACK";

/// What runs a kernel.
struct Entry {
    function: u32,
    /// It runs to its end without ever giving way.
    straight: bool,
    /// Offsets of the device runtime's variables in its shared memory. Those of other kernels may have the same.
    runtimes: Vec<Range<u64>>,
}

/// Where the device runtime's variables among some of a module are, in their order.
fn runtimes_among(module: &Module, places: &Places, indices: impl Iterator<Item = usize>) -> Vec<Range<u64>> {
    let of_runtime = |name: &str| name.contains(RUNTIME) && !name.ends_with(OF_PROGRAM);
    let range = |index: usize| {
        let address = places.placement.variables[index];
        address..address + module.variables[index].size().unwrap_or(0)
    };
    let mut ranges: Vec<_> =
        indices.filter(|&index| of_runtime(&module.variables[index].name)).map(range).collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Addresses of variables, or offsets, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runtimes<'a>(&'a [Range<u64>]);

impl Runtimes<'_> {
    /// Whether an address is of one of them.
    #[must_use]
    pub fn has(self, address: u64) -> bool {
        let behind = self.0.partition_point(|range| range.start <= address);
        behind.checked_sub(1).is_some_and(|before| self.0[before].contains(&address))
    }

    /// Whether one of them is between two addresses.
    #[must_use]
    pub fn are_in(self, range: &Range<u64>) -> bool {
        let behind = self.0.partition_point(|other| other.start < range.end);
        behind.checked_sub(1).is_some_and(|before| self.0[before].end > range.start)
    }
}

/// An index into [`Program::kernels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelId(pub u32);

/// A variable in global or constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    pub address: u64,
    pub size: u64,
    pub constant: bool,
    pub managed: bool,
}

impl Program {
    /// Places the variables of a module in `device`'s memory and writes their initial values.
    /// `provided` has the functions that it may declare and not define.
    pub(crate) fn load(
        mut module: Module,
        device: &Arc<Device>,
        cache: Option<Arc<CodeCache>>,
        provided: Provided,
    ) -> Result<Self, LoadError> {
        gangway_ptx::check_sizes(&module).map_err(LoadError::TooLarge)?;
        let mut watched = None;
        let mut plain = None;
        if device.init
            && let Some((woven, uses)) = init::weave(&module)
        {
            plain = Some(Arc::new(std::mem::replace(&mut module, woven)));
            watched = Some(uses);
        }
        crate::analysis::leave_short_ways(&mut module);
        let module = Arc::new(module);
        let graph = Graph::new(&module);
        let mut places = Places::empty(&module);
        let mut memory = Vec::new();
        for piece in load::pieces(&module, &graph, device.check)? {
            let held = room(device, &piece)?;
            places.settle(&piece, held.address);
            memory.push(held);
        }
        let numbered = module.functions.iter().zip(0..);
        let kernels = numbered.filter(|(function, _)| function.entry && function.body.is_some());
        let functions: Vec<u32> = kernels.map(|(_, index)| index).collect();
        let reaches: Vec<_> = functions.iter().map(|&index| (index, graph.reach(index))).collect();
        places.share(&module, &reaches);
        for (address, bytes) in places.initial(&module, gangway_device_memory::function_address) {
            let refused = |error: Error| LoadError::OutOfMemory(error.to_string());
            device.initialize(address, &bytes).map_err(refused)?;
        }

        for &index in &functions {
            load::check_shared(&module.functions[index as usize], places.shared_end[index as usize])?;
        }
        let describe = |&index: &u32| {
            let end = places.shared_end[index as usize];
            load::describe(&graph, index, &module.functions[index as usize], end)
        };
        let kernels: Vec<Kernel> = functions.iter().map(describe).collect();
        let is_straight = |&index: &u32| {
            let body = module.functions[index as usize].body.as_ref();
            body.is_some_and(|body| load::is_straight(&module, body))
        };
        let entry = |(index, reach): &(u32, Reach)| Entry {
            function: *index,
            straight: is_straight(index),
            runtimes: runtimes_among(&module, &places, reach.shared.iter().map(|&index| index as usize)),
        };
        let entries = reaches.iter().map(entry).collect();
        let in_memory = |index: &usize| !load::is_shared(&module.variables[*index]);
        let runtimes = runtimes_among(&module, &places, (0..module.variables.len()).filter(in_memory));
        let names = kernels.iter().zip(0..).map(|(kernel, index)| (kernel.name.clone(), KernelId(index)));
        let names = names.collect();
        let mut globals = FxHashMap::default();
        for (variable, &address) in module.variables.iter().zip(&places.placement.variables) {
            if !load::is_global(variable.space) || variable.linkage == Linkage::Extern {
                continue;
            }
            let constant = variable.space.plain() == StateSpace::Const;
            let (size, managed) = (variable.size().unwrap_or(0), variable.managed);
            globals.insert(variable.name.clone(), Global { address, size, constant, managed });
        }
        let (symbols, bodies) = load::symbol_table(&module, &places);
        let source = Source {
            module: module.clone(),
            symbols,
            bodies,
            abreast: load::keeps_abreast(&module),
            waits: load::waits(&module),
            check: device.check,
            watch: device.watch,
            provided,
            tier: device.tier,
        };
        let init = watched.zip(globals.get(gangway_init::RECORDS));
        let init = init.map(|(uses, records)| Init::new(uses, records.address));
        let interpreted =
            gangway_interpreter::Program::placed(plain.unwrap_or_else(|| module.clone()), &places.placement);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Ok(Program {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            module,
            kernels,
            names,
            globals,
            interpreted,
            entries,
            functions: Functions::new(source, cache),
            shared: places.placement.shared,
            device: device.clone(),
            runtimes,
            init,
            _memory: memory,
        })
    }

    /// Different for each program of the process.
    #[must_use]
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Where variables of Gangway's device runtime are: in device memory, or where a kernel has them in its shared memory.
    #[must_use]
    pub(crate) fn runtimes(&self, shared_of: Option<KernelId>) -> Runtimes<'_> {
        Runtimes(shared_of.map_or(&self.runtimes, |kernel| &self.entries[kernel.0 as usize].runtimes))
    }

    /// Where it is checked for uses of what nothing has written.
    #[must_use]
    pub(crate) fn init(&self) -> Option<&Init> {
        self.init.as_ref()
    }

    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<KernelId> {
        self.names.get(name).copied()
    }

    /// What the driver tells of a function that is no kernel. Only a visible one has a name for it.
    #[must_use]
    pub fn device_function(&self, name: &str) -> Option<Kernel> {
        let mut functions = self.module.functions.iter().zip(0..);
        let named = |function: &Function| {
            let known = !function.entry && function.linkage == Linkage::Visible && function.body.is_some();
            known && *function.name == *name
        };
        let (function, index) = functions.find(|(function, _)| named(function))?;
        Some(load::describe(&Graph::new(&self.module), index, function, 0))
    }

    #[must_use]
    pub fn global(&self, name: &str) -> Option<Global> {
        self.globals.get(name).copied()
    }

    #[must_use]
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The kernel that an id stands for.
    pub(crate) fn describe(&self, id: KernelId) -> &Kernel {
        &self.kernels[id.0 as usize]
    }

    /// File and line of the first instruction of a kernel for which `.loc` tells them.
    #[must_use]
    pub fn source(&self, id: KernelId) -> Option<(&str, u32)> {
        let body = self.module.functions[self.function(id) as usize].body.as_ref()?;
        let location = body.instructions.iter().find_map(|instruction| instruction.location)?;
        let location = body.locations.get(location.index())?;
        let file = self.module.files.iter().find(|file| file.index == location.file)?;
        Some((&file.name, location.line))
    }

    /// The function of a kernel.
    pub(crate) fn function(&self, id: KernelId) -> u32 {
        self.entries[id.0 as usize].function
    }

    /// Whether a kernel runs to its end without ever giving way.
    pub(crate) fn is_straight(&self, id: KernelId) -> bool {
        self.entries[id.0 as usize].straight
    }

    /// All functions, kernels and others, as code.
    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Bytes of a block's shared memory before what a launch adds.
    pub(crate) fn shared(&self) -> u64 {
        self.shared
    }

    /// The device whose memory its variables are in.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub(crate) fn interpreted(&self) -> &gangway_interpreter::Program {
        &self.interpreted
    }
}

/// Memory for variables of a module.
fn room(device: &Device, piece: &Piece) -> Result<Held, LoadError> {
    let kind = match piece.class {
        PieceClass::Constant => AllocationKind::Constant,
        PieceClass::Managed => AllocationKind::Managed,
        PieceClass::Global => AllocationKind::Module,
    };
    let (size, name) = (piece.size, piece.name.as_deref());
    device.allocate(kind, size, piece.align, name).map_err(|error| {
        LoadError::OutOfMemory(match name {
            Some(name) => format!("variable '{name}' has {size} bytes: {error}"),
            None => format!("its smaller variables have {size} bytes: {error}"),
        })
    })
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = self.kernels.iter().map(|kernel| &*kernel.name);
        f.debug_list().entries(kernels).finish()
    }
}
