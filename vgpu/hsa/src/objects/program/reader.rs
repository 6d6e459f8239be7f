//! Where code objects come from: memory, files, and what the older part of the API has taken over.

use std::fs::File;
use std::io::ErrorKind;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use gangway_code_object::CodeObject;

use crate::abi::handle::Kind;
use crate::abi::{Result, Status};
use crate::objects::process::report::report;
use crate::objects::table::Table;

/// A code object reader.
#[derive(Clone, Debug)]
pub enum Reader {
    /// The caller's memory, which stays as long as the reader.
    Memory { address: u64, size: usize },
    /// A file's contents.
    Bytes(Arc<[u8]>),
}

pub static READERS: Table<Reader> = Table::new(Kind::Reader);
/// Copies that `hsa_code_object_deserialize` has made.
pub static CODE_OBJECTS: Table<Reader> = Table::new(Kind::CodeObject);

/// A code object has at most so many bytes.
const LIMIT: u64 = 1 << 32;

impl Reader {
    /// Reads a file from its beginning, wherever the descriptor stands.
    pub fn from_file(descriptor: i32) -> Result<Self> {
        if descriptor < 0 {
            return Err(Status::ERROR_INVALID_FILE);
        }
        // SAFETY: the descriptor is the caller's and stays open for the call; it is not closed here.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
        let size = file.metadata().map_err(|_| Status::ERROR_INVALID_FILE)?.len();
        if size == 0 || size > LIMIT {
            return Err(Status::ERROR_INVALID_FILE);
        }
        let mut bytes = vec![0; size as usize];
        match file.read_exact_at(&mut bytes, 0) {
            Ok(()) => Ok(Self::Bytes(bytes.into())),
            Err(error) if error.kind() == ErrorKind::OutOfMemory => Err(Status::ERROR_OUT_OF_RESOURCES),
            Err(_) => Err(Status::ERROR_INVALID_FILE),
        }
    }

    pub fn from_memory(address: u64, size: usize) -> Result<Self> {
        if address == 0 || size == 0 || size as u64 > LIMIT {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        Ok(Self::Memory { address, size })
    }

    /// The same with a copy of the bytes.
    #[must_use]
    pub fn copied(self) -> Self {
        Self::Bytes(self.bytes().into())
    }

    /// The code object.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            // SAFETY: the caller has promised that so much is there, for as long as the reader is.
            Self::Memory { address, size } => unsafe {
                std::slice::from_raw_parts(std::ptr::with_exposed_provenance(*address as usize), *size)
            },
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Reads and checks it; what is wrong is told.
    pub fn parse(&self) -> Result<CodeObject<'_>> {
        CodeObject::read(self.bytes()).map_err(|error| {
            report!("a code object cannot be loaded: {error}");
            Status::ERROR_INVALID_CODE_OBJECT
        })
    }
}
