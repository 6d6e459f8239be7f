//! `llvm-offload-binary`: packs device code into an object, called by flang-22.
//!
//! flang-22 compiles for a CPU device once per GPU architecture and names that as the CPU's. Here
//! the CPU's code is packed once, for any processor.

use std::ffi::OsString;

use super::flang::execute;
use crate::compile::GpuKind;
use crate::exit::Outcome;

pub fn pack(arguments: &[OsString]) -> Outcome {
    execute("llvm-offload-binary", changed(arguments))
}

fn changed(arguments: &[OsString]) -> Vec<OsString> {
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for argument in arguments {
        let Some((triple, generic)) = argument.to_str().and_then(cpu_image) else {
            kept.push(argument.clone());
            continue;
        };
        if !seen.contains(&triple) {
            seen.push(triple);
            kept.push(generic.into());
        }
    }
    kept
}

/// The triple of an image that is not for a GPU but named so, and the argument with the right name.
fn cpu_image(argument: &str) -> Option<(String, String)> {
    let fields = argument.strip_prefix("--image=")?;
    let field = |name: &str| fields.split(',').find_map(|field| field.strip_prefix(name));
    let (triple, architecture) = (field("triple=")?, field("arch=")?);
    if GpuKind::of_triple(triple).is_some() || GpuKind::of_processor(architecture).is_none() {
        return None;
    }
    let fields =
        fields.split(',').map(|field| if field.starts_with("arch=") { "arch=generic" } else { field });
    Some((triple.to_owned(), format!("--image={}", fields.collect::<Vec<_>>().join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_packed_once() {
        let line = "-o out --image=file=a,triple=nvptx64-nvidia-cuda,arch=sm_80,kind=openmp \
                    --image=file=b,triple=x86_64-pc-linux-gnu,arch=sm_80,kind=openmp \
                    --image=file=c,triple=x86_64-pc-linux-gnu,arch=sm_90,kind=openmp";
        let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        let changed = changed(&arguments);
        assert_eq!(changed[..3], arguments[..3]);
        assert_eq!(changed[3..], ["--image=file=b,triple=x86_64-pc-linux-gnu,arch=generic,kind=openmp"]);
    }
}
