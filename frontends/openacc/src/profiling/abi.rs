//! The layouts of `acc_prof.h`. Those of version 2.6 of the specification are those of 3.3, which has an event
//! more: errors.

use std::ffi::{c_char, c_void};

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
#[expect(missing_docs, reason = "the specification's names say it")]
pub enum Event {
    None = 0,
    DeviceInitStart,
    DeviceInitEnd,
    DeviceShutdownStart,
    DeviceShutdownEnd,
    RuntimeShutdown,
    Create,
    Delete,
    Alloc,
    Free,
    EnterDataStart,
    EnterDataEnd,
    ExitDataStart,
    ExitDataEnd,
    UpdateStart,
    UpdateEnd,
    ComputeConstructStart,
    ComputeConstructEnd,
    EnqueueLaunchStart,
    EnqueueLaunchEnd,
    EnqueueUploadStart,
    EnqueueUploadEnd,
    EnqueueDownloadStart,
    EnqueueDownloadEnd,
    WaitStart,
    WaitEnd,
    /// The program is about to end.
    Error = 100,
}

/// How many events there are, [`Event::None`] among them.
pub(super) const EVENTS: usize = Event::WaitEnd as usize + 2;

impl Event {
    /// The place of an event in arrays that have [`EVENTS`] elements, by its number.
    pub(super) fn place(number: i32) -> Option<usize> {
        const LAST: i32 = Event::WaitEnd as i32;
        const ERROR: i32 = Event::Error as i32;
        match number {
            ERROR => Some(EVENTS - 1),
            0..=LAST => usize::try_from(number).ok(),
            _ => None,
        }
    }

    /// Whether the one at a place is the end of something: its callbacks are called in reverse order.
    pub(super) const fn is_end(place: usize) -> bool {
        const ENDS: u32 = 1 << Event::DeviceInitEnd as u32
            | 1 << Event::DeviceShutdownEnd as u32
            | 1 << Event::EnterDataEnd as u32
            | 1 << Event::ExitDataEnd as u32
            | 1 << Event::UpdateEnd as u32
            | 1 << Event::ComputeConstructEnd as u32
            | 1 << Event::EnqueueLaunchEnd as u32
            | 1 << Event::EnqueueUploadEnd as u32
            | 1 << Event::EnqueueDownloadEnd as u32
            | 1 << Event::WaitEnd as u32;
        ENDS >> place & 1 != 0
    }
}

/// What an event is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
#[expect(missing_docs, reason = "the specification's names say it")]
pub enum Construct {
    Parallel = 0,
    Kernels,
    Loop,
    Data,
    EnterData,
    ExitData,
    HostData,
    Atomic,
    Declare,
    Init,
    Shutdown,
    Set,
    Update,
    Routine,
    Wait,
    RuntimeApi,
    Serial,
}

/// What is wrong (`acc_error_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
#[expect(missing_docs, reason = "the specification's names say it")]
pub enum ErrorCode {
    Other = 1,
    System,
    Execution,
    DeviceInit,
    DeviceShutdown,
    DeviceUnavailable,
    DeviceTypeUnavailable,
    WrongDeviceType,
    OutOfMemory,
    NotPresent,
    PartlyPresent,
    Present,
    InvalidArgument,
    InvalidAsync,
    InvalidNullPointer,
    InvalidDataSection,
}

/// `acc_device_api_none`, `acc_device_api_cuda` and `acc_device_api_other`.
pub(super) const API_NONE: i32 = 0;
pub(super) const API_CUDA: i32 = 1;
pub(super) const API_OTHER: i32 = 4;

/// `acc_prof_info`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ProfInfo {
    pub(super) event_type: i32,
    pub(super) valid_bytes: i32,
    pub(super) version: i32,
    pub(super) device_type: i32,
    pub(super) device_number: i32,
    pub(super) thread_id: i32,
    pub(super) asynchronous: isize,
    pub(super) queue: isize,
    pub(super) source_file: *const c_char,
    pub(super) function: *const c_char,
    pub(super) lines: [i32; 4],
}

/// `acc_data_event_info`, `acc_launch_event_info` and `acc_other_event_info`, which begin alike.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct EventInfo {
    pub(super) event_type: i32,
    pub(super) valid_bytes: i32,
    pub(super) parent: i32,
    pub(super) implicit: i32,
    pub(super) tool_info: *mut c_void,
    /// Name of the variable or kernel.
    pub(super) name: *const c_char,
    /// Bytes, address on the host, address on the device; or gangs, workers, vector length.
    pub(super) words: [usize; 3],
}

/// `acc_error_event_info`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct ErrorInfo {
    pub event_type: i32,
    pub valid_bytes: i32,
    pub parent: i32,
    pub implicit: i32,
    pub tool_info: *mut c_void,
    pub code: i32,
    pub message: *const c_char,
    /// What the driver says; 0 where it does not.
    pub runtime_information: usize,
}

/// `acc_api_info`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ApiInfo {
    pub(super) device_api: i32,
    pub(super) valid_bytes: i32,
    pub(super) device_type: i32,
    pub(super) vendor: i32,
    pub(super) device_handle: *const c_void,
    pub(super) context_handle: *const c_void,
    pub(super) async_handle: *const c_void,
}

const _: () = assert!(size_of::<ProfInfo>() == 72 && std::mem::offset_of!(ProfInfo, source_file) == 40);
const _: () = assert!(size_of::<EventInfo>() == 56 && std::mem::offset_of!(EventInfo, words) == 32);
const _: () = assert!(size_of::<ErrorInfo>() == 48 && std::mem::offset_of!(ErrorInfo, message) == 32);
const _: () = assert!(size_of::<ApiInfo>() == 40 && std::mem::offset_of!(ApiInfo, device_handle) == 16);

/// Bytes of [`EventInfo`] that an event without more to say has.
const COMMON: i32 = 24;

impl EventInfo {
    /// Nothing but what it is part of.
    pub(super) const fn new(parent: Construct, implicit: bool) -> Self {
        Self {
            event_type: -1,
            valid_bytes: COMMON,
            parent: parent as i32,
            implicit: implicit as i32,
            tool_info: std::ptr::null_mut(),
            name: std::ptr::null(),
            words: [0; 3],
        }
    }

    /// With a name and words.
    pub(super) const fn with(self, name: *const c_char, words: [usize; 3]) -> Self {
        Self { valid_bytes: size_of::<Self>() as i32, name, words, ..self }
    }
}

/// `acc_prof_callback`.
pub type Callback = unsafe extern "C" fn(*mut ProfInfo, *mut EventInfo, *mut ApiInfo);
