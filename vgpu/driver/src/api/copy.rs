//! Copies: between host and device, in one to three dimensions, in streams and not.

use crate::copy::{Copy, Side};
use crate::entry::entries;
use crate::error::Result;
use crate::memory;
use crate::pointer::{In, Memory};
use crate::types::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, CUdeviceptr, CUstream};

/// A side of a copy whose direction follows from the addresses.
fn unified(address: CUdeviceptr) -> Side {
    if memory::find(address).is_some() { Side::device(address) } else { Side::host(address) }
}

/// Copies between devices name the contexts too, which the addresses make redundant.
fn peers(to: CUcontext, from: CUcontext) -> Result {
    to.get()?;
    from.get().map(drop)
}

entries! {
    fn cuMemcpy / cuMemcpy_ptds(call, to: CUdeviceptr, from: CUdeviceptr, size: usize) {
        Copy::flat(unified(to), unified(from), size).run_in(&call.default_stream()?)
    }

    fn cuMemcpyAsync / cuMemcpyAsync_ptsz(call, to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) {
        Copy::flat(unified(to), unified(from), size).submit_to(&call.stream(stream)?)
    }

    fn cuMemcpyHtoD_v2 / cuMemcpyHtoD_v2_ptds(call, to: CUdeviceptr, from: Memory, size: usize) {
        Copy::flat(Side::device(to), Side::host(from.address()), size).run_in(&call.default_stream()?)
    }

    fn cuMemcpyHtoDAsync_v2 / cuMemcpyHtoDAsync_v2_ptsz(
        call, to: CUdeviceptr, from: Memory, size: usize, stream: CUstream,
    ) {
        Copy::flat(Side::device(to), Side::host(from.address()), size).submit_to(&call.stream(stream)?)
    }

    fn cuMemcpyDtoH_v2 / cuMemcpyDtoH_v2_ptds(call, to: Memory, from: CUdeviceptr, size: usize) {
        Copy::flat(Side::host(to.address()), Side::device(from), size).run_in(&call.default_stream()?)
    }

    fn cuMemcpyDtoHAsync_v2 / cuMemcpyDtoHAsync_v2_ptsz(
        call, to: Memory, from: CUdeviceptr, size: usize, stream: CUstream,
    ) {
        Copy::flat(Side::host(to.address()), Side::device(from), size).submit_to(&call.stream(stream)?)
    }

    fn cuMemcpyDtoD_v2 / cuMemcpyDtoD_v2_ptds(call, to: CUdeviceptr, from: CUdeviceptr, size: usize) {
        Copy::flat(Side::device(to), Side::device(from), size).run_in(&call.default_stream()?)
    }

    fn cuMemcpyDtoDAsync_v2 / cuMemcpyDtoDAsync_v2_ptsz(
        call, to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream,
    ) {
        Copy::flat(Side::device(to), Side::device(from), size).submit_to(&call.stream(stream)?)
    }

    fn cuMemcpyPeer / cuMemcpyPeer_ptds(
        call, to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, size: usize,
    ) {
        peers(to_context, from_context)?;
        Copy::flat(Side::device(to), Side::device(from), size).run_in(&call.default_stream()?)
    }

    fn cuMemcpyPeerAsync / cuMemcpyPeerAsync_ptsz(
        call, to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, size: usize,
        stream: CUstream,
    ) {
        peers(to_context, from_context)?;
        Copy::flat(Side::device(to), Side::device(from), size).submit_to(&call.stream(stream)?)
    }

    fn cuMemcpy2D_v2 / cuMemcpy2D_v2_ptds(call, copy: In<CUDA_MEMCPY2D>) {
        Copy::two_dimensional(&copy.get()?)?.run_in(&call.default_stream()?)
    }

    fn cuMemcpy2DUnaligned_v2 / cuMemcpy2DUnaligned_v2_ptds(call, copy: In<CUDA_MEMCPY2D>) {
        Copy::two_dimensional(&copy.get()?)?.run_in(&call.default_stream()?)
    }

    fn cuMemcpy2DAsync_v2 / cuMemcpy2DAsync_v2_ptsz(call, copy: In<CUDA_MEMCPY2D>, stream: CUstream) {
        Copy::two_dimensional(&copy.get()?)?.submit_to(&call.stream(stream)?)
    }

    fn cuMemcpy3D_v2 / cuMemcpy3D_v2_ptds(call, copy: In<CUDA_MEMCPY3D>) {
        Copy::three_dimensional(&copy.get()?)?.run_in(&call.default_stream()?)
    }

    fn cuMemcpy3DAsync_v2 / cuMemcpy3DAsync_v2_ptsz(call, copy: In<CUDA_MEMCPY3D>, stream: CUstream) {
        Copy::three_dimensional(&copy.get()?)?.submit_to(&call.stream(stream)?)
    }

    fn cuMemcpy3DPeer / cuMemcpy3DPeer_ptds(call, copy: In<CUDA_MEMCPY3D>) {
        let copy = copy.get()?;
        peers(copy.dst_context, copy.src_context)?;
        Copy::three_dimensional(&copy)?.run_in(&call.default_stream()?)
    }

    fn cuMemcpy3DPeerAsync / cuMemcpy3DPeerAsync_ptsz(call, copy: In<CUDA_MEMCPY3D>, stream: CUstream) {
        let copy = copy.get()?;
        peers(copy.dst_context, copy.src_context)?;
        Copy::three_dimensional(&copy)?.submit_to(&call.stream(stream)?)
    }
}
