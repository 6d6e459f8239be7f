//! What kernels in AMD's code objects take of a processor.

use std::collections::HashMap;

use gangway_code_object::{CodeObject, Error};
use gangway_image::{FileType, ImageKind, Machine};
use serde::Serialize;

/// What a kernel takes, by its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Of 32 bits, for each lane.
    pub vector_registers: u32,
    /// Of 32 bits, for each lane; 0 where the processor has none.
    pub accumulation_registers: u32,
    /// Of 32 bits, for each wave.
    pub scalar_registers: u32,
    /// Bytes for each lane.
    pub scratch_memory: u32,
    /// It may need more scratch memory than that.
    pub dynamic_stack: bool,
    /// Lanes of a wave.
    pub wave: u32,
    /// Bytes of LDS.
    #[serde(skip)]
    pub shared_memory: u32,
}

/// Of each kernel of an image, by its symbol; none of images that are no linked code objects of version 3 to 6.
pub fn resources(image: &[u8], kind: &ImageKind<'_>) -> Result<HashMap<String, Resources>, Error> {
    match kind {
        ImageKind::Elf(elf) if (elf.machine, elf.file_type) == (Machine::Amdgpu, FileType::Shared) => {}
        _ => return Ok(HashMap::new()),
    }
    let object = match CodeObject::read(image) {
        Ok(object) => object,
        // What it has besides is shown all the same.
        Err(Error::Unsupported { .. }) => return Ok(HashMap::new()),
        Err(error) => return Err(error),
    };
    let of = |kernel| {
        let said = object.said(kernel);
        Resources {
            vector_registers: said.vgpr_count,
            accumulation_registers: said.agpr_count.unwrap_or(0),
            scalar_registers: said.sgpr_count,
            scratch_memory: said.private_segment_fixed_size,
            dynamic_stack: said.uses_dynamic_stack,
            wave: said.wavefront_size,
            shared_memory: said.group_segment_fixed_size,
        }
    };
    Ok(object.kernels.iter().map(|kernel| (kernel.name.clone(), of(kernel))).collect())
}
