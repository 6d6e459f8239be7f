//! Filling memory with a value.

use super::entry::{Call, entry};
use crate::abi::{CUdeviceptr, CUstream, Result};
use crate::objects::work::MemoryWork;
use crate::objects::work::fill::Fill;

#[entry(per_thread = cuMemsetD8_v2_ptds)]
fn cuMemsetD8_v2(call: &Call, to: CUdeviceptr, value: u8, count: usize) -> Result {
    Fill::flat(to, 1, value.into(), count).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemsetD8Async_ptsz)]
fn cuMemsetD8Async(call: &Call, to: CUdeviceptr, value: u8, count: usize, stream: CUstream) -> Result {
    Fill::flat(to, 1, value.into(), count).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemsetD2D8_v2_ptds)]
fn cuMemsetD2D8_v2(
    call: &Call,
    to: CUdeviceptr,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
) -> Result {
    Fill::rows(to, pitch, 1, value.into(), width, height).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemsetD2D8Async_ptsz)]
fn cuMemsetD2D8Async(
    call: &Call,
    to: CUdeviceptr,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Result {
    Fill::rows(to, pitch, 1, value.into(), width, height).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemsetD16_v2_ptds)]
fn cuMemsetD16_v2(call: &Call, to: CUdeviceptr, value: u16, count: usize) -> Result {
    Fill::flat(to, 2, value.into(), count).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemsetD16Async_ptsz)]
fn cuMemsetD16Async(call: &Call, to: CUdeviceptr, value: u16, count: usize, stream: CUstream) -> Result {
    Fill::flat(to, 2, value.into(), count).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemsetD2D16_v2_ptds)]
fn cuMemsetD2D16_v2(
    call: &Call,
    to: CUdeviceptr,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
) -> Result {
    Fill::rows(to, pitch, 2, value.into(), width, height).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemsetD2D16Async_ptsz)]
fn cuMemsetD2D16Async(
    call: &Call,
    to: CUdeviceptr,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Result {
    Fill::rows(to, pitch, 2, value.into(), width, height).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemsetD32_v2_ptds)]
fn cuMemsetD32_v2(call: &Call, to: CUdeviceptr, value: u32, count: usize) -> Result {
    Fill::flat(to, 4, value, count).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemsetD32Async_ptsz)]
fn cuMemsetD32Async(call: &Call, to: CUdeviceptr, value: u32, count: usize, stream: CUstream) -> Result {
    Fill::flat(to, 4, value, count).submit_to(&call.stream(stream)?)
}

#[entry(per_thread = cuMemsetD2D32_v2_ptds)]
fn cuMemsetD2D32_v2(
    call: &Call,
    to: CUdeviceptr,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
) -> Result {
    Fill::rows(to, pitch, 4, value, width, height).run_in(&call.default_stream()?)
}

#[entry(per_thread = cuMemsetD2D32Async_ptsz)]
fn cuMemsetD2D32Async(
    call: &Call,
    to: CUdeviceptr,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Result {
    Fill::rows(to, pitch, 4, value, width, height).submit_to(&call.stream(stream)?)
}
