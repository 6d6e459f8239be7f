//! Executables (HSA runtime 1.2, 2.10).

use super::entry::{Call, entry};
use crate::abi::handle::{Handle, Kind};
use crate::abi::number::{executable as attribute_of, profile, rounding};
use crate::abi::pointer::{Opaque, Value};
use crate::abi::{In, Out, Result, Status, Text};
use crate::objects::agent::Agent;
use crate::objects::program::executable::{self, EXECUTABLES};
use crate::objects::program::reader::{CODE_OBJECTS, READERS};

/// Makes an executable without code.
#[entry]
fn hsa_executable_create_alt(
    _: &Call,
    wanted: u32,
    mode: u32,
    _options: Text,
    handle: Out<Handle>,
) -> Result {
    handle.check()?;
    if wanted > profile::FULL || mode > rounding::NEAR {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    handle.put(executable::create(wanted, mode, false))
}

/// The same, as older programs ask for it.
#[entry]
fn hsa_executable_create(_: &Call, wanted: u32, state: u32, _options: Text, handle: Out<Handle>) -> Result {
    handle.check()?;
    if wanted > profile::FULL || state > 1 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    handle.put(executable::create(wanted, rounding::NEAR, state == 1))
}

/// Ends an executable.
#[entry]
fn hsa_executable_destroy(_: &Call, handle: Handle) -> Result {
    executable::destroy(handle)
}

/// Loads a code object onto an agent.
#[entry]
fn hsa_executable_load_agent_code_object(
    _: &Call,
    handle: Handle,
    agent: Handle,
    reader: Handle,
    _options: Text,
    loaded: Out<Handle>,
) -> Result {
    let executable = EXECUTABLES.get(handle)?;
    let number = executable.load(Agent::get(agent)?, &*READERS.get(reader)?)?;
    if loaded.is_null() {
        return Ok(());
    }
    loaded.put(Handle::new(Kind::LoadedCodeObject, (handle.0 & 0xffff_ffff) << 16 | number as u64))
}

/// The same, as older programs ask for it.
#[entry]
fn hsa_executable_load_code_object(
    _: &Call,
    handle: Handle,
    agent: Handle,
    object: Handle,
    _options: Text,
) -> Result {
    let executable = EXECUTABLES.get(handle)?;
    executable.load(Agent::get(agent)?, &*CODE_OBJECTS.get(object)?).map(|_| ())
}

/// Nothing can be loaded or defined any more.
#[entry]
fn hsa_executable_freeze(_: &Call, handle: Handle, _options: Text) -> Result {
    EXECUTABLES.get(handle)?.freeze()
}

/// An attribute of an executable.
#[entry]
fn hsa_executable_get_info(_: &Call, handle: Handle, attribute: u32, value: Value) -> Result {
    let executable = EXECUTABLES.get(handle)?;
    value.check()?;
    match attribute {
        attribute_of::PROFILE => value.put(executable.profile),
        attribute_of::STATE => value.put(u32::from(executable.is_frozen())),
        attribute_of::DEFAULT_FLOAT_ROUNDING_MODE => value.put(executable.rounding),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// Whether an executable is in order: what is not cannot be loaded.
#[entry]
fn hsa_executable_validate(_: &Call, handle: Handle, result: Out<u32>) -> Result {
    EXECUTABLES.get(handle)?;
    result.put(0)
}

/// The same with options, of which there are none.
#[entry]
fn hsa_executable_validate_alt(_: &Call, handle: Handle, _options: Text, result: Out<u32>) -> Result {
    EXECUTABLES.get(handle)?;
    result.put(0)
}

fn define(handle: Handle, agent: Option<Handle>, name: Text, address: Opaque) -> Result {
    let executable = EXECUTABLES.get(handle)?;
    let agent = agent.map(Agent::get).transpose()?;
    let name = name.get().ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    executable.define(agent, &name, address.address())
}

/// Defines a variable for the code on all agents.
#[entry]
fn hsa_executable_global_variable_define(_: &Call, handle: Handle, name: Text, address: Opaque) -> Result {
    define(handle, None, name, address)
}

/// Defines a variable for the code on an agent.
#[entry]
fn hsa_executable_agent_global_variable_define(
    _: &Call,
    handle: Handle,
    agent: Handle,
    name: Text,
    address: Opaque,
) -> Result {
    define(handle, Some(agent), name, address)
}

/// Defines a constant for the code on an agent.
#[entry]
fn hsa_executable_readonly_variable_define(
    _: &Call,
    handle: Handle,
    agent: Handle,
    name: Text,
    address: Opaque,
) -> Result {
    define(handle, Some(agent), name, address)
}

fn find(handle: Handle, name: Text, agent: Option<Handle>, symbol: Out<Handle>) -> Result {
    let executable = EXECUTABLES.get(handle)?;
    symbol.check()?;
    if name.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let agent = agent.map(Agent::get).transpose()?;
    let name = name.get().ok_or(Status::ERROR_INVALID_SYMBOL_NAME)?;
    symbol.put(executable.symbol(&name, agent)?)
}

/// The symbol of a name, on an agent.
#[entry]
fn hsa_executable_get_symbol(
    _: &Call,
    handle: Handle,
    _module: Text,
    name: Text,
    agent: Handle,
    _convention: i32,
    symbol: Out<Handle>,
) -> Result {
    find(handle, name, Some(agent), symbol)
}

/// The symbol of a name, on an agent if one is given.
#[entry]
fn hsa_executable_get_symbol_by_name(
    _: &Call,
    handle: Handle,
    name: Text,
    agent: In<Handle>,
    symbol: Out<Handle>,
) -> Result {
    let agent = if agent.is_null() { None } else { Some(agent.get()?) };
    find(handle, name, agent, symbol)
}

/// What a caller's function says to a symbol of an executable.
type Visitor = Option<extern "C" fn(Handle, Handle, Opaque) -> Status>;

/// Calls a function for each symbol.
#[entry]
fn hsa_executable_iterate_symbols(_: &Call, handle: Handle, visitor: Visitor, data: Opaque) -> Result {
    let executable = EXECUTABLES.get(handle)?;
    let visitor = visitor.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    executable.symbols(None).into_iter().try_for_each(|symbol| visitor(handle, symbol, data).result())
}

/// The same for one agent.
type AgentVisitor = Option<extern "C" fn(Handle, Handle, Handle, Opaque) -> Status>;

/// Calls a function for each symbol on an agent.
#[entry]
fn hsa_executable_iterate_agent_symbols(
    _: &Call,
    handle: Handle,
    agent: Handle,
    visitor: AgentVisitor,
    data: Opaque,
) -> Result {
    let executable = EXECUTABLES.get(handle)?;
    let of = Agent::get(agent)?;
    let visitor = visitor.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    let mut symbols = executable.symbols(Some(of)).into_iter();
    symbols.try_for_each(|symbol| visitor(handle, agent, symbol, data).result())
}

/// Calls a function for each symbol that is on no agent: all are on one.
#[entry]
fn hsa_executable_iterate_program_symbols(
    _: &Call,
    handle: Handle,
    visitor: Visitor,
    _data: Opaque,
) -> Result {
    EXECUTABLES.get(handle)?;
    visitor.ok_or(Status::ERROR_INVALID_ARGUMENT).map(|_| ())
}
