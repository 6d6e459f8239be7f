//! Filling memory with a value.

use crate::entry::entries;
use crate::fill::Fill;
use crate::types::{CUdeviceptr, CUstream};

entries! {
    fn cuMemsetD8_v2 / cuMemsetD8_v2_ptds(call, to: CUdeviceptr, value: u8, count: usize) {
        Fill::flat(to, 1, value.into(), count).run_in(&call.default_stream()?)
    }

    fn cuMemsetD8Async / cuMemsetD8Async_ptsz(
        call, to: CUdeviceptr, value: u8, count: usize, stream: CUstream,
    ) {
        Fill::flat(to, 1, value.into(), count).submit_to(&call.stream(stream)?)
    }

    fn cuMemsetD2D8_v2 / cuMemsetD2D8_v2_ptds(
        call, to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize,
    ) {
        Fill::rows(to, pitch, 1, value.into(), width, height).run_in(&call.default_stream()?)
    }

    fn cuMemsetD2D8Async / cuMemsetD2D8Async_ptsz(
        call, to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize, stream: CUstream,
    ) {
        Fill::rows(to, pitch, 1, value.into(), width, height).submit_to(&call.stream(stream)?)
    }

    fn cuMemsetD16_v2 / cuMemsetD16_v2_ptds(call, to: CUdeviceptr, value: u16, count: usize) {
        Fill::flat(to, 2, value.into(), count).run_in(&call.default_stream()?)
    }

    fn cuMemsetD16Async / cuMemsetD16Async_ptsz(
        call, to: CUdeviceptr, value: u16, count: usize, stream: CUstream,
    ) {
        Fill::flat(to, 2, value.into(), count).submit_to(&call.stream(stream)?)
    }

    fn cuMemsetD2D16_v2 / cuMemsetD2D16_v2_ptds(
        call, to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize,
    ) {
        Fill::rows(to, pitch, 2, value.into(), width, height).run_in(&call.default_stream()?)
    }

    fn cuMemsetD2D16Async / cuMemsetD2D16Async_ptsz(
        call, to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize, stream: CUstream,
    ) {
        Fill::rows(to, pitch, 2, value.into(), width, height).submit_to(&call.stream(stream)?)
    }

    fn cuMemsetD32_v2 / cuMemsetD32_v2_ptds(call, to: CUdeviceptr, value: u32, count: usize) {
        Fill::flat(to, 4, value, count).run_in(&call.default_stream()?)
    }

    fn cuMemsetD32Async / cuMemsetD32Async_ptsz(
        call, to: CUdeviceptr, value: u32, count: usize, stream: CUstream,
    ) {
        Fill::flat(to, 4, value, count).submit_to(&call.stream(stream)?)
    }

    fn cuMemsetD2D32_v2 / cuMemsetD2D32_v2_ptds(
        call, to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize,
    ) {
        Fill::rows(to, pitch, 4, value, width, height).run_in(&call.default_stream()?)
    }

    fn cuMemsetD2D32Async / cuMemsetD2D32Async_ptsz(
        call, to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize, stream: CUstream,
    ) {
        Fill::rows(to, pitch, 4, value, width, height).submit_to(&call.stream(stream)?)
    }
}
