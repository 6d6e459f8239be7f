//! The structures of `cuda.h` that exported functions take, with their sizes pinned.

use std::ffi::c_void;

use super::{CUcontext, CUfunction, CUgraphNode, CUkernel, CUstream, In, Status};

/// A device's number.
pub type CUdevice = i32;
/// An address in device memory.
pub type CUdeviceptr = u64;

/// A function of the program that a stream or a graph calls.
pub type CUhostFn = unsafe extern "C" fn(*mut c_void);
/// A function of the program that is told how a stream does.
pub type CUstreamCallback = unsafe extern "C" fn(CUstream, Status, *mut c_void);
/// A function of the program: how much dynamic shared memory a block of a size needs.
pub type CUoccupancyB2DSize = unsafe extern "C" fn(i32) -> usize;

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

/// `CUDA_MEMCPY3D_v2`, and `CUDA_MEMCPY3D_PEER`, which has contexts where this has reserved
/// pointers.
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
    pub attributes: In<CUlaunchAttribute>,
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
const _: () = assert!(size_of::<CUipcHandle>() == 64);

/// `CUgraphEdgeData`: ports, the type of the edge, and space.
pub type CUgraphEdgeData = [u8; 8];

/// `CUDA_KERNEL_NODE_PARAMS_v1`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    pub function: CUfunction,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_mem_bytes: u32,
    pub kernel_params: In<*const c_void>,
    pub extra: In<*const c_void>,
}
const _: () = assert!(size_of::<CUDA_KERNEL_NODE_PARAMS>() == 56);

/// `CUDA_KERNEL_NODE_PARAMS_v2` and `_v3`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_KERNEL_NODE_PARAMS_v2 {
    pub first: CUDA_KERNEL_NODE_PARAMS,
    pub kernel: CUkernel,
    pub context: CUcontext,
}
const _: () = assert!(size_of::<CUDA_KERNEL_NODE_PARAMS_v2>() == 72);

/// `CUDA_MEMSET_NODE_PARAMS_v1`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUDA_MEMSET_NODE_PARAMS {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: u32,
    pub element_size: u32,
    pub width: usize,
    pub height: usize,
}
const _: () = assert!(size_of::<CUDA_MEMSET_NODE_PARAMS>() == 40);

/// `CUDA_HOST_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_HOST_NODE_PARAMS {
    pub function: Option<CUhostFn>,
    pub user_data: *mut c_void,
}
const _: () = assert!(size_of::<CUDA_HOST_NODE_PARAMS>() == 16);

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_BATCH_MEM_OP_NODE_PARAMS {
    pub context: CUcontext,
    pub count: u32,
    pub operations: In<CUstreamBatchMemOpParams>,
    pub flags: u32,
}
const _: () = assert!(size_of::<CUDA_BATCH_MEM_OP_NODE_PARAMS>() == 32);

/// `CUDA_MEM_ALLOC_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS {
    pub properties: CUmemPoolProps,
    pub access: In<CUmemAccessDesc>,
    pub access_count: usize,
    pub size: usize,
    /// Told by the call.
    pub address: CUdeviceptr,
}
const _: () = assert!(size_of::<CUDA_MEM_ALLOC_NODE_PARAMS>() == 120);

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    pub flags: u64,
    pub upload_stream: CUstream,
    pub error_node: CUgraphNode,
    pub result: u32,
}
const _: () = assert!(size_of::<CUDA_GRAPH_INSTANTIATE_PARAMS>() == 32);

/// `CUgraphExecUpdateResultInfo`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUgraphExecUpdateResultInfo {
    pub result: u32,
    pub error_node: CUgraphNode,
    pub error_from_node: CUgraphNode,
}
const _: () = assert!(size_of::<CUgraphExecUpdateResultInfo>() == 24);
