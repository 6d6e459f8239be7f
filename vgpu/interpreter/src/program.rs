//! A module made ready to run: addresses of its variables, layouts of its functions.

use std::sync::Arc;

use gangway_device_memory::{FUNCTION_STEP, FUNCTIONS, function_address};
use gangway_ptx::{
    Body, Function, FunctionId, Linkage, Module, StateSpace, Symbol, Variable, VariableId, WORD,
};

use crate::fault::FaultKind;
use crate::memory::Memory;

/// A loaded module.
#[derive(Debug)]
pub struct Program {
    pub(crate) module: Arc<Module>,
    /// Addresses of the module's variables, in their own spaces.
    variables: Vec<u64>,
    pub(crate) layouts: Vec<Layout>,
    /// Bytes of shared memory that variables take; dynamic memory follows.
    pub(crate) shared: u64,
}

/// Where the variables of a module are, as the loader has placed them.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// The address of each variable of the module, in its own space.
    pub variables: Vec<u64>,
    /// The same for the variables of each function; what is said of local and parameter space is
    /// not looked at.
    pub bodies: Vec<Vec<u64>>,
    /// Bytes of shared memory that variables take.
    pub shared: u64,
}

/// Where a function's variables are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Offsets in the frame.
    pub parameters: Vec<u64>,
    /// Where the parameters end.
    pub parameter_size: u64,
    pub returns: Vec<u64>,
    /// Offsets in the frame for local and parameter variables, addresses for others.
    pub variables: Vec<u64>,
    pub size: u64,
}

fn reserve(size: &mut u64, variable: &Variable) -> u64 {
    let offset = size.next_multiple_of(u64::from(variable.align.max(1)));
    *size = offset + variable.size().unwrap_or(0);
    offset
}

impl Layout {
    /// Parameters and results, which come first.
    fn signature(function: &Function) -> Self {
        let mut layout = Layout::default();
        for parameter in &function.parameters {
            layout.parameters.push(reserve(&mut layout.size, parameter));
        }
        layout.parameter_size = layout.size;
        for parameter in &function.returns {
            layout.returns.push(reserve(&mut layout.size, parameter));
        }
        layout
    }
}

impl Program {
    /// Places variables and writes their initial values.
    pub fn load(module: Module, memory: &mut dyn Memory) -> Result<Self, FaultKind> {
        gangway_ptx::check_sizes(&module).map_err(FaultKind::Launch)?;
        let module = Arc::new(module);
        let mut program = Program { module, variables: Vec::new(), layouts: Vec::new(), shared: 0 };
        let mut dynamic = Vec::new();
        for index in 0..program.module.variables.len() {
            let variable = program.module.variables[index].clone();
            let address = program.place(&variable, memory)?;
            if variable.space.plain() == StateSpace::Shared && variable.size().is_none() {
                dynamic.push(index);
            }
            program.variables.push(address);
        }
        for index in 0..program.module.functions.len() {
            let layout = program.layout(index, memory)?;
            program.layouts.push(layout);
        }
        program.shared = program.shared.next_multiple_of(16);
        for index in dynamic {
            program.variables[index] = program.shared;
        }
        program.initialize(memory)?;
        Ok(program)
    }

    /// A module whose variables somebody else has placed and given their initial values.
    #[must_use]
    pub fn placed(module: Arc<Module>, placement: &Placement) -> Self {
        let layouts = module.functions.iter().zip(&placement.bodies).map(|(function, places)| {
            let mut layout = Layout::signature(function);
            let variables = function.body.iter().flat_map(|body| &body.variables);
            for (variable, &place) in variables.zip(places) {
                let offset = match variable.space.plain() {
                    StateSpace::Local | StateSpace::Param => reserve(&mut layout.size, variable),
                    _ => place,
                };
                layout.variables.push(offset);
            }
            layout.size = layout.size.next_multiple_of(16);
            layout
        });
        Program {
            layouts: layouts.collect(),
            module: module.clone(),
            variables: placement.variables.clone(),
            shared: placement.shared,
        }
    }

    fn place(&mut self, variable: &Variable, memory: &mut dyn Memory) -> Result<u64, FaultKind> {
        match variable.space.plain() {
            StateSpace::Shared => Ok(reserve(&mut self.shared, variable)),
            _ if variable.linkage == Linkage::Extern => Err(FaultKind::Undefined(variable.name.to_string())),
            _ => memory.allocate(variable.size().unwrap_or(0).next_multiple_of(WORD), variable.align.into()),
        }
    }

    fn layout(&mut self, index: usize, memory: &mut dyn Memory) -> Result<Layout, FaultKind> {
        let function = &self.module.functions[index];
        let mut layout = Layout::signature(function);
        let variables = function.body.as_ref().map_or(Vec::new(), |body| body.variables.clone());
        for variable in &variables {
            let offset = match variable.space.plain() {
                StateSpace::Local | StateSpace::Param => reserve(&mut layout.size, variable),
                _ => self.place(variable, memory)?,
            };
            layout.variables.push(offset);
        }
        layout.size = layout.size.next_multiple_of(16);
        Ok(layout)
    }

    /// All variables with their places, and the layout of the function that they are in.
    fn places(&self) -> impl Iterator<Item = (Option<&Layout>, &Variable, u64)> {
        let own = self.module.variables.iter().zip(&self.variables);
        let own = own.map(|(variable, &address)| (None, variable, address));
        let functions = self.module.functions.iter().zip(&self.layouts);
        let inner = functions.flat_map(|(function, layout)| {
            let variables = function.body.iter().flat_map(|body| &body.variables);
            variables.zip(&layout.variables).map(move |(variable, &place)| (Some(layout), variable, place))
        });
        own.chain(inner)
    }

    /// Whether an address is in a constant variable.
    pub(crate) fn is_constant(&self, address: u64) -> bool {
        self.places().any(|(_, variable, place)| {
            variable.space.plain() == StateSpace::Const
                && address.wrapping_sub(place) < variable.size().unwrap_or(0)
        })
    }

    fn initialize(&self, memory: &mut dyn Memory) -> Result<(), FaultKind> {
        for (layout, variable, address) in self.places() {
            let Some(initializer) = &variable.initializer else { continue };
            let mut bytes = initializer.bytes.to_vec();
            for relocation in &initializer.relocations {
                let target = match (relocation.symbol, layout) {
                    (Symbol::Local(index), Some(layout)) => layout.variables[index as usize],
                    (symbol, _) => self.address(symbol).ok_or_else(|| {
                        FaultKind::Launch(format!("the initial value of '{}' has no address", variable.name))
                    })?,
                };
                let value = target.wrapping_add_signed(relocation.addend);
                let shift = relocation.mask.trailing_zeros() % 64;
                let value = (value & relocation.mask) >> shift;
                let (offset, size) = (relocation.offset as usize, usize::from(relocation.size));
                bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            memory.write(address, &bytes)?;
        }
        Ok(())
    }

    /// The address of a symbol of the module, in its own space.
    pub(crate) fn address(&self, symbol: Symbol) -> Option<u64> {
        match symbol {
            Symbol::Variable(VariableId(id)) => self.variables.get(id as usize).copied(),
            Symbol::Function(FunctionId(id)) => Some(function_address(id)),
            _ => None,
        }
    }

    /// The address of a variable, for the host.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<u64> {
        let index = self.module.variables.iter().position(|variable| &*variable.name == name)?;
        Some(self.variables[index])
    }

    #[must_use]
    pub fn module(&self) -> &Module {
        &self.module
    }

    pub(crate) fn function_at(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(FUNCTIONS)?;
        let index = (offset / FUNCTION_STEP) as usize;
        (offset % FUNCTION_STEP == 0 && index < self.module.functions.len()).then_some(index)
    }

    /// The function behind an alias, or the function itself.
    pub(crate) fn resolve(&self, function: usize) -> usize {
        let alias = self.module.aliases.iter().find(|alias| alias.alias.index() == function);
        alias.map_or(function, |alias| alias.target.index())
    }

    pub(crate) fn body(&self, function: usize) -> Option<(&Function, &Body)> {
        let function = self.module.functions.get(function)?;
        Some((function, function.body.as_ref()?))
    }
}
