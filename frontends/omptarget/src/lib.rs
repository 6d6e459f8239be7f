//! The libomptarget ABI of LLVM 22 on the Gangway runtime.
//!
//! Programs that stock clang and flang built call the functions of this crate;
//! it turns the ABI's arrays into the runtime's terms and the runtime's results
//! into what the ABI defines. It has no policy of its own beyond the ABI's: when
//! a failure ends the program and when the host takes over ([`policy`]).
//!
//! One module per family of functions:
//!
//! | module | functions |
//! |---|---|
//! | [`register`] | `__tgt_register_lib`, `__tgt_unregister_lib`, life cycle |
//! | [`launch`] | `__tgt_target_kernel` and its older forms |
//! | [`data`] | `__tgt_target_data_{begin,end,update}*` |
//! | [`mapper`] | `__tgt_push_mapper_component`, `__tgt_mapper_num_components` |
//! | [`tasks`] | `__tgt_target_nowait_query`, `__tgt_target_sync` |
//! | [`devices`] | `omp_get_num_devices` and kin, device UIDs |
//! | [`memory`] | `omp_target_alloc`, `omp_target_memcpy*` and kin |
//! | [`asynchronous`] | `omp_target_memcpy_async` and kin |
//! | [`interop`] | `__tgt_interop_*`, `omp_get_interop_*` |
//! | [`ompt`] | none: tells tools, which libomp connects |
//! | [`replay`] | record and replay, CUDA-style launches: refused by name |
//!
//! Every exported function runs inside [`guard::guard`]: nothing unwinds into C.

pub mod abi;
mod arrays;
pub mod data;
pub mod devices;
mod exports;
pub mod extensions;
mod front_end;
pub mod interop;
pub mod launch;
pub mod libomp;
mod map_type;
pub mod mapper;
pub mod ompt;
pub mod register;
pub mod replay;
mod requires;
mod section;
mod source;
pub mod tasks;
