//! Copies: between host and device, in one to three dimensions, in streams and not.

use super::copy_structure::{three_dimensional, two_dimensional};
use super::entry::{Call, entry};
use crate::abi::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, CUdeviceptr, CUstream, In, Result, Untyped};
use crate::objects::work::MemoryWork;
use crate::objects::work::copy::{Copy, Side};

/// Copies between devices name the contexts too, which the addresses make redundant.
fn peers(to: CUcontext, from: CUcontext) -> Result {
    to.get()?;
    from.get().map(drop)
}

#[entry(per_thread = cuMemcpy_ptds)]
fn cuMemcpy(call: &Call, to: CUdeviceptr, from: CUdeviceptr, size: usize) -> Result {
    Copy::flat(Side::unified(to), Side::unified(from), size).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpyAsync_ptsz)]
fn cuMemcpyAsync(call: &Call, to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) -> Result {
    Copy::flat(Side::unified(to), Side::unified(from), size).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemcpyHtoD_v2_ptds)]
fn cuMemcpyHtoD_v2(call: &Call, to: CUdeviceptr, from: Untyped, size: usize) -> Result {
    Copy::flat(Side::device(to), Side::host(from.address()), size).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpyHtoDAsync_v2_ptsz)]
fn cuMemcpyHtoDAsync_v2(
    call: &Call,
    to: CUdeviceptr,
    from: Untyped,
    size: usize,
    stream: CUstream,
) -> Result {
    Copy::flat(Side::device(to), Side::host(from.address()), size).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemcpyDtoH_v2_ptds)]
fn cuMemcpyDtoH_v2(call: &Call, to: Untyped, from: CUdeviceptr, size: usize) -> Result {
    Copy::flat(Side::host(to.address()), Side::device(from), size).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpyDtoHAsync_v2_ptsz)]
fn cuMemcpyDtoHAsync_v2(
    call: &Call,
    to: Untyped,
    from: CUdeviceptr,
    size: usize,
    stream: CUstream,
) -> Result {
    Copy::flat(Side::host(to.address()), Side::device(from), size).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemcpyDtoD_v2_ptds)]
fn cuMemcpyDtoD_v2(call: &Call, to: CUdeviceptr, from: CUdeviceptr, size: usize) -> Result {
    Copy::flat(Side::device(to), Side::device(from), size).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpyDtoDAsync_v2_ptsz)]
fn cuMemcpyDtoDAsync_v2(
    call: &Call,
    to: CUdeviceptr,
    from: CUdeviceptr,
    size: usize,
    stream: CUstream,
) -> Result {
    Copy::flat(Side::device(to), Side::device(from), size).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemcpyPeer_ptds)]
fn cuMemcpyPeer(
    call: &Call,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    size: usize,
) -> Result {
    peers(to_context, from_context)?;
    Copy::flat(Side::device(to), Side::device(from), size).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpyPeerAsync_ptsz)]
fn cuMemcpyPeerAsync(
    call: &Call,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    size: usize,
    stream: CUstream,
) -> Result {
    peers(to_context, from_context)?;
    Copy::flat(Side::device(to), Side::device(from), size).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemcpy2D_v2_ptds)]
fn cuMemcpy2D_v2(call: &Call, copy: In<CUDA_MEMCPY2D>) -> Result {
    two_dimensional(&copy.get()?)?.run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpy2DUnaligned_v2_ptds)]
fn cuMemcpy2DUnaligned_v2(call: &Call, copy: In<CUDA_MEMCPY2D>) -> Result {
    two_dimensional(&copy.get()?)?.run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpy2DAsync_v2_ptsz)]
fn cuMemcpy2DAsync_v2(call: &Call, copy: In<CUDA_MEMCPY2D>, stream: CUstream) -> Result {
    two_dimensional(&copy.get()?)?.submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemcpy3D_v2_ptds)]
fn cuMemcpy3D_v2(call: &Call, copy: In<CUDA_MEMCPY3D>) -> Result {
    three_dimensional(&copy.get()?)?.run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpy3DAsync_v2_ptsz)]
fn cuMemcpy3DAsync_v2(call: &Call, copy: In<CUDA_MEMCPY3D>, stream: CUstream) -> Result {
    three_dimensional(&copy.get()?)?.submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemcpy3DPeer_ptds)]
fn cuMemcpy3DPeer(call: &Call, copy: In<CUDA_MEMCPY3D>) -> Result {
    let copy = copy.get()?;
    peers(copy.dst_context, copy.src_context)?;
    three_dimensional(&copy)?.run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemcpy3DPeerAsync_ptsz)]
fn cuMemcpy3DPeerAsync(call: &Call, copy: In<CUDA_MEMCPY3D>, stream: CUstream) -> Result {
    let copy = copy.get()?;
    peers(copy.dst_context, copy.src_context)?;
    three_dimensional(&copy)?.submit_to(&call.stream(stream)?)
}
