//! Which images are for AMD's GPUs, and which of them a device can run.

use gangway_backend::{Error, Rank, Result};
use gangway_image::{ImageKind, Machine, recognise};

/// Whether an image is for a GPU of AMD's: a code object of LLVM's, or one of GCC's with what the program says of it.
pub(crate) fn recognises(image: &[u8]) -> bool {
    match recognise(image) {
        Ok(ImageKind::GcnObject(_)) => true,
        Ok(ImageKind::Elf(elf)) => elf.machine == Machine::Amdgpu,
        _ => false,
    }
}

/// How well an image suits a processor.
///
/// # Errors
/// It is for another one.
pub(crate) fn fitness(image: &[u8], processor: &str) -> Result<Rank> {
    let refused = |reason| Error::InvalidImage { reason };
    let kind = recognise(image).map_err(|error| refused(error.to_string()))?;
    let wanted = kind.processor().unwrap_or_else(|| "an unknown processor".to_owned());
    // What stands behind a colon the library checks.
    let base = wanted.split(':').next().unwrap_or_default();
    if base == processor {
        return Ok(Rank(1));
    }
    let option = match kind {
        ImageKind::GcnObject(_) => format!("-foffload-options=amdgcn-amdhsa=-march={processor}"),
        _ => format!("--offload-arch={processor}"),
    };
    Err(refused(format!(
        "it is for {wanted}, the device is {processor}\n  help: compile with {option}; the virtual GPU is one of \
         {base} with GANGWAY_VGPU_PROCESSOR={base}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_image::gcn_object;

    #[test]
    fn images_suit_the_processor_that_they_are_for() {
        let image = gcn_object::empty();
        let code = gcn_object::parts(&image).unwrap().code;
        assert!(recognises(&image) && recognises(code));
        assert!(!recognises(&image[1..]));
        assert_eq!(fitness(&image, "gfx900"), Ok(Rank(1)));
        let Err(Error::InvalidImage { reason }) = fitness(&image, "gfx906") else { panic!("not refused") };
        assert_eq!(
            reason,
            "it is for gfx900, the device is gfx906\n  help: compile with \
             -foffload-options=amdgcn-amdhsa=-march=gfx906; the virtual GPU is one of gfx900 with \
             GANGWAY_VGPU_PROCESSOR=gfx900"
        );
        let Err(Error::InvalidImage { reason }) = fitness(code, "gfx906") else { panic!("not refused") };
        assert!(reason.contains("compile with --offload-arch=gfx906;"), "{reason}");
    }
}
