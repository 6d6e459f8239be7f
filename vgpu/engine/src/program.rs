//! A module in device memory, ready to be launched from.

use std::fmt;
use std::sync::Arc;

use gangway_interpreter::signature;
use gangway_ptx::{Function, Linkage, Module, StateSpace};
use rustc_hash::FxHashMap;

use crate::device::{Device, Held, function_address};
use crate::load::{self, Graph, Places};
use crate::run::{CodeCache, Table};

/// A loaded module. Dropping it frees its variables.
pub struct Program {
    module: Arc<Module>,
    kernels: Vec<Kernel>,
    names: FxHashMap<Box<str>, KernelId>,
    globals: FxHashMap<Box<str>, Global>,
    interpreted: gangway_interpreter::Program,
    /// The function of each kernel.
    functions: Vec<u32>,
    /// Whether each kernel is one that never gives way.
    straight: Vec<bool>,
    /// Whether the warps of a block are kept abreast.
    abreast: bool,
    /// In which functions lanes may wait for others of their warp.
    waits: Vec<bool>,
    /// What [`crate::abi::Warp::symbols`] points to: the variables of the module, then those of
    /// each function.
    symbols: Vec<u64>,
    /// Where the variables of each function begin in `symbols`.
    bodies: Vec<u32>,
    /// What each function takes and returns, as [`gangway_interpreter::signature`] says; none of
    /// kernels.
    signatures: Vec<Option<u64>>,
    /// What each function runs: itself, or what it is an alias of.
    targets: Vec<u32>,
    /// Where dynamic shared memory begins in a block's.
    shared: u64,
    device: Arc<Device>,
    cache: Option<Arc<CodeCache>>,
    table: Table,
    /// Holds the variables' memory.
    _memory: Vec<Held>,
}

/// An index into [`Program::kernels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelId(pub u32);

/// What the driver tells about a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: Box<str>,
    pub parameters: Vec<Parameter>,
    /// Length of the parameter buffer in bytes.
    pub parameter_size: u32,
    /// Bytes of shared memory that it and what it can call declare.
    pub static_shared: u32,
    /// Bytes of local memory per thread: an estimate where there is recursion.
    pub local: u32,
    /// From `.maxntid` and `.reqntid`, otherwise 1024.
    pub max_threads: u32,
    pub required_threads: Option<[u32; 3]>,
    /// What a real compiler might use: an estimate.
    pub registers: u32,
}

/// A kernel parameter's place in the parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub offset: u32,
    pub size: u32,
}

/// A variable in global or constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    pub address: u64,
    pub size: u64,
    pub constant: bool,
    pub managed: bool,
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Names that nothing defines: `CUDA_ERROR_INVALID_IMAGE` or what the linker says.
    Undefined(Vec<Box<str>>),
    OutOfMemory(String),
    /// More than a device has of something: `CUDA_ERROR_INVALID_PTX`, as the driver's assembler
    /// says.
    TooLarge(String),
}

impl Program {
    /// Places the variables of a module in `device`'s memory and writes their initial values.
    pub(crate) fn load(
        mut module: Module,
        device: &Arc<Device>,
        cache: Option<Arc<CodeCache>>,
    ) -> Result<Self, LoadError> {
        gangway_ptx::check_sizes(&module).map_err(LoadError::TooLarge)?;
        crate::compile::leave_short_ways(&mut module);
        let module = Arc::new(module);
        let graph = Graph::new(&module);
        let mut places = Places::empty(&module);
        let mut memory = Vec::new();
        for piece in load::pieces(&module, &graph, device.check)? {
            let held = device.allocate(&piece)?;
            places.settle(&piece, held.address);
            memory.push(held);
        }
        let numbered = module.functions.iter().zip(0..);
        let kernels = numbered.filter(|(function, _)| function.entry && function.body.is_some());
        let functions: Vec<u32> = kernels.map(|(_, index)| index).collect();
        let reaches: Vec<_> = functions.iter().map(|&index| (index, graph.reach(index))).collect();
        places.share(&module, &reaches);
        for (address, bytes) in places.initial(&module, function_address) {
            device.initialize(address, &bytes)?;
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
        let straight = functions.iter().map(is_straight).collect();
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
        let mut targets: Vec<u32> = (0..module.functions.len() as u32).collect();
        for alias in &module.aliases {
            targets[alias.alias.index()] = alias.target.0;
        }
        let abreast = load::keeps_abreast(&module);
        let waits = load::waits(&module);
        let passed = |function: &Function| signature(&function.parameters, &function.returns);
        let signatures = module.functions.iter();
        let signatures = signatures.map(|function| (!function.entry).then(|| passed(function))).collect();
        let interpreted = gangway_interpreter::Program::placed(module.clone(), &places.placement);
        Ok(Program {
            module,
            kernels,
            names,
            globals,
            interpreted,
            functions,
            straight,
            abreast,
            waits,
            symbols,
            bodies,
            signatures,
            targets,
            shared: places.placement.shared,
            device: device.clone(),
            cache,
            table: Table::default(),
            _memory: memory,
        })
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

    /// The function of a kernel.
    /// File and line of the first instruction of a kernel for which `.loc` tells them.
    #[must_use]
    pub fn source(&self, id: KernelId) -> Option<(&str, u32)> {
        let body = self.module.functions[self.function(id) as usize].body.as_ref()?;
        let location = body.instructions.iter().find_map(|instruction| instruction.location)?;
        let location = body.locations.get(location.index())?;
        let file = self.module.files.iter().find(|file| file.index == location.file)?;
        Some((&file.name, location.line))
    }

    pub(crate) fn function(&self, id: KernelId) -> u32 {
        self.functions[id.0 as usize]
    }

    /// Whether a kernel runs to its end without ever giving way.
    pub(crate) fn is_straight(&self, id: KernelId) -> bool {
        self.straight[id.0 as usize]
    }

    /// Whether the warps of a block are kept abreast, by time that compiled code counts.
    pub(crate) fn keeps_abreast(&self) -> bool {
        self.abreast
    }

    /// In which functions lanes may wait for others of their warp.
    pub(crate) fn waits(&self) -> &[bool] {
        &self.waits
    }

    /// The addresses of variables, for compiled code.
    pub(crate) fn symbols(&self) -> &[u64] {
        &self.symbols
    }

    /// The place of a function's first variable among [`symbols`](Program::symbols).
    pub(crate) fn first_symbol(&self, function: u32) -> u32 {
        self.bodies[function as usize]
    }

    /// What a function takes and returns, as a number. None where there is no function that can be
    /// called.
    pub(crate) fn signature(&self, function: usize) -> Option<u64> {
        self.signatures.get(function).copied().flatten()
    }

    /// What a function runs: itself, or what it is an alias of.
    pub(crate) fn target(&self, function: u32) -> u32 {
        self.targets[function as usize]
    }

    /// Bytes of a block's shared memory before what a launch adds.
    pub(crate) fn shared(&self) -> u64 {
        self.shared
    }

    /// The device whose memory its variables are in.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Where its compiled code is kept.
    pub(crate) fn cache(&self) -> Option<&CodeCache> {
        self.cache.as_deref()
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn interpreted(&self) -> &gangway_interpreter::Program {
        &self.interpreted
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = self.kernels.iter().map(|kernel| &*kernel.name);
        f.debug_list().entries(kernels).finish()
    }
}
