//! Attributes of executables' symbols (HSA runtime 1.2, 2.10).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::number::{linkage, segment, symbol as attribute_of, symbol_kind};
use crate::abi::pointer::Value;
use crate::abi::{Result, Status};
use crate::objects::program::symbol::{Meaning, SYMBOLS, Symbol};

/// An attribute of a symbol.
#[entry]
fn hsa_executable_symbol_get_info(_: &Call, handle: Handle, attribute: u32, value: Value) -> Result {
    let symbol = SYMBOLS.get(handle)?;
    value.check()?;
    match attribute {
        attribute_of::NAME_LENGTH => value.put(symbol.name.len() as u32),
        attribute_of::NAME => value.put_bytes(symbol.name.as_bytes()),
        attribute_of::MODULE_NAME_LENGTH => value.put(0u32),
        attribute_of::MODULE_NAME => Ok(()),
        attribute_of::AGENT => value.put(symbol.agent),
        attribute_of::LINKAGE => value.put(if symbol.is_global { linkage::PROGRAM } else { linkage::MODULE }),
        attribute_of::IS_DEFINITION => value.put(true),
        other => special(&symbol, other, value),
    }
}

/// What only variables or only kernels have.
fn special(symbol: &Symbol, attribute: u32, value: Value) -> Result {
    match symbol.meaning {
        Meaning::Variable { address, size, align, constant } => match attribute {
            attribute_of::TYPE => value.put(symbol_kind::VARIABLE),
            attribute_of::VARIABLE_ADDRESS => value.put(address),
            // One for each agent.
            attribute_of::VARIABLE_ALLOCATION => value.put(0u32),
            attribute_of::VARIABLE_SEGMENT => {
                value.put(if constant { segment::READONLY } else { segment::GLOBAL })
            }
            attribute_of::VARIABLE_ALIGNMENT => value.put(align),
            attribute_of::VARIABLE_SIZE => value.put(size as u32),
            attribute_of::VARIABLE_IS_CONST => value.put(constant),
            _ => Err(Status::ERROR_INVALID_ARGUMENT),
        },
        Meaning::Kernel { object, kernarg_size, kernarg_align, group_size, private_size, dynamic_stack } => {
            match attribute {
                attribute_of::TYPE => value.put(symbol_kind::KERNEL),
                attribute_of::KERNEL_OBJECT => value.put(object),
                attribute_of::KERNEL_KERNARG_SEGMENT_SIZE => value.put(kernarg_size),
                attribute_of::KERNEL_KERNARG_SEGMENT_ALIGNMENT => value.put(kernarg_align),
                attribute_of::KERNEL_GROUP_SEGMENT_SIZE => value.put(group_size),
                attribute_of::KERNEL_PRIVATE_SEGMENT_SIZE => value.put(private_size),
                attribute_of::KERNEL_DYNAMIC_CALLSTACK => value.put(dynamic_stack),
                attribute_of::KERNEL_CALL_CONVENTION => value.put(0u32),
                _ => Err(Status::ERROR_INVALID_ARGUMENT),
            }
        }
    }
}
