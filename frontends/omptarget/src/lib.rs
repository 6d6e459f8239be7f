//! The libomptarget ABI of LLVM 19 to 23 on the Gangway runtime.
//!
//! Programs that stock clang and flang built call the functions of this crate. `releases.txt` says which of
//! them each release of LLVM has, and docs/clang-releases.md what else differs. It turns the
//! ABI's arrays into the runtime's terms, and results into what the ABI defines. It decides
//! nothing: what is OpenMP and not this ABI is in `gangway-openmp`.
//!
//! The functions are ordinary ones with the C calling convention; `exports` is the table of
//! the names that they are exported under. Every one runs inside
//! [`guard`](gangway_frontend::guard::guard): nothing unwinds into C.
//!
//! # Layers
//!
//! Each module uses only those above it, which a test checks.
//!
//! | module | what |
//! |---|---|
//! | `words` | errors in the words of clang's users |
//! | `map_type` | the bits of map types |
//! | [`mapper`] | `__tgt_push_mapper_component`, `__tgt_mapper_num_components` |
//! | [`abi`] | the C layouts |
//! | [`libomp`] | what is asked of libomp |
//! | [`ompt`] | tells tools, which libomp connects |
//! | `source` | descriptions of places and variables |
//! | `front_end` | this front end's part in the process's start and end |
//! | `requires` | the bits of `requires` clauses |
//! | `section` | the descriptors of sections that are not contiguous |
//! | `arrays` | the arguments of a construct |
//! | `patience` | which `nowait` constructs are waited for |
//! | [`tasks`] | `__tgt_target_nowait_query`, `__tgt_target_sync` |
//! | [`devices`] | `__tgt_print_device_info`, device numbers of this ABI |
//! | [`register`] | `__tgt_register_lib`, `__tgt_unregister_lib` and kin |
//! | [`openacc`] | what translated OpenACC code calls |
//! | [`launch`] | `__tgt_target_kernel` and its older forms |
//! | [`data`] | `__tgt_target_data_{begin,end,update}*` |
//! | [`interop`] | `__tgt_interop_*` |
//! | [`extensions`] | `llvm_omp_target_*`, `ompx_*`, `__tgt_set_info_flag` |
//! | [`kernel_language`] | kernels of CUDA's language: `llvmLaunchKernel` and kin |
//! | [`refused`] | record and replay, LLVM's remote procedure calls: refused by name |
//! | `exports` | which name is which function |

pub mod abi;
mod arrays;
pub mod data;
pub mod devices;
mod exports;
pub mod extensions;
mod front_end;
pub mod interop;
pub mod kernel_language;
pub mod launch;
pub mod libomp;
mod map_type;
pub mod mapper;
pub mod ompt;
pub mod openacc;
mod patience;
pub mod refused;
pub mod register;
mod requires;
mod section;
mod source;
pub mod tasks;
mod words;
