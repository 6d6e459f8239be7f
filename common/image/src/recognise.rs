//! What an image is, from its first bytes.
//!
//! The runtime asks this for every image at process start, and a back end decides
//! with the answer whether the image is its own.

use std::fmt;

use crate::bytes::Bytes;
use crate::elf::Elf;
use crate::error::{Error, Result};
use crate::{fatbin, gcn_object, offload_binary, ptx, ptx_objects};

/// A kind of device image, with what its header tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind<'a> {
    Elf(Elf),
    Ptx(ptx::Header<'a>),
    /// LLVM bitcode; only LLVM itself can say more.
    Bitcode,
    SpirV {
        major: u8,
        minor: u8,
    },
    /// A CUDA fat binary: PTX and cubins for several processors.
    CudaFatBinary,
    /// PTX texts that are to be linked, as a front end joins GCC's.
    PtxObjects {
        count: u64,
    },
    /// A code object of GCC's for AMD's GPUs, as a front end joins it with what the program says of it.
    GcnObject(Elf),
    /// LLVM's container, for which the runtime is normally given the content.
    OffloadBinary,
    /// clang's older bundle of images.
    ClangBundle {
        compressed: bool,
    },
}

/// Says what `bytes` is and checks that it is all there.
///
/// Looks at headers only: every table and extent that an ELF header names must lie
/// within the slice, and so must the declared size of the containers. Symbols and
/// code are not looked at. Allocates only to describe an error.
pub fn recognise(bytes: &[u8]) -> Result<ImageKind<'_>> {
    match bytes {
        [0x7f, b'E', b'L', b'F', ..] => Elf::parse(bytes).map(ImageKind::Elf),
        [b'B', b'C', 0xc0, 0xde, ..] => Ok(ImageKind::Bitcode),
        [0xde, 0xc0, 0x17, 0x0b, ..] => wrapped_bitcode(Bytes(bytes)),
        [0x03, 0x02, 0x23, 0x07, ..] => spirv(Bytes(bytes)),
        [0x10, 0xff, 0x10, 0xad, ..] => {
            offload_binary::declared_size(bytes)?;
            Ok(ImageKind::OffloadBinary)
        }
        [b'C', b'C', b'O', b'B', ..] => Ok(ImageKind::ClangBundle { compressed: true }),
        _ if bytes.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") => {
            Ok(ImageKind::ClangBundle { compressed: false })
        }
        _ if fatbin::is_fatbin(bytes) => {
            fatbin::declared_size(bytes)?;
            Ok(ImageKind::CudaFatBinary)
        }
        _ if ptx_objects::is_ptx_objects(bytes) => {
            ptx_objects::count(bytes).map(|count| ImageKind::PtxObjects { count })
        }
        _ if gcn_object::is_gcn_object(bytes) => {
            Elf::parse(gcn_object::parts(bytes)?.code).map(ImageKind::GcnObject)
        }
        _ => match ptx::Header::parse(bytes)? {
            Some(header) => Ok(ImageKind::Ptx(header)),
            None => Err(unrecognised(bytes)),
        },
    }
}

fn unrecognised(bytes: &[u8]) -> Error {
    let mut start = [0; 8];
    let shown = bytes.len().min(start.len());
    start[..shown].copy_from_slice(&bytes[..shown]);
    Error::Unrecognised { start, length: bytes.len() as u64 }
}

fn wrapped_bitcode(bytes: Bytes<'_>) -> Result<ImageKind<'_>> {
    let offset = u64::from(bytes.u32("the bitcode wrapper", 8)?);
    let size = u64::from(bytes.u32("the bitcode wrapper", 12)?);
    bytes.slice("the wrapped bitcode", offset, size)?;
    Ok(ImageKind::Bitcode)
}

fn spirv(bytes: Bytes<'_>) -> Result<ImageKind<'_>> {
    bytes.slice("the SPIR-V header", 0, 20)?;
    let version = bytes.u32("the SPIR-V version", 4)?;
    if !bytes.0.len().is_multiple_of(4) {
        return Err(Error::malformed(
            "the size of the SPIR-V module",
            0,
            "a multiple of 4",
            bytes.0.len().to_string(),
        ));
    }
    Ok(ImageKind::SpirV { major: (version >> 16) as u8, minor: (version >> 8) as u8 })
}

impl ImageKind<'_> {
    /// A stable word for scripts.
    pub fn label(&self) -> &'static str {
        match self {
            ImageKind::Elf(_) => "elf",
            ImageKind::Ptx(_) => "ptx",
            ImageKind::Bitcode => "bitcode",
            ImageKind::SpirV { .. } => "spirv",
            ImageKind::CudaFatBinary => "cuda-fatbin",
            ImageKind::PtxObjects { .. } => "ptx-objects",
            ImageKind::GcnObject(_) => "gcn-object",
            ImageKind::OffloadBinary => "offload-binary",
            ImageKind::ClangBundle { .. } => "clang-bundle",
        }
    }

    /// The processor that the image itself names, if it does.
    pub fn processor(&self) -> Option<String> {
        match self {
            ImageKind::Elf(elf) | ImageKind::GcnObject(elf) => elf.processor(),
            ImageKind::Ptx(header) => Some(header.target.to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for ImageKind<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageKind::Elf(elf) | ImageKind::GcnObject(elf) => {
                write!(out, "ELF {} for {}", elf.file_type, elf.machine)
            }
            ImageKind::Ptx(header) => write!(out, "PTX {}.{}", header.version.0, header.version.1),
            ImageKind::Bitcode => out.write_str("LLVM bitcode"),
            ImageKind::SpirV { major, minor } => write!(out, "SPIR-V {major}.{minor}"),
            ImageKind::CudaFatBinary => out.write_str("CUDA fat binary"),
            ImageKind::PtxObjects { count } => write!(out, "PTX in {count} parts"),
            ImageKind::OffloadBinary => out.write_str("offload binary"),
            ImageKind::ClangBundle { compressed: false } => out.write_str("clang offload bundle"),
            ImageKind::ClangBundle { compressed: true } => out.write_str("compressed clang offload bundle"),
        }
    }
}
