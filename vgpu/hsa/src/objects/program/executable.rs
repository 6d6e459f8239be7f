//! Executables: code objects that are loaded, frozen and ended together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::kernel::{self, Kernel};
use super::loaded::Loaded;
use super::reader::Reader;
use super::symbol::{Meaning, SYMBOLS, Symbol};
use crate::abi::handle::Kind;
use crate::abi::{Handle, Result, Status};
use crate::objects::agent::{self, Agent};
use crate::objects::process::report::report;
use crate::objects::table::Table;

#[derive(Debug)]
pub struct Executable {
    pub profile: u32,
    pub rounding: u32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    frozen: bool,
    code: Vec<Arc<Loaded>>,
    symbols: Vec<(Handle, Arc<Symbol>)>,
    /// Variables that the program has defined, for one agent or for all.
    defined: HashMap<(Option<u32>, String), u64>,
}

pub static EXECUTABLES: Table<Executable> = Table::new(Kind::Executable);

/// All executables that there are, to end them.
static ALL: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

/// Makes an executable without code.
pub fn create(profile: u32, rounding: u32, frozen: bool) -> Handle {
    let state = Mutex::new(State { frozen, ..State::default() });
    let handle = EXECUTABLES.insert(Executable { profile, rounding, state });
    ALL.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    handle
}

/// Ends an executable. Kernels that run keep their code until they are done.
pub fn destroy(handle: Handle) -> Result {
    let executable = EXECUTABLES.remove(handle)?;
    ALL.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| *known != handle);
    let State { code, symbols, .. } = std::mem::take(&mut *executable.state());
    for (symbol, _) in symbols {
        let _ = SYMBOLS.remove(symbol);
    }
    code.iter().for_each(kernel::remove);
    Ok(())
}

/// Ends all executables.
pub fn end_all() {
    let all = std::mem::take(&mut *ALL.lock().unwrap_or_else(PoisonError::into_inner));
    for handle in all {
        let _ = destroy(handle);
    }
}

impl Executable {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.state().frozen
    }

    /// Nothing can be loaded or defined any more.
    pub fn freeze(&self) -> Result {
        let mut state = self.state();
        if std::mem::replace(&mut state.frozen, true) { Err(Status::ERROR_FROZEN_EXECUTABLE) } else { Ok(()) }
    }

    /// Loads a code object onto an agent; its place in the list of what is loaded.
    pub fn load(&self, agent: &'static Agent, reader: &Reader) -> Result<usize> {
        let mut state = self.state();
        if state.frozen {
            return Err(Status::ERROR_FROZEN_EXECUTABLE);
        }
        if !agent.is_gpu() {
            return Err(Status::ERROR_INVALID_AGENT);
        }
        let object = reader.parse()?;
        if !agent::isa::accepts(agent, &object.target) {
            let isa = agent::isa::Isa::of(agent.config());
            report!("a code object for {} does not run on {}", object.target, isa.name());
            return Err(Status::ERROR_INCOMPATIBLE_ARGUMENTS);
        }
        let number = agent.number();
        let loaded =
            Loaded::new(agent, &object, reader.bytes(), |named| state.address_of(number, named.name))?;
        let symbols = loaded.symbols(&object);
        if let Some(twice) = symbols.iter().find(|symbol| symbol.is_global && state.has(number, &symbol.name))
        {
            report!("a code object cannot be loaded: {} is defined already", twice.name);
            return Err(Status::ERROR_VARIABLE_ALREADY_DEFINED);
        }
        let loaded = Arc::new(loaded);
        for kernel in &object.kernels {
            let entry = Kernel {
                name: kernel.name.as_str().into(),
                code: Arc::clone(&loaded),
                compiled: Arc::default(),
                sizes: kernel::sizes(&object.said(kernel).arguments),
            };
            kernel::add(loaded.base + kernel.descriptor_address, entry);
        }
        state.symbols.extend(symbols.into_iter().map(|symbol| SYMBOLS.insert_with(|_| symbol)));
        state.code.push(loaded);
        Ok(state.code.len() - 1)
    }

    /// Defines a variable that code objects use, for one agent or for all.
    pub fn define(&self, agent: Option<&'static Agent>, name: &str, address: u64) -> Result {
        let mut state = self.state();
        if state.frozen {
            return Err(Status::ERROR_FROZEN_EXECUTABLE);
        }
        let number = agent.map(Agent::number);
        let taken = match number {
            Some(number) => state.has(number, name),
            None => state.symbols.iter().any(|(_, symbol)| symbol.name == name),
        };
        let key = (number, name.to_owned());
        if taken || state.defined.contains_key(&key) {
            return Err(Status::ERROR_VARIABLE_ALREADY_DEFINED);
        }
        state.defined.insert(key, address);
        Ok(())
    }

    /// The symbol of a name, on an agent or on whichever has it.
    pub fn symbol(&self, name: &str, agent: Option<&'static Agent>) -> Result<Handle> {
        let state = self.state();
        let agent = agent.map(Agent::handle);
        let fits = |symbol: &Symbol| symbol.name == name && agent.is_none_or(|agent| symbol.agent == agent);
        let found = state.symbols.iter().find(|(_, symbol)| fits(symbol));
        found.map(|(handle, _)| *handle).ok_or(Status::ERROR_INVALID_SYMBOL_NAME)
    }

    /// All symbols, or those of an agent.
    #[must_use]
    pub fn symbols(&self, agent: Option<&'static Agent>) -> Vec<Handle> {
        let agent = agent.map(Agent::handle);
        let state = self.state();
        let of = state.symbols.iter().filter(|(_, symbol)| agent.is_none_or(|agent| symbol.agent == agent));
        of.map(|(handle, _)| *handle).collect()
    }
}

impl State {
    fn on(&self, agent: u32) -> impl Iterator<Item = &Symbol> {
        let handle = Handle::new(Kind::Agent, u64::from(agent));
        self.symbols.iter().map(|(_, symbol)| &**symbol).filter(move |symbol| symbol.agent == handle)
    }

    fn has(&self, agent: u32, name: &str) -> bool {
        let defined = |agent| self.defined.contains_key(&(agent, name.to_owned()));
        self.on(agent).any(|symbol| symbol.name == name) || defined(Some(agent)) || defined(None)
    }

    /// Where code on an agent finds a variable that its image does not have.
    fn address_of(&self, agent: u32, name: &str) -> Option<u64> {
        let defined = |agent| self.defined.get(&(agent, name.to_owned())).copied();
        let loaded = || {
            let found = self.on(agent).find(|symbol| symbol.name == name)?;
            Some(match found.meaning {
                Meaning::Variable { address, .. } => address,
                Meaning::Kernel { object, .. } => object,
            })
        };
        defined(Some(agent)).or_else(|| defined(None)).or_else(loaded)
    }
}
