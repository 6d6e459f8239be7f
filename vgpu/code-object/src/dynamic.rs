//! What is found by name, and what is patched when the image is loaded.

use object::elf;

use crate::bytes;
use crate::error::{Error, Result};
use crate::segment::Headers;

const SYMBOL: u64 = 24;
const RELOCATION: u64 = 24;
/// More than any image has.
const COUNT: u64 = 1 << 22;

/// A symbol that is visible from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    pub name: &'a str,
    pub kind: SymbolKind,
    /// Relative to where the image is loaded; of an absolute symbol its value.
    pub address: u64,
    pub size: u64,
    /// Whether the image has it, or else somebody else must.
    pub defined: bool,
    pub weak: bool,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A variable or a kernel's descriptor.
    Object,
    Function,
    /// A number that is no address.
    Absolute,
    Other,
}

/// A place that is patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where, relative to where the image is loaded.
    pub address: u64,
    pub kind: RelocationKind,
    /// The symbol's place in [`crate::CodeObject::symbols`].
    pub symbol: Option<usize>,
    pub addend: i64,
}

macro_rules! relocations {
    ($($(#[$doc:meta])* $kind:ident = $number:literal, $size:literal;)*) => {
        /// How a place is patched (AMDGPU guide, "Relocation Records"). S is the symbol's address, A the
        /// addend, P the place, B where the image is loaded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RelocationKind {
            $($(#[$doc])* $kind,)*
        }

        impl RelocationKind {
            fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$kind),)*
                    _ => None,
                }
            }

            /// How many bytes are written.
            #[must_use]
            pub const fn size(self) -> u64 {
                match self {
                    $(Self::$kind => $size,)*
                }
            }
        }
    };
}

relocations! {
    None = 0, 0;
    /// S + A, lower half.
    Abs32Low = 1, 4;
    /// S + A, upper half.
    Abs32High = 2, 4;
    /// S + A
    Abs64 = 3, 8;
    /// S + A - P
    Relative32 = 4, 4;
    /// S + A - P
    Relative64 = 5, 8;
    /// S + A
    Abs32 = 6, 4;
    /// S + A - P, lower half.
    Relative32Low = 10, 4;
    /// S + A - P, upper half.
    Relative32High = 11, 4;
    /// B + A
    Based64 = 13, 8;
    /// (S + A - P - 4) / 4
    Branch16 = 14, 2;
}

impl RelocationKind {
    /// What is written, in the low bytes; the numbers are S, A, P and B.
    #[must_use]
    pub const fn value(self, symbol: u64, addend: i64, place: u64, base: u64) -> u64 {
        let sum = symbol.wrapping_add_signed(addend);
        match self {
            Self::None => 0,
            Self::Abs32Low | Self::Abs32 | Self::Abs64 => sum,
            Self::Abs32High => sum >> 32,
            Self::Relative32 | Self::Relative64 | Self::Relative32Low => sum.wrapping_sub(place),
            Self::Relative32High => sum.wrapping_sub(place) >> 32,
            Self::Based64 => base.wrapping_add_signed(addend),
            Self::Branch16 => (sum.wrapping_sub(place).wrapping_sub(4).cast_signed() >> 2).cast_unsigned(),
        }
    }

    const fn needs_symbol(self) -> bool {
        !matches!(self, Self::None | Self::Based64)
    }
}

/// The dynamic table's contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dynamic<'a> {
    pub symbols: Vec<Symbol<'a>>,
    pub relocations: Vec<Relocation>,
}

/// The entries that say where things are.
#[derive(Default)]
struct Entries {
    symbols: Option<u64>,
    names: Option<(u64, u64)>,
    hash: Option<u64>,
    gnu_hash: Option<u64>,
    relocations: Option<(u64, u64)>,
}

impl<'a> Dynamic<'a> {
    pub fn read(headers: &Headers<'a>) -> Result<Self> {
        let Some((address, size)) = headers.dynamic else { return Ok(Self::default()) };
        let entries = Entries::read(headers, address, size)?;
        let symbols = entries.symbols(headers)?;
        let relocations = entries.relocations(headers, &symbols)?;
        Ok(Self { symbols, relocations })
    }
}

impl Entries {
    fn read(headers: &Headers<'_>, address: u64, size: u64) -> Result<Self> {
        let what = "the dynamic table";
        let table = headers.bytes_at(what, address, size)?;
        let mut found = Self::default();
        let (mut names, mut names_size, mut relocations, mut relocations_size) = (None, 0, None, 0);
        for entry in table.chunks_exact(16) {
            let (tag, value) = (bytes::u64(entry, what, 0)?, bytes::u64(entry, what, 8)?);
            match tag.cast_signed() {
                elf::DT_NULL => break,
                elf::DT_SYMTAB => found.symbols = Some(value),
                elf::DT_STRTAB => names = Some(value),
                elf::DT_STRSZ => names_size = value,
                elf::DT_HASH => found.hash = Some(value),
                elf::DT_GNU_HASH => found.gnu_hash = Some(value),
                elf::DT_RELA => relocations = Some(value),
                elf::DT_RELASZ => relocations_size = value,
                elf::DT_SYMENT if value != SYMBOL => {
                    return Err(Error::malformed("a dynamic symbol's size", value.to_string(), "24"));
                }
                elf::DT_RELAENT if value != RELOCATION => {
                    return Err(Error::malformed("a relocation's size", value.to_string(), "24"));
                }
                elf::DT_NEEDED | elf::DT_REL | elf::DT_JMPREL | elf::DT_RELR => {
                    let found = format!("one with the entry {tag:#x}");
                    return Err(Error::unsupported(what, found, "images that lld links"));
                }
                _ => {}
            }
        }
        found.names = names.map(|address| (address, names_size));
        found.relocations = relocations.map(|address| (address, relocations_size));
        Ok(found)
    }

    /// How many symbols there are: only the hash tables say.
    fn symbol_count(&self, headers: &Headers<'_>) -> Result<u64> {
        let what = "the symbols' hash table";
        if let Some(address) = self.hash {
            return Ok(u64::from(bytes::u32(headers.data_at(what, address)?, what, 4)?));
        }
        let Some(address) = self.gnu_hash else { return Err(Error::missing(what, "")) };
        let table = headers.data_at(what, address)?;
        let word = |offset: u64| bytes::u32(table, what, offset);
        let (buckets, base, bloom) = (u64::from(word(0)?), u64::from(word(4)?), u64::from(word(8)?));
        let first_bucket = 16 + bloom * 8;
        let chains = first_bucket + buckets * 4;
        let all = bytes::slice(table, what, first_bucket, buckets * 4)?;
        let last =
            all.chunks_exact(4).map(|bucket| u32::from_le_bytes(bucket.try_into().unwrap_or_default()));
        let Some(mut last) = last.max().map(u64::from).filter(|last| *last >= base) else { return Ok(base) };
        // The chain of the last bucket ends with a value whose lowest bit is set.
        while word(chains + (last - base) * 4)? & 1 == 0 {
            last += 1;
        }
        Ok(last + 1)
    }

    fn symbols<'a>(&self, headers: &Headers<'a>) -> Result<Vec<Symbol<'a>>> {
        let what = "the dynamic symbols";
        let Some(address) = self.symbols else { return Ok(Vec::new()) };
        let count = self.symbol_count(headers)?;
        if count > COUNT {
            return Err(Error::unsupported(what, format!("{count} of them"), "at most 4194304"));
        }
        let table = headers.bytes_at(what, address, count * SYMBOL)?;
        let (names, names_size) = self.names.ok_or_else(|| Error::missing("table of names", ""))?;
        let names = headers.bytes_at("the symbols' names", names, names_size)?;
        table.chunks_exact(SYMBOL as usize).map(|entry| symbol(headers, entry, names)).collect()
    }

    fn relocations(&self, headers: &Headers<'_>, symbols: &[Symbol<'_>]) -> Result<Vec<Relocation>> {
        let what = "the relocations";
        let Some((address, size)) = self.relocations else { return Ok(Vec::new()) };
        if size % RELOCATION != 0 || size / RELOCATION > COUNT {
            return Err(Error::malformed(what, format!("{size} bytes"), "a multiple of 24"));
        }
        let table = headers.bytes_at(what, address, size)?;
        let read = |entry: &[u8]| {
            let (address, info) = (bytes::u64(entry, what, 0)?, bytes::u64(entry, what, 8)?);
            let number = info as u32;
            let kind = RelocationKind::from_number(number).ok_or_else(|| {
                Error::unsupported("a relocation", format!("of kind {number}"), "LLVM 22's")
            })?;
            let symbol = (info >> 32) as usize;
            let symbol = kind.needs_symbol().then_some(symbol);
            if symbol.is_some_and(|symbol| symbol >= symbols.len()) {
                return Err(Error::malformed("a relocation's symbol", "beyond the last", "one of the table"));
            }
            let inside = headers.loaded.iter().any(|segment| segment.contains(address, kind.size()));
            if !inside {
                return Err(Error::malformed(
                    "a relocation",
                    format!("at {address:#x}"),
                    "in a load segment",
                ));
            }
            Ok(Relocation { address, kind, symbol, addend: bytes::u64(entry, what, 16)?.cast_signed() })
        };
        table.chunks_exact(RELOCATION as usize).map(read).collect()
    }
}

fn symbol<'a>(headers: &Headers<'_>, entry: &[u8], names: &'a [u8]) -> Result<Symbol<'a>> {
    let what = "a dynamic symbol";
    let [info] = bytes::array(entry, what, 4)?;
    let section = bytes::u16(entry, what, 6)?;
    let (address, size) = (bytes::u64(entry, what, 8)?, bytes::u64(entry, what, 16)?);
    let name = match bytes::u32(entry, what, 0)? {
        0 => "",
        offset => bytes::name(names, "a symbol's name", u64::from(offset))?,
    };
    let kind = match (section, info & 15) {
        (elf::SHN_ABS, _) => SymbolKind::Absolute,
        (_, elf::STT_OBJECT) => SymbolKind::Object,
        (_, elf::STT_FUNC) => SymbolKind::Function,
        _ => SymbolKind::Other,
    };
    let defined = section != elf::SHN_UNDEF;
    let placed = matches!(kind, SymbolKind::Object | SymbolKind::Function) && defined;
    if placed && !headers.loaded.iter().any(|segment| segment.contains(address, size)) {
        let found = format!("{name:?} with {size} bytes at {address:#x}");
        return Err(Error::malformed("a symbol", found, "one in a load segment"));
    }
    Ok(Symbol { name, kind, address, size, defined, weak: info >> 4 == elf::STB_WEAK })
}
