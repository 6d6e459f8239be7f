//! A whole image, checked.

use std::collections::HashMap;
use std::ops::Range;

use object::elf;

use crate::bytes;
use crate::descriptor::{self, Descriptor};
use crate::dynamic::{Dynamic, Relocation, Symbol};
use crate::error::{Error, Result};
use crate::metadata::{KernelMetadata, Metadata};
use crate::segment::{Headers, Segment};
use crate::target::{Target, Version};

/// The type of the note with the metadata, of the owner "AMDGPU".
const NT_AMDGPU_METADATA: u32 = 32;
const ELFOSABI_AMDGPU_HSA: u8 = 64;

/// A linked image. All addresses are relative to where it is loaded.
#[derive(Clone, Debug)]
pub struct CodeObject<'a> {
    pub version: Version,
    pub target: Target,
    /// In the order of their addresses, apart from each other.
    pub segments: Vec<Segment<'a>>,
    /// What nothing writes once the image is loaded, as far as the image says so.
    pub constant: Vec<Range<u64>>,
    /// How much memory the segments take, from address 0.
    pub memory_size: u64,
    pub symbols: Vec<Symbol<'a>>,
    pub relocations: Vec<Relocation>,
    pub metadata: Metadata,
    /// In the metadata's order.
    pub kernels: Vec<Kernel>,
}

/// A kernel: what its descriptor says, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its place in [`Metadata::kernels`].
    pub index: usize,
    pub name: String,
    /// Where the descriptor is.
    pub descriptor_address: u64,
    pub descriptor: Descriptor,
    /// Where the code begins; in an executable segment.
    pub entry: u64,
}

impl<'a> CodeObject<'a> {
    /// Reads and checks an image.
    ///
    /// # Errors
    /// It is no linked code object of version 3 to 6, or a damaged one.
    pub fn read(image: &'a [u8]) -> Result<Self> {
        let (version, target) = header(image)?;
        let headers = Headers::read(image)?;
        let Dynamic { symbols, relocations } = Dynamic::read(&headers)?;
        let metadata = metadata(&headers)?;
        let defined = symbols.iter().filter(|symbol| symbol.defined);
        let by_name: HashMap<&str, &Symbol<'_>> = defined.map(|symbol| (symbol.name, symbol)).collect();
        let kernels = metadata.kernels.iter().enumerate();
        let kernels = kernels.map(|(index, said)| {
            let symbol = by_name.get(said.symbol.as_str());
            let symbol = symbol.ok_or_else(|| Error::missing("kernel descriptor", &said.symbol))?;
            kernel(index, said, &headers, symbol, &target)
        });
        let kernels = kernels.collect::<Result<_>>()?;
        Ok(Self {
            version,
            target,
            memory_size: headers.memory_size(),
            constant: headers.constant(),
            kernels,
            segments: headers.loaded,
            symbols,
            relocations,
            metadata,
        })
    }

    /// A symbol that the image has.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&Symbol<'a>> {
        self.symbols.iter().find(|symbol| symbol.defined && symbol.name == name)
    }

    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// What the metadata says of a kernel of this image.
    #[must_use]
    pub fn said(&self, kernel: &Kernel) -> &KernelMetadata {
        &self.metadata.kernels[kernel.index]
    }

    /// The code from an address to the end of its segment's data; none if nothing is executable there.
    #[must_use]
    pub fn code_at(&self, address: u64) -> Option<&'a [u8]> {
        let segment = self.segments.iter().find(|segment| segment.contains(address, 1))?;
        let offset = usize::try_from(address - segment.address).ok()?;
        segment.data.get(offset..).filter(|_| segment.access.executes)
    }
}

/// The ELF header.
fn header(image: &[u8]) -> Result<(Version, Target)> {
    let what = "the ELF header";
    let identification: [u8; 16] = bytes::array(image, what, 0)?;
    bytes::slice(image, what, 0, 64)?;
    if identification[..4] != elf::ELFMAG {
        return Err(Error::malformed(what, "something else", "\\x7fELF"));
    }
    let [_, _, _, _, class, order, _, system, abi, ..] = identification;
    if (class, order) != (elf::ELFCLASS64, elf::ELFDATA2LSB) {
        return Err(Error::unsupported(what, "of another class", "64-bit little-endian images"));
    }
    let machine = bytes::u16(image, what, 18)?;
    if machine != elf::EM_AMDGPU {
        return Err(Error::unsupported("the machine", machine.to_string(), "AMD's GPUs (224)"));
    }
    if system != ELFOSABI_AMDGPU_HSA {
        return Err(Error::unsupported("the operating system", system.to_string(), "HSA (64)"));
    }
    let version = Version::from_abi(abi)?;
    let kind = bytes::u16(image, what, 16)?;
    if kind != elf::ET_DYN {
        return Err(Error::unsupported("the file's type", kind.to_string(), "linked images (3)"));
    }
    Ok((version, Target::from_flags(version, bytes::u32(image, what, 48)?)?))
}

/// The notes with metadata as if they were one: an image of several objects has one of each, and GCC makes one
/// for each kernel.
fn metadata(headers: &Headers<'_>) -> Result<Metadata> {
    let what = "a note";
    let mut all: Option<Metadata> = None;
    for mut rest in headers.notes.iter().copied() {
        while rest.len() >= 12 {
            let (name_size, size) = (bytes::u32(rest, what, 0)?, bytes::u32(rest, what, 4)?);
            let kind = bytes::u32(rest, what, 8)?;
            let name = bytes::slice(rest, "a note's name", 12, u64::from(name_size))?;
            let data_offset = (12 + u64::from(name_size)).next_multiple_of(4);
            let data = bytes::slice(rest, "a note's contents", data_offset, u64::from(size))?;
            if kind == NT_AMDGPU_METADATA && name == b"AMDGPU\0" {
                let one = Metadata::read(data)?;
                match &mut all {
                    Some(all) => all.append(one),
                    None => all = Some(one),
                }
            }
            let next = (data_offset + u64::from(size)).next_multiple_of(4);
            rest = usize::try_from(next).ok().and_then(|next| rest.get(next..)).unwrap_or_default();
        }
    }
    all.ok_or_else(|| Error::missing("note with metadata", ""))
}

fn kernel(
    index: usize,
    said: &KernelMetadata,
    headers: &Headers<'_>,
    symbol: &Symbol<'_>,
    target: &Target,
) -> Result<Kernel> {
    let fault = |what: String| Err(Error::Kernel { kernel: said.name.clone(), what: what.into() });
    let address = symbol.address;
    if symbol.size != descriptor::SIZE || !address.is_multiple_of(descriptor::ALIGNMENT) {
        return fault(format!("its descriptor has {} bytes at {address:#x}", symbol.size));
    }
    let data = headers.bytes_at("a kernel descriptor", address, descriptor::SIZE)?;
    let descriptor = Descriptor::read(data)?;
    let entry = address.wrapping_add_signed(descriptor.entry_offset);
    let segment = headers.loaded.iter().find(|segment| segment.contains(entry, 4));
    let executable = segment.is_some_and(|segment| {
        segment.access.executes && entry - segment.address + 4 <= segment.data.len() as u64
    });
    if !executable || !entry.is_multiple_of(descriptor::ENTRY_ALIGNMENT) {
        return fault(format!("its code would begin at {entry:#x}, where none is"));
    }
    if descriptor.kernarg_size != 0 && descriptor.kernarg_size != said.kernarg_segment_size {
        let (has, says) = (descriptor.kernarg_size, said.kernarg_segment_size);
        return fault(format!("its descriptor has {has} bytes of arguments, its metadata {says}"));
    }
    if descriptor.wavefront_size() != said.wavefront_size {
        return fault(format!("its descriptor has waves of {}", descriptor.wavefront_size()));
    }
    if descriptor.wavefront_size() == 32 && !target.has_wave32() {
        return fault("the processor has no waves of 32".to_owned());
    }
    if descriptor.properties.registers() > descriptor.rsrc2.user_sgprs() {
        return fault("more scalar registers are set than it has".to_owned());
    }
    Ok(Kernel { index, name: said.name.clone(), descriptor_address: address, descriptor, entry })
}
