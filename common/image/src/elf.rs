//! The ELF header of a device image, and whether everything it points to is there.
//!
//! Called for every image at process start, so it looks at the header and at the two
//! header tables and at nothing else. Symbols and relocations are `details`' business.

use std::fmt;

use crate::amdgpu;
use crate::bytes::Bytes;
use crate::error::{Error, Result};

const HEADER: u64 = 64;
const SEGMENT: u64 = 56;
const SECTION: u64 = 64;
const LOAD: u32 = 1;
const NOBITS: u32 = 8;

/// What an ELF image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elf {
    pub machine: Machine,
    pub file_type: FileType,
    /// `e_flags`; its meaning depends on the machine.
    pub flags: u32,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    X86_64,
    Aarch64,
    PowerPc64,
    RiscV,
    LoongArch,
    S390,
    Nvptx,
    Amdgpu,
    Other(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// An object file: not linked yet.
    Relocatable,
    /// A program with fixed addresses; GPU images are of this type on NVIDIA.
    Executable,
    /// A shared object; what a host or AMD image must be.
    Shared,
    Other(u16),
}

impl Elf {
    pub fn parse(image: &[u8]) -> Result<Elf> {
        let bytes = Bytes(image);
        let header = bytes.slice("the ELF header", 0, HEADER)?;
        if header[4] != 2 {
            return Err(Error::Unsupported {
                what: "the ELF class",
                offset: 4,
                expected: "64-bit images",
                found: format!("{} (1 is 32-bit)", header[4]).into(),
            });
        }
        if header[5] != 1 {
            return Err(Error::Unsupported {
                what: "the ELF byte order",
                offset: 5,
                expected: "little-endian images",
                found: format!("{} (2 is big-endian)", header[5]).into(),
            });
        }
        check_segments(bytes)?;
        check_sections(bytes)?;
        Ok(Elf {
            machine: Machine::from_number(bytes.u16("the machine", 18)?),
            file_type: FileType::from_number(bytes.u16("the file type", 16)?),
            flags: bytes.u32("the flags", 48)?,
            abi_version: header[8],
        })
    }

    /// The processor that a GPU image was compiled for: `sm_80`, `gfx90a:xnack-`.
    pub fn processor(&self) -> Option<String> {
        match self.machine {
            Machine::Nvptx => Some(nvidia_processor(self.flags, self.abi_version)),
            Machine::Amdgpu => {
                let name = amdgpu::processor(self.flags)?;
                Some(std::iter::once(name).chain(amdgpu::features(self.flags)).collect())
            }
            _ => None,
        }
    }

    /// Whether this process could load the image as a shared object, or why not.
    pub fn check_loadable_here(&self) -> Result<()> {
        let native = Machine::native();
        if self.machine != native {
            return Err(Error::Unsupported {
                what: "the machine",
                offset: 18,
                expected: native.name(),
                found: self.machine.to_string().into(),
            });
        }
        if self.file_type != FileType::Shared {
            return Err(Error::Unsupported {
                what: "the file type",
                offset: 16,
                expected: "shared objects here",
                found: self.file_type.to_string().into(),
            });
        }
        Ok(())
    }
}

/// Every loaded segment must lie within the image, or loading it would map less than
/// the program needs.
fn check_segments(bytes: Bytes<'_>) -> Result<()> {
    let table = bytes.u64("the ELF header", 32)?;
    let size = u64::from(bytes.u16("the ELF header", 54)?);
    let count = u64::from(bytes.u16("the ELF header", 56)?);
    if count == 0 {
        return Ok(());
    }
    if size != SEGMENT {
        return Err(Error::malformed("the size of a program header", 54, "56", size.to_string()));
    }
    let headers = bytes.slice("the program header table", table, count * SEGMENT)?;
    for (number, header) in headers.chunks_exact(SEGMENT as usize).enumerate() {
        let header = Bytes(header);
        if header.u32("a program header", 0)? == LOAD {
            let at = table + number as u64 * SEGMENT;
            within("a loaded segment", at, header.u64("", 8)?, header.u64("", 32)?, bytes)?;
        }
    }
    Ok(())
}

fn check_sections(bytes: Bytes<'_>) -> Result<()> {
    let table = bytes.u64("the ELF header", 40)?;
    let size = u64::from(bytes.u16("the ELF header", 58)?);
    let mut count = u64::from(bytes.u16("the ELF header", 60)?);
    if table == 0 {
        return Ok(());
    }
    if size != SECTION {
        return Err(Error::malformed("the size of a section header", 58, "64", size.to_string()));
    }
    if count == 0 {
        // More sections than 16 bits hold: the first header's size has the number.
        let first = bytes.slice("the section header table", table, SECTION)?;
        count = Bytes(first).u64("the number of sections", 32)?;
    }
    let size = count.saturating_mul(SECTION);
    let headers = bytes.slice("the section header table", table, size)?;
    // The first header is reserved and describes no section.
    for (number, header) in headers.chunks_exact(SECTION as usize).enumerate().skip(1) {
        let header = Bytes(header);
        if !matches!(header.u32("a section header", 4)?, 0 | NOBITS) {
            let at = table + number as u64 * SECTION;
            within("a section", at, header.u64("", 24)?, header.u64("", 32)?, bytes)?;
        }
    }
    Ok(())
}

fn within(what: &'static str, header: u64, offset: u64, size: u64, bytes: Bytes<'_>) -> Result<()> {
    match offset.checked_add(size) {
        None => Err(Error::malformed(
            what,
            header,
            "an extent within the image",
            format!("{size:#x} bytes from {offset:#x}"),
        )),
        Some(_) => bytes.slice(what, offset, size).map(|_| ()),
    }
}

/// Up to ABI version 7 the low byte of the flags holds the number, later the second.
fn nvidia_processor(flags: u32, abi_version: u8) -> String {
    let (number, accelerated) = if abi_version >= 8 {
        (flags >> 8 & 0xff, flags & 0x8 != 0)
    } else {
        (flags & 0xff, flags & 0x800 != 0)
    };
    format!("sm_{number}{}", if accelerated { "a" } else { "" })
}

impl Machine {
    fn from_number(number: u16) -> Machine {
        match number {
            62 => Machine::X86_64,
            183 => Machine::Aarch64,
            21 => Machine::PowerPc64,
            243 => Machine::RiscV,
            258 => Machine::LoongArch,
            22 => Machine::S390,
            190 => Machine::Nvptx,
            224 => Machine::Amdgpu,
            other => Machine::Other(other),
        }
    }

    /// The machine that this code runs on.
    pub const fn native() -> Machine {
        if cfg!(target_arch = "x86_64") {
            Machine::X86_64
        } else if cfg!(target_arch = "aarch64") {
            Machine::Aarch64
        } else if cfg!(target_arch = "powerpc64") {
            Machine::PowerPc64
        } else if cfg!(target_arch = "riscv64") {
            Machine::RiscV
        } else {
            Machine::Other(0)
        }
    }

    pub const fn is_gpu(self) -> bool {
        matches!(self, Machine::Nvptx | Machine::Amdgpu)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86-64",
            Machine::Aarch64 => "aarch64",
            Machine::PowerPc64 => "powerpc64",
            Machine::RiscV => "riscv",
            Machine::LoongArch => "loongarch",
            Machine::S390 => "s390x",
            Machine::Nvptx => "nvptx",
            Machine::Amdgpu => "amdgpu",
            Machine::Other(_) => "another machine",
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Machine::Other(number) => write!(out, "machine {number}"),
            known => out.write_str(known.name()),
        }
    }
}

impl FileType {
    fn from_number(number: u16) -> FileType {
        match number {
            1 => FileType::Relocatable,
            2 => FileType::Executable,
            3 => FileType::Shared,
            other => FileType::Other(other),
        }
    }
}

impl fmt::Display for FileType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileType::Relocatable => out.write_str("object"),
            FileType::Executable => out.write_str("executable"),
            FileType::Shared => out.write_str("shared object"),
            FileType::Other(number) => write!(out, "type {number}"),
        }
    }
}
