//! From a function of PTX to machine code.
//!
//! [`analysis`](crate::analysis) gathers what is known of a function: its control flow, which registers
//! live where, where its variables are. It refuses functions that no code is made of. Then a
//! [`Generator`] makes code of both. Its passes are listed in [`passes`](crate::analysis::passes).
//!
//! Code depends on nothing but the request, the module's declarations and the processor. It has
//! no relocations, and may be used again where those are the same.

#[cfg(test)]
mod analyses;
#[cfg(test)]
mod lookups;
#[cfg(test)]
mod parted;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gangway_settings::file_variable;

use crate::abi::Flavour;
use crate::analysis::passes::Passes;
use crate::analysis::unit::{Refused, Request, Unit};
use crate::code::Compiled;
use crate::cranelift::Cranelift;
use crate::generator::Generator;
use crate::llvm::{self, Llvm};

/// Which generator makes code of a flavour.
fn generator(flavour: Flavour) -> &'static dyn Generator {
    match flavour {
        Flavour::Converged | Flavour::Masked => &Cranelift,
        Flavour::Lanewise => &Llvm,
    }
}

/// What of the processor, the generator and the device's addresses code depends on, for the key of a cache.
pub(crate) fn processor(flavour: Flavour) -> Result<String, Refused> {
    let processor = generator(flavour).processor()?;
    Ok(format!("{processor}, memory from {:#x}", gangway_device_memory::range().base))
}

/// Makes machine code of a function.
pub(crate) fn compile(request: &Request<'_>) -> Result<Compiled, Refused> {
    compile_by(generator(request.flavour), request)
}

fn compile_by(generator: &dyn Generator, request: &Request<'_>) -> Result<Compiled, Refused> {
    let mut passes = Passes::default();
    let unit = Unit::new(request, generator.features()?, &mut passes)?;
    if let (Flavour::Converged, true, Err(why)) = (request.flavour, request.lanewise, unit.regions()) {
        // Nobody asks for code of them then.
        llvm::note(unit.name, Err(why.to_owned()));
    }
    let Some(folder) = dump_folder() else {
        return generator.generate(&unit, request.flavour, &mut passes, None);
    };
    let mut texts = Vec::new();
    let code = generator.generate(&unit, request.flavour, &mut passes, Some(&mut texts));
    texts.push(("operations", unit.code.to_string()));
    texts.push(("passes", passes.to_string()));
    for (kind, text) in texts {
        let path = folder.join(format!("{}.{:?}.{kind}", unit.name, request.flavour));
        if let Err(error) = std::fs::write(&path, text) {
            eprintln!("gangway: {}: {error}", path.display());
        }
    }
    code
}

/// Where `GANGWAY_VGPU_DUMP` wants to see what is made of each function, for work on the engine.
fn dump_folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| file_variable("GANGWAY_VGPU_DUMP").map(PathBuf::from)).as_deref()
}
