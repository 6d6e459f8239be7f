//! What stands in for NVIDIA's `libdevice`, which clang links into each unit of device code before it
//! optimises.
//!
//! The mathematical functions of NVIDIA's are in the archive. Told to do without the file
//! (`-nocudalib`), clang would also leave out the constants that say how code was compiled
//! (`-fopenmp-target-debug`).
//!
//! Instead it has the program's `malloc` and `free`. They are inlined, so that the unit calls the
//! archive's functions (`device/gpu/heap`), and the names are still the driver's: an image
//! cannot define them and call the driver's as well. What is left of one, where a
//! program takes its address, is local to the unit.

/// The file's place below `lib/gangway`: where clang looks for it in a CUDA toolkit.
pub const PLACE: &str = "cuda/nvvm/libdevice/libdevice.10.bc";

pub const TEXT: &str = r#"; Without a name of its own the module has that of its file, and so a folder of this machine.
source_filename = "libdevice"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare noalias ptr @__gangway_malloc(i64)
declare void @__gangway_free(ptr)

define noalias ptr @malloc(i64 %bytes) alwaysinline {
  %memory = call ptr @__gangway_malloc(i64 %bytes)
  ret ptr %memory
}

define void @free(ptr %memory) alwaysinline {
  call void @__gangway_free(ptr %memory)
  ret void
}
"#;
