//! The types of `cuda.h` that exported functions take, with their sizes pinned.

use std::ffi::c_void;

use crate::objects::table::Handle;

/// A device's number.
pub type CUdevice = i32;
/// An address in device memory.
pub type CUdeviceptr = u64;

pub type CUcontext = Handle<crate::objects::context::Context>;
pub type CUmodule = Handle<crate::objects::program::module::Module>;
pub type CUfunction = Handle<crate::objects::program::function::Function>;
pub type CUlibrary = Handle<crate::objects::program::library::Library>;
pub type CUkernel = Handle<crate::objects::program::library::Kernel>;
pub type CUlinkState = Handle<crate::objects::program::link::Link>;
pub type CUstream = Handle<crate::objects::stream::Stream>;
pub type CUevent = Handle<crate::objects::stream::event::Event>;
pub type CUmemoryPool = Handle<crate::objects::pool::Pool>;
pub type CUgraph = Handle<crate::objects::graph::Graph>;
pub type CUgraphNode = Handle<crate::objects::graph::Node>;
pub type CUgraphExec = Handle<crate::objects::graph::Exec>;
pub type CUuserObject = Handle<crate::objects::graph::UserObject>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUuuid {
    pub bytes: [u8; 16],
}

/// `CUdevprop`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUdevprop {
    pub max_threads_per_block: i32,
    pub max_threads_dim: [i32; 3],
    pub max_grid_size: [i32; 3],
    pub shared_mem_per_block: i32,
    pub total_constant_memory: i32,
    pub simd_width: i32,
    pub mem_pitch: i32,
    pub regs_per_block: i32,
    pub clock_rate: i32,
    pub texture_align: i32,
}
const _: () = assert!(size_of::<CUdevprop>() == 56);

/// `CUmemorytype`, of a side of a copy.
pub mod memory_type {
    pub const HOST: u32 = 1;
    pub const DEVICE: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const UNIFIED: u32 = 4;
}

/// `CUDA_MEMCPY2D_v2`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY2D {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_memory_type: u32,
    pub src_host: *const c_void,
    pub src_device: CUdeviceptr,
    pub src_array: *mut c_void,
    pub src_pitch: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_memory_type: u32,
    pub dst_host: *mut c_void,
    pub dst_device: CUdeviceptr,
    pub dst_array: *mut c_void,
    pub dst_pitch: usize,
    pub width_in_bytes: usize,
    pub height: usize,
}
const _: () = assert!(size_of::<CUDA_MEMCPY2D>() == 128);

/// `CUDA_MEMCPY3D_v2`, and `CUDA_MEMCPY3D_PEER`, which has contexts where this has reserved pointers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY3D {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_memory_type: u32,
    pub src_host: *const c_void,
    pub src_device: CUdeviceptr,
    pub src_array: *mut c_void,
    pub src_context: CUcontext,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_memory_type: u32,
    pub dst_host: *mut c_void,
    pub dst_device: CUdeviceptr,
    pub dst_array: *mut c_void,
    pub dst_context: CUcontext,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width_in_bytes: usize,
    pub height: usize,
    pub depth: usize,
}
const _: () = assert!(size_of::<CUDA_MEMCPY3D>() == 200);

/// `CUlaunchAttribute`: a number and 64 bytes whose meaning depends on it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchAttribute {
    pub id: u32,
    pub pad: u32,
    pub value: [u64; 8],
}
const _: () = assert!(size_of::<CUlaunchAttribute>() == 72);

/// `CUlaunchConfig`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUlaunchConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_mem_bytes: u32,
    pub stream: CUstream,
    pub attributes: crate::abi::pointer::In<CUlaunchAttribute>,
    pub attribute_count: u32,
}
const _: () = assert!(size_of::<CUlaunchConfig>() == 56);

/// `CUstreamBatchMemOpParams`: one layout serves all operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CUstreamBatchMemOpParams {
    pub operation: u32,
    pub address: CUdeviceptr,
    pub value: u64,
    pub flags: u32,
    pub alias: CUdeviceptr,
    pub pad: u64,
}
const _: () = assert!(size_of::<CUstreamBatchMemOpParams>() == 48);

/// `CUstreamAttrValue`: what it means depends on the attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CUstreamAttrValue {
    pub value: [u64; 8],
}
const _: () = assert!(size_of::<CUstreamAttrValue>() == 64);

/// `CUmemLocation`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemLocation {
    pub kind: u32,
    pub id: i32,
}
const _: () = assert!(size_of::<CUmemLocation>() == 8);

/// `CUmemPoolProps`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemPoolProps {
    pub allocation_type: u32,
    pub handle_types: u32,
    pub location: CUmemLocation,
    pub win32_security_attributes: *mut c_void,
    pub max_size: usize,
    pub usage: u16,
    pub reserved: [u8; 54],
}
const _: () = assert!(size_of::<CUmemPoolProps>() == 88);

/// `CUmemAccessDesc`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    pub flags: u32,
}
const _: () = assert!(size_of::<CUmemAccessDesc>() == 12);

/// `CUipcMemHandle` and `CUipcEventHandle`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUipcHandle {
    pub reserved: [u8; 64],
}
