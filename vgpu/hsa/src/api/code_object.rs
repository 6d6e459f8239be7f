//! Where code objects come from (HSA runtime 1.2, 2.10).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::number::{code_object, profile, rounding};
use crate::abi::pointer::{Opaque, Value};
use crate::abi::{Out, Result, Status, Text};
use crate::objects::agent::isa::Isa;
use crate::objects::program::reader::{CODE_OBJECTS, READERS, Reader};

/// Makes a reader of memory, which stays as long as the reader.
#[entry]
fn hsa_code_object_reader_create_from_memory(
    _: &Call,
    memory: Opaque,
    size: usize,
    reader: Out<Handle>,
) -> Result {
    reader.check()?;
    reader.put(READERS.insert(Reader::from_memory(memory.address(), size)?))
}

/// Makes a reader of a file.
#[entry]
fn hsa_code_object_reader_create_from_file(_: &Call, file: i32, reader: Out<Handle>) -> Result {
    reader.check()?;
    reader.put(READERS.insert(Reader::from_file(file)?))
}

/// Ends a reader; what has been loaded stays.
#[entry]
fn hsa_code_object_reader_destroy(_: &Call, reader: Handle) -> Result {
    READERS.remove(reader).map(|_| ())
}

/// Takes a code object over, as older programs do.
#[entry]
fn hsa_code_object_deserialize(
    _: &Call,
    memory: Opaque,
    size: usize,
    _options: Text,
    object: Out<Handle>,
) -> Result {
    object.check()?;
    let reader = Reader::from_memory(memory.address(), size)?;
    reader.parse()?;
    object.put(CODE_OBJECTS.insert(reader.copied()))
}

/// Ends what `hsa_code_object_deserialize` has made; what has been loaded stays.
#[entry]
fn hsa_code_object_destroy(_: &Call, object: Handle) -> Result {
    CODE_OBJECTS.remove(object).map(|_| ())
}

/// An attribute of a code object.
#[entry]
fn hsa_code_object_get_info(_: &Call, object: Handle, attribute: u32, value: Value) -> Result {
    let reader = CODE_OBJECTS.get(object)?;
    let object = reader.parse()?;
    value.check()?;
    match attribute {
        code_object::VERSION => value.put_field::<64>(&object.version.number().to_string()),
        code_object::TYPE => value.put(0u32),
        code_object::ISA => {
            let isa = Isa::named(&format!("amdgcn-amd-amdhsa--{}", object.target));
            value.put(isa.ok_or(Status::ERROR_INVALID_CODE_OBJECT)?.handle())
        }
        code_object::MACHINE_MODEL => value.put(1u32),
        code_object::PROFILE => value.put(profile::FULL),
        code_object::DEFAULT_FLOAT_ROUNDING_MODE => value.put(rounding::NEAR),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}
