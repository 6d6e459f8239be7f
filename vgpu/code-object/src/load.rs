//! A code object in memory: what a loader writes where.

use crate::code_object::CodeObject;
use crate::dynamic::{RelocationKind, Symbol, SymbolKind};
use crate::error::{Error, Result};
use crate::segment::Segment;

/// An image at an address. The memory of its [`CodeObject::memory_size`] bytes is zero at first; then
/// the segments are written, then the patches.
#[derive(Clone, Debug)]
pub struct Loaded<'o, 'a> {
    pub object: &'o CodeObject<'a>,
    pub base: u64,
    pub patches: Vec<Patch>,
}

/// A place that is written over when the addresses are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    pub address: u64,
    pub value: u64,
    /// How many of the value's bytes are written: at most 8.
    pub size: u8,
}

impl Patch {
    /// Hands what is written to a function.
    pub fn bytes<T>(&self, write: impl FnOnce(&[u8]) -> T) -> T {
        write(&self.value.to_le_bytes()[..usize::from(self.size.min(8))])
    }
}

impl<'o, 'a> Loaded<'o, 'a> {
    /// Lays an image out at `base`, which every segment's alignment must divide. `resolve` knows the
    /// addresses of symbols that the image does not have.
    ///
    /// # Errors
    /// The base is no such multiple, memory would go beyond the end of all addresses, or nobody has a
    /// symbol; a weak one is 0 then.
    pub fn new(
        object: &'o CodeObject<'a>,
        base: u64,
        mut resolve: impl FnMut(&Symbol<'a>) -> Option<u64>,
    ) -> Result<Self> {
        let align = object.segments.iter().map(|segment| segment.align).max().unwrap_or(1);
        if !base.is_multiple_of(align) || base.checked_add(object.memory_size).is_none() {
            return Err(Error::malformed(
                "the base address",
                format!("{base:#x}"),
                "a multiple of the alignment",
            ));
        }
        let mut patches = Vec::with_capacity(object.relocations.len());
        for relocation in &object.relocations {
            if relocation.kind == RelocationKind::None {
                continue;
            }
            let symbol = match relocation.symbol.and_then(|at| object.symbols.get(at)) {
                None => 0,
                Some(symbol) if !symbol.defined => match resolve(symbol) {
                    Some(address) => address,
                    None if symbol.weak || symbol.name.is_empty() => 0,
                    None => return Err(Error::missing("symbol", symbol.name)),
                },
                Some(symbol) if symbol.kind == SymbolKind::Absolute => symbol.address,
                Some(symbol) => base.wrapping_add(symbol.address),
            };
            // Every relocation lies in a segment: it was checked when the image was read.
            let address = base.wrapping_add(relocation.address);
            let value = relocation.kind.value(symbol, relocation.addend, address, base);
            patches.push(Patch { address, value, size: relocation.kind.size() as u8 });
        }
        Ok(Self { object, base, patches })
    }

    /// Where each segment is, and what of it.
    pub fn segments(&self) -> impl Iterator<Item = (u64, &'o Segment<'a>)> {
        let base = self.base;
        self.object.segments.iter().map(move |segment| (base.wrapping_add(segment.address), segment))
    }

    /// Hands all that is to be written to a function, in order; the memory is zero before.
    ///
    /// # Errors
    /// Those of the function.
    pub fn write<E>(
        &self,
        mut write: impl FnMut(u64, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for (address, segment) in self.segments() {
            write(address, segment.data)?;
        }
        self.patches.iter().try_for_each(|patch| patch.bytes(|bytes| write(patch.address, bytes)))
    }
}
