//! Memory and events of other processes. There is no sharing between processes: device
//! memory is the process's own.

use crate::entry::entries;
use crate::error::Status;
use crate::memory;
use crate::pointer::{Memory, Out};
use crate::types::{CUdeviceptr, CUipcHandle};

entries! {
    fn cuIpcGetMemHandle(call, _handle: Out<CUipcHandle>, address: CUdeviceptr) {
        call.context()?;
        memory::find(address).ok_or(Status::INVALID_VALUE)?;
        Err(Status::NOT_SUPPORTED)
    }

    fn cuIpcOpenMemHandle(call, _address: Out<CUdeviceptr>, _handle: CUipcHandle, _flags: u32) {
        call.context()?;
        Err(Status::NOT_SUPPORTED)
    }

    fn cuIpcOpenMemHandle_v2(call, _address: Out<CUdeviceptr>, _handle: CUipcHandle, _flags: u32) {
        call.context()?;
        Err(Status::NOT_SUPPORTED)
    }

    fn cuIpcCloseMemHandle(call, _address: CUdeviceptr) {
        call.context()?;
        Err(Status::INVALID_VALUE)
    }

    fn cuIpcGetEventHandle(call, _handle: Out<CUipcHandle>, _event: Memory) {
        call.context()?;
        Err(Status::NOT_SUPPORTED)
    }

    fn cuIpcOpenEventHandle(call, _event: Out<usize>, _handle: CUipcHandle) {
        call.context()?;
        Err(Status::NOT_SUPPORTED)
    }
}
