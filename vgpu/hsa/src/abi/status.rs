//! Statuses: `hsa_status_t` with AMD's additions.

use std::ffi::CStr;

/// The result of a call; any number may come back from a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(pub u32);

/// Success, or the status that a call answers.
pub type Result<T = ()> = std::result::Result<T, Status>;

macro_rules! statuses {
    ($($name:ident = $number:literal, $text:literal;)+) => {
        impl Status {
            $(pub const $name: Self = Self($number);)+

            /// What `hsa_status_string` answers; `None` for a number that is no status.
            #[must_use]
            pub const fn text(self) -> Option<&'static CStr> {
                match self {
                    $(Self::$name => Some($text),)+
                    _ => None,
                }
            }
        }
    };
}

// Whoever compares texts with ROCm's finds this one's words: INVALID_ALLOCATION, which libgomp's tests look for.
statuses! {
    SUCCESS = 0, c"HSA_STATUS_SUCCESS: the function has been executed successfully";
    INFO_BREAK = 1, c"HSA_STATUS_INFO_BREAK: a callback has ended a traversal of a list";
    ERROR_INVALID_MEMORY_POOL = 40, c"HSA_STATUS_ERROR_INVALID_MEMORY_POOL: the memory pool is invalid";
    ERROR_MEMORY_APERTURE_VIOLATION = 41, c"HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: a kernel has accessed memory beyond the largest legal address";
    ERROR_ILLEGAL_INSTRUCTION = 42, c"HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: a kernel has come to an instruction that is not valid";
    ERROR_MEMORY_FAULT = 43, c"HSA_STATUS_ERROR_MEMORY_FAULT: a kernel has accessed memory that it must not";
    CU_MASK_REDUCED = 44, c"HSA_STATUS_CU_MASK_REDUCED: the mask of compute units has been set, but not all of them can be enabled";
    ERROR_OUT_OF_REGISTERS = 45, c"HSA_STATUS_ERROR_OUT_OF_REGISTERS: the kernel needs more vector registers than the agent has";
    ERROR_RESOURCE_BUSY = 46, c"HSA_STATUS_ERROR_RESOURCE_BUSY: the resource is busy or not available for the time being";
    ERROR_NOT_SUPPORTED = 47, c"HSA_STATUS_ERROR_NOT_SUPPORTED: the request is not supported by this system";
    ERROR = 0x1000, c"HSA_STATUS_ERROR: a generic error has occurred";
    ERROR_INVALID_ARGUMENT = 0x1001, c"HSA_STATUS_ERROR_INVALID_ARGUMENT: one of the arguments does not meet a precondition stated in the documentation of the function";
    ERROR_INVALID_QUEUE_CREATION = 0x1002, c"HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: the requested queue is not one that the agent supports";
    ERROR_INVALID_ALLOCATION = 0x1003, c"HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid.";
    ERROR_INVALID_AGENT = 0x1004, c"HSA_STATUS_ERROR_INVALID_AGENT: the agent is invalid";
    ERROR_INVALID_REGION = 0x1005, c"HSA_STATUS_ERROR_INVALID_REGION: the memory region is invalid";
    ERROR_INVALID_SIGNAL = 0x1006, c"HSA_STATUS_ERROR_INVALID_SIGNAL: the signal is invalid";
    ERROR_INVALID_QUEUE = 0x1007, c"HSA_STATUS_ERROR_INVALID_QUEUE: the queue is invalid";
    ERROR_OUT_OF_RESOURCES = 0x1008, c"HSA_STATUS_ERROR_OUT_OF_RESOURCES: the runtime could not allocate the resources that it needs";
    ERROR_INVALID_PACKET_FORMAT = 0x1009, c"HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: the AQL packet is malformed";
    ERROR_RESOURCE_FREE = 0x100A, c"HSA_STATUS_ERROR_RESOURCE_FREE: an error has been found while a resource was released";
    ERROR_NOT_INITIALIZED = 0x100B, c"HSA_STATUS_ERROR_NOT_INITIALIZED: the runtime has not been initialized";
    ERROR_REFCOUNT_OVERFLOW = 0x100C, c"HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: the reference count is at its largest value";
    ERROR_INCOMPATIBLE_ARGUMENTS = 0x100D, c"HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: the arguments are not compatible with each other";
    ERROR_INVALID_INDEX = 0x100E, c"HSA_STATUS_ERROR_INVALID_INDEX: the index is invalid";
    ERROR_INVALID_ISA = 0x100F, c"HSA_STATUS_ERROR_INVALID_ISA: the instruction set architecture is invalid";
    ERROR_INVALID_CODE_OBJECT = 0x1010, c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT: the code object is invalid";
    ERROR_INVALID_EXECUTABLE = 0x1011, c"HSA_STATUS_ERROR_INVALID_EXECUTABLE: the executable is invalid";
    ERROR_FROZEN_EXECUTABLE = 0x1012, c"HSA_STATUS_ERROR_FROZEN_EXECUTABLE: the executable is frozen";
    ERROR_INVALID_SYMBOL_NAME = 0x1013, c"HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: there is no symbol with the name";
    ERROR_VARIABLE_ALREADY_DEFINED = 0x1014, c"HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: the variable is defined already";
    ERROR_VARIABLE_UNDEFINED = 0x1015, c"HSA_STATUS_ERROR_VARIABLE_UNDEFINED: the variable is undefined";
    ERROR_EXCEPTION = 0x1016, c"HSA_STATUS_ERROR_EXCEPTION: a kernel has raised an exception";
    ERROR_INVALID_ISA_NAME = 0x1017, c"HSA_STATUS_ERROR_INVALID_ISA_NAME: there is no instruction set architecture with the name";
    ERROR_INVALID_CODE_SYMBOL = 0x1018, c"HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: the code object's symbol is invalid";
    ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019, c"HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: the executable's symbol is invalid";
    ERROR_INVALID_FILE = 0x1020, c"HSA_STATUS_ERROR_INVALID_FILE: the file descriptor is invalid";
    ERROR_INVALID_CODE_OBJECT_READER = 0x1021, c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: the code object reader is invalid";
    ERROR_INVALID_CACHE = 0x1022, c"HSA_STATUS_ERROR_INVALID_CACHE: the cache is invalid";
    ERROR_INVALID_WAVEFRONT = 0x1023, c"HSA_STATUS_ERROR_INVALID_WAVEFRONT: the wavefront is invalid";
    ERROR_INVALID_SIGNAL_GROUP = 0x1024, c"HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: the signal group is invalid";
    ERROR_INVALID_RUNTIME_STATE = 0x1025, c"HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: the runtime is not in the configuration state";
    ERROR_FATAL = 0x1026, c"HSA_STATUS_ERROR_FATAL: the queue has come to an error that it cannot recover from";
}

impl Status {
    /// Success or this status, of a callback.
    pub fn result(self) -> Result {
        if self == Self::SUCCESS { Ok(()) } else { Err(self) }
    }

    /// The constant's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let text = self.text().and_then(|text| text.to_str().ok()).unwrap_or("a number that is no status");
        text.split(':').next().unwrap_or(text)
    }
}
