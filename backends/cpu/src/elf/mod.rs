//! Reading x86-64 ELF images: enough to refuse what the loader would choke on.
//!
//! The system's loader trusts the files it is given; a truncated or damaged one
//! ends the process inside `dlopen`. So [`check`] follows everything that the
//! loader will follow and says what is wrong instead. It also gives the addresses
//! the image will take, and the crash report reads symbols with it: nothing here
//! may allocate except an error, or panic on any input.

#![forbid(unsafe_code)]

mod dynamic;
mod relocations;
mod segments;

use dynamic::Dynamic;
use segments::{EXECUTABLE, PT_GNU_RELRO, WRITABLE};
use std::ops::Range;

const EM_X86_64: u16 = 62;
const ET_DYN: u16 = 3;
const PT_LOAD: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_NOBITS: u32 = 8;
const SHT_DYNSYM: u32 = 11;
const PAGE: u64 = 4096;

/// The first bytes of a 64-bit little-endian ELF file.
const IDENT: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];

/// Whether `image` says that it is an x86-64 shared object.
pub fn recognises(image: &[u8]) -> bool {
    let file = File(image);
    image.starts_with(&IDENT) && file.u16(16) == Some(ET_DYN) && file.u16(18) == Some(EM_X86_64)
}

/// Little-endian numbers in a file; `None` beyond its end.
#[derive(Clone, Copy)]
struct File<'a>(&'a [u8]);

impl<'a> File<'a> {
    fn bytes(self, at: u64, size: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(at).ok()?;
        let end = usize::try_from(at.checked_add(size)?).ok()?;
        self.0.get(start..end)
    }

    fn array<const N: usize>(self, at: u64) -> Option<[u8; N]> {
        self.bytes(at, N as u64)?.try_into().ok()
    }

    fn u16(self, at: u64) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    fn u32(self, at: u64) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn u64(self, at: u64) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }
}

/// A program header.
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
    align: u64,
}

impl Segment {
    /// Whether all of `size` bytes at `address` are in it.
    fn holds(&self, address: u64, size: u64) -> bool {
        let end = self.address.saturating_add(self.memory_size);
        address >= self.address && address.checked_add(size).is_some_and(|last| last <= end)
    }
}

/// A section header.
struct Section {
    kind: u32,
    offset: u64,
    size: u64,
    link: u32,
}

fn segments(file: File<'_>) -> impl Iterator<Item = Segment> {
    let table = file.u64(32).unwrap_or(0);
    let count = file.u16(56).unwrap_or(0);
    (0..u64::from(count)).map_while(move |i| {
        let at = table.checked_add(i * 56)?;
        Some(Segment {
            kind: file.u32(at)?,
            flags: file.u32(at + 4)?,
            offset: file.u64(at + 8)?,
            address: file.u64(at + 16)?,
            file_size: file.u64(at + 32)?,
            memory_size: file.u64(at + 40)?,
            align: file.u64(at + 48)?,
        })
    })
}

fn sections(file: File<'_>) -> impl Iterator<Item = Section> {
    let table = file.u64(40).unwrap_or(0);
    let count = if table == 0 { 0 } else { file.u16(60).unwrap_or(0) };
    (0..u64::from(count)).map_while(move |i| {
        let at = table.checked_add(i * 64)?;
        Some(Section {
            kind: file.u32(at + 4)?,
            offset: file.u64(at + 24)?,
            size: file.u64(at + 32)?,
            link: file.u32(at + 40)?,
        })
    })
}

/// Checks that the system's loader can take `image`, and gives the addresses that
/// it will use, relative to where it is loaded.
///
/// # Errors
/// What is wrong: what was found, what was expected, and where.
pub fn check(image: &[u8]) -> Result<Range<u64>, String> {
    let file = File(image);
    check_header(file)?;
    let extent = segments::check(file)?;
    check_sections(file)?;
    let dynamic = Dynamic::checked(file)?;
    relocations::check(&dynamic)?;
    dynamic.check_functions()?;
    Ok(extent)
}

fn check_header(file: File<'_>) -> Result<(), String> {
    let size = file.0.len();
    if size < 64 {
        return Err(format!("it has {size} bytes, an ELF header alone has 64"));
    }
    if file.0[..4] != IDENT[..4] {
        return Err(format!(
            "it starts with {:02x?} instead of the ELF magic {:02x?}",
            &file.0[..4],
            &IDENT[..4]
        ));
    }
    if file.0[4..6] != IDENT[4..] {
        return Err("it is not a 64-bit little-endian ELF file".to_owned());
    }
    let (kind, machine) = (file.u16(16).unwrap_or(0), file.u16(18).unwrap_or(0));
    if machine != EM_X86_64 {
        return Err(format!("it is for ELF machine {machine}, this device runs {EM_X86_64} (x86-64)"));
    }
    if kind != ET_DYN {
        return Err(format!("its ELF type is {kind}, a device image has {ET_DYN} (shared object)"));
    }
    Ok(())
}

fn check_sections(file: File<'_>) -> Result<(), String> {
    let size = file.0.len() as u64;
    let (table, count) = (file.u64(40).unwrap_or(0), file.u16(60).unwrap_or(0));
    if table != 0 && (file.u16(58) != Some(64) || file.bytes(table, u64::from(count) * 64).is_none()) {
        return Err(format!(
            "its section table at byte {table} is beyond its {size} bytes: it has been cut off"
        ));
    }
    for (i, section) in sections(file).enumerate() {
        if section.kind != SHT_NOBITS && file.bytes(section.offset, section.size).is_none() {
            let end = section.offset.saturating_add(section.size);
            return Err(format!("section {i} ends at byte {end}, but the image has only {size} bytes"));
        }
    }
    Ok(())
}

/// Gives a checked image a definition of `name` at absolute address `address`, if it
/// wants one from elsewhere. True: it did, and the image has been changed.
///
/// The symbol becomes local and absolute, so the loader takes it as it is and asks no
/// other object, for every relocation that refers to it. Must not be used for
/// variables, whose copies other objects may hold.
pub fn define(image: &mut [u8], name: &[u8], address: u64) -> bool {
    const LOCAL_FUNCTION: u8 = 2;
    const SHN_ABS: u16 = 0xfff1;
    let Some(at) = dynamic::wanted_symbol(File(image), name).and_then(|at| usize::try_from(at).ok()) else {
        return false;
    };
    image[at + 4] = LOCAL_FUNCTION;
    image[at + 6..at + 8].copy_from_slice(&SHN_ABS.to_le_bytes());
    image[at + 8..at + 16].copy_from_slice(&address.to_le_bytes());
    true
}

/// Whether `address` (relative to the load address) is in a segment with code.
pub fn is_code(image: &[u8], address: u64) -> bool {
    segments(File(image)).any(|s| s.kind == PT_LOAD && s.flags & EXECUTABLE != 0 && s.holds(address, 1))
}

/// Whether all of `size` bytes at `address` (relative to the load address) can be
/// written once the loader has protected what only it writes.
pub fn is_writable(image: &[u8], address: u64, size: u64) -> bool {
    let file = File(image);
    let protected = |s: &Segment| {
        let end = address.saturating_add(size);
        s.kind == PT_GNU_RELRO && address < s.address.saturating_add(s.memory_size) && end > s.address
    };
    segments(file).any(|s| s.kind == PT_LOAD && s.flags & WRITABLE != 0 && s.holds(address, size))
        && !segments(file).any(|s| protected(&s))
}

/// The function or variable that `address` (relative to the load address) lies
/// in, and how far into it. Prefers the full symbol table, which also names the
/// parts that the compiler outlined from a region.
pub fn symbol_at(image: &[u8], address: u64) -> Option<(&[u8], u64)> {
    let file = File(image);
    let table = |kind: u32| sections(file).find(|s| s.kind == kind);
    let table = table(SHT_SYMTAB).or_else(|| table(SHT_DYNSYM))?;
    let strings = sections(file).nth(table.link as usize)?;
    (0..table.size / 24).find_map(|i| {
        let at = table.offset + i * 24;
        let (value, size) = (file.u64(at + 8)?, file.u64(at + 16)?);
        let into = address.checked_sub(value).filter(|into| *into < size)?;
        let name = file.bytes(strings.offset, strings.size)?.get(file.u32(at)? as usize..)?;
        Some((name.split(|b| *b == 0).next()?, into))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_an_image_is_refused_in_words() {
        let mut header = [0_u8; 64];
        assert_eq!(check(&header[..10]).unwrap_err(), "it has 10 bytes, an ELF header alone has 64");
        assert!(check(&header).unwrap_err().contains("ELF magic"));
        header[..6].copy_from_slice(&IDENT);
        assert!(check(&header).unwrap_err().contains("machine 0"));
        header[18] = 62;
        assert!(check(&header).unwrap_err().contains("type is 0"));
        assert!(!recognises(&header));
        header[16] = 3;
        assert!(recognises(&header));
        assert!(check(&header).unwrap_err().contains("program header table"));
    }

    /// What fuzzing has found: a table of versions where addresses end.
    #[test]
    fn tables_at_the_end_of_memory_are_refused() {
        let found = include_bytes!("../../../../fuzz/seeds/cpu_image/versions-at-the-end-of-memory");
        assert!(check(found).is_err());
        let mut image = include_bytes!("../../../../fuzz/seeds/cpu_image/full.so").to_vec();
        let wanted_versions = 0x6fff_fffe_u64.to_le_bytes();
        let at = image.windows(8).position(|bytes| bytes == wanted_versions).unwrap();
        image[at + 8..at + 16].fill(0xff);
        assert!(check(&image).unwrap_err().contains("symbol versions"));
    }

    /// Fuzzing that starts from images which are refused would only see refusals.
    #[test]
    fn the_seeds_of_fuzzing_pass() {
        let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/cpu_image");
        for name in ["small.so", "full.so"] {
            let image = std::fs::read(seeds.join(name)).unwrap();
            let extent = check(&image).unwrap();
            let named = (extent.start..extent.end).filter_map(|address| symbol_at(&image, address));
            assert!(named.map(|(name, _)| name).any(|name| name == b"__omp_offloading_1_2_main_l3"));
        }
    }

    #[test]
    fn whatever_the_loader_takes_every_day_passes() {
        let mut passed = 0;
        for entry in std::fs::read_dir("/usr/lib/x86_64-linux-gnu").unwrap() {
            let path = entry.unwrap().path();
            // Linker scripts and static archives are not recognised.
            let Ok(file) = std::fs::read(&path) else { continue };
            if recognises(&file) && file.len() < 4 << 20 {
                assert_eq!(check(&file).err(), None, "{}", path.display());
                passed += 1;
            }
        }
        assert!(passed > 20);
    }
}
