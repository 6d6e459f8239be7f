//! The tables that the loader follows once an image is in memory.
//!
//! The dynamic section names them by address: strings, symbols, the hash table
//! that symbols are found by, versions, relocations, initialisers. The loader
//! checks none of them. [`check`] follows each as the loader will.

use super::{File, PT_LOAD, Segment, segments};

const PT_DYNAMIC: u32 = 2;
const EXECUTABLE: u32 = 1;
const WRITABLE: u32 = 2;

// Kinds of relocation (psABI for x86-64, table 4.10).
const R_X86_64_64: u64 = 1;
const R_X86_64_RELATIVE: u64 = 8;
const R_X86_64_IRELATIVE: u64 = 37;
/// Those that shared objects have: none, 64, GLOB_DAT, JUMP_SLOT, RELATIVE, the
/// four of thread-local storage, and IRELATIVE.
const KNOWN: [u64; 10] = [0, R_X86_64_64, 6, 7, R_X86_64_RELATIVE, 16, 17, 18, 36, R_X86_64_IRELATIVE];

/// Section number of a symbol that another object defines.
const SHN_UNDEF: u16 = 0;

/// Symbol type of a function that chooses another one when the image is loaded.
const STT_GNU_IFUNC: u8 = 10;

type Check = Result<(), String>;

/// A table's address and size.
type Table = (u64, u64);

struct Dynamic<'a> {
    file: File<'a>,
    loads: Loads,
    /// Tags and values, up to the null entry.
    entries: Vec<(u64, u64)>,
    strings: Table,
    symbols: u64,
    hash: u64,
    gnu_hash: u64,
    /// Versions of the symbols; those wanted of other libraries; those defined.
    versions: u64,
    versions_needed: Table,
    versions_defined: Table,
    /// The highest version that is wanted or defined.
    last_version: u16,
    relocations: [(&'static str, Table); 2],
    /// Relative relocations as bit maps; the addends stand in the data.
    packed_relocations: Table,
    initialisers: [(&'static str, Table); 2],
    functions: [(&'static str, u64); 2],
}

/// Checks all that the dynamic section leads to.
pub(super) fn check(file: File<'_>) -> Check {
    let mut dynamic = Dynamic::read(file)?;
    dynamic.check_strings()?;
    dynamic.check_versions()?;
    dynamic.check_hash()?;
    for (what, table) in dynamic.initialisers {
        dynamic.offset(what, table)?;
    }
    let mut made = [0; 2];
    for (what, table) in dynamic.relocations {
        dynamic.check_relocations(what, table, &mut made)?;
    }
    dynamic.check_packed_relocations(&mut made)?;
    // An initialiser without a relocation has no address that could be called.
    for ((what, (_, size)), made) in dynamic.initialisers.into_iter().zip(made) {
        if made < size / 8 {
            return Err(format!("{} entries of its {what} lead nowhere", size / 8 - made));
        }
    }
    match dynamic.functions.into_iter().find(|(_, f)| *f != 0 && !dynamic.loads.has(*f, 1, EXECUTABLE)) {
        Some((what, address)) => Err(format!("its {what} at {address:#x} is not code")),
        None => Ok(()),
    }
}

/// Where in the file the symbol called `name` stands that a checked image wants
/// from elsewhere. `None` if no relocation refers to one.
pub(super) fn wanted_symbol(file: File<'_>, name: &[u8]) -> Option<u64> {
    let dynamic = Dynamic::read(file).ok()?;
    dynamic.relocations.into_iter().find_map(|(what, table)| {
        let at = dynamic.offset(what, table).ok()?;
        (0..table.1 / 24).find_map(|i| {
            let index = file.u64(at + i * 24 + 8)? >> 32;
            let symbol = dynamic.loads.offset(dynamic.symbols.checked_add(index * 24)?, 24)?;
            let (start, section) = (file.u32(symbol)?, file.u16(symbol + 6)?);
            let address = dynamic.strings.0.checked_add(u64::from(start))?;
            let text = dynamic.loads.offset(address, name.len() as u64 + 1)?;
            let spelled = file.bytes(text, name.len() as u64 + 1)?;
            let same = spelled.strip_prefix(name).is_some_and(|rest| rest == [0]);
            (section == SHN_UNDEF && same).then_some(symbol)
        })
    })
}

/// The segments that are loaded.
struct Loads(Vec<Segment>);

impl Loads {
    /// Whether `size` bytes at `address` lie in a segment with `permission`.
    fn has(&self, address: u64, size: u64, permission: u32) -> bool {
        self.0.iter().any(|s| {
            s.flags & permission != 0
                && address >= s.address
                && address.checked_add(size).is_some_and(|end| end <= s.address + s.memory_size)
        })
    }

    /// Where the bytes for `address..address + size` stand in the file. An absent
    /// table (nothing at 0) is in order.
    fn offset(&self, address: u64, size: u64) -> Option<u64> {
        if address == 0 && size == 0 {
            return Some(0);
        }
        self.0.iter().find_map(|s| {
            let skip = address.checked_sub(s.address)?;
            (skip.checked_add(size)? <= s.file_size).then_some(s.offset + skip)
        })
    }
}

impl<'a> Dynamic<'a> {
    /// Reads what the dynamic section says, unchecked.
    fn read(file: File<'a>) -> Result<Self, String> {
        let segment = segments(file).find(|s| s.kind == PT_DYNAMIC).ok_or("it has no dynamic section")?;
        // The loader reads it through memory, and writes to it.
        let loads = Loads(segments(file).filter(|s| s.kind == PT_LOAD).collect());
        let writable = loads.has(segment.address, segment.file_size, WRITABLE);
        if loads.offset(segment.address, segment.file_size) != Some(segment.offset) || !writable {
            return Err("its dynamic section is not in a loadable, writable segment".to_owned());
        }
        let mut entries = Vec::new();
        for i in 0..segment.file_size / 16 {
            let at = segment.offset + i * 16;
            match (file.u64(at), file.u64(at + 8)) {
                (Some(tag), Some(value)) if tag != 0 => entries.push((tag, value)),
                _ => break,
            }
        }
        if entries.len() as u64 == segment.file_size / 16 {
            return Err("its dynamic section has no end".to_owned());
        }
        let value =
            |wanted: u64| entries.iter().find(|(tag, _)| *tag == wanted).map_or(0, |(_, value)| *value);
        Ok(Self {
            file,
            strings: (value(5), value(10)),
            symbols: value(6),
            hash: value(4),
            gnu_hash: value(0x6fff_fef5),
            versions: value(0x6fff_fff0),
            versions_needed: (value(0x6fff_fffe), value(0x6fff_ffff)),
            versions_defined: (value(0x6fff_fffc), value(0x6fff_fffd)),
            last_version: 1,
            relocations: [
                ("relocation table", (value(7), value(8))),
                ("jump relocation table", (value(23), value(2))),
            ],
            packed_relocations: (value(36), value(35)),
            initialisers: [
                ("initialiser table", (value(25), value(27))),
                ("finaliser table", (value(26), value(28))),
            ],
            functions: [("initialiser", value(12)), ("finaliser", value(13))],
            loads,
            entries,
        })
    }

    /// Where a table stands in the file.
    fn offset(&self, what: &str, (address, size): Table) -> Result<u64, String> {
        self.loads
            .offset(address, size)
            .ok_or_else(|| format!("its {what} ({size} bytes at {address:#x}) is not in a loadable segment"))
    }

    fn check_strings(&self) -> Check {
        let (_, size) = self.strings;
        let at = self.offset("string table", self.strings)?;
        if size == 0 || self.file.bytes(at + size - 1, 1) != Some(&[0]) {
            return Err("its string table has no end".to_owned());
        }
        // Needed libraries, the image's own name, and search paths.
        let is_name = |&&(tag, name): &&(u64, u64)| matches!(tag, 1 | 14 | 15 | 29) && name >= size;
        match self.entries.iter().find(is_name) {
            Some((_, name)) => Err(format!("a library name at {name:#x} is outside the string table")),
            None => Ok(()),
        }
    }

    /// Versions are lists of lists, linked by distances.
    fn check_versions(&mut self) -> Check {
        let damaged = || "its table of symbol versions is damaged".to_owned();
        // An entry may be said to be anywhere, also where adding to its address goes round.
        let within = |entry: u64, distance: u64, size: u64| {
            entry.checked_add(distance).and_then(|address| self.loads.offset(address, size))
        };
        let half = |entry, distance| within(entry, distance, 2).and_then(|at| self.file.u16(at));
        let word =
            |entry, distance| within(entry, distance, 4).and_then(|at| self.file.u32(at)).map(u64::from);
        let mut last = 1;
        // Wanted versions: the entry's next is its last word, names are in the parts.
        // Defined versions: the other way round.
        for ((start, count), next_at, parts_at, is_wanted) in
            [(self.versions_needed, 12, 8, true), (self.versions_defined, 16, 12, false)]
        {
            let mut entry = start;
            for i in 0..count {
                let parts = half(entry, if is_wanted { 2 } else { 6 }).ok_or_else(damaged)?;
                if !is_wanted {
                    last = last.max(half(entry, 4).ok_or_else(damaged)? & 0x7fff);
                } else if word(entry, 4).is_none_or(|name| name >= self.strings.1) {
                    return Err(damaged());
                }
                let mut part = entry + word(entry, parts_at).ok_or_else(damaged)?;
                for j in 0..parts {
                    let name = word(part, if is_wanted { 8 } else { 0 }).ok_or_else(damaged)?;
                    if name >= self.strings.1 {
                        return Err(damaged());
                    }
                    if is_wanted {
                        last = last.max(half(part, 6).ok_or_else(damaged)? & 0x7fff);
                    }
                    let next = word(part, if is_wanted { 12 } else { 4 }).ok_or_else(damaged)?;
                    // Zero ends the list, and nothing else does.
                    if (next == 0) != (j + 1 == parts) {
                        return Err(damaged());
                    }
                    part += next;
                }
                let next = word(entry, next_at).ok_or_else(damaged)?;
                if (next == 0) != (i + 1 == count) {
                    return Err(damaged());
                }
                entry += next;
            }
        }
        self.last_version = last;
        Ok(())
    }

    /// Symbols are found through one of the two hash tables.
    fn check_hash(&self) -> Check {
        let damaged = || "its symbol hash table is damaged".to_owned();
        if self.gnu_hash == 0 {
            return self.check_old_hash();
        }
        let at = self.loads.offset(self.gnu_hash, 16).ok_or_else(damaged)?;
        let word = |i: u64| self.file.u32(at + i * 4).map(u64::from).ok_or_else(damaged);
        let (buckets, first, filter) = (word(0)?, word(1)?, word(2)?);
        let size = 16 + filter * 8 + buckets * 4;
        if buckets == 0
            || !filter.is_power_of_two()
            || word(3)? >= 64
            || self.loads.offset(self.gnu_hash, size).is_none()
        {
            return Err(damaged());
        }
        for i in 0..buckets {
            let mut symbol = word(4 + filter * 2 + i)?;
            if symbol == 0 {
                continue;
            }
            // A chain ends at the first hash whose lowest bit is set.
            loop {
                let chain = symbol.checked_sub(first).ok_or_else(damaged)?;
                self.check_symbol(symbol)?;
                if word(4 + filter * 2 + buckets + chain)? & 1 == 1 {
                    break;
                }
                symbol += 1;
            }
        }
        Ok(())
    }

    fn check_old_hash(&self) -> Check {
        let damaged = || "its symbol hash table is damaged".to_owned();
        let at = self
            .loads
            .offset(self.hash, 8)
            .filter(|_| self.hash != 0)
            .ok_or("it has no symbol hash table")?;
        let word = |i: u64| self.file.u32(at + i * 4).map(u64::from).ok_or_else(damaged);
        let (buckets, chains) = (word(0)?, word(1)?);
        if buckets == 0 || self.loads.offset(self.hash, 8 + (buckets + chains) * 4).is_none() {
            return Err(damaged());
        }
        for i in 0..buckets {
            let mut symbol = word(2 + i)?;
            // A chain that is longer than all of them together goes in a circle.
            for step in 0.. {
                if symbol == 0 {
                    break;
                }
                if symbol >= chains || step > chains {
                    return Err(damaged());
                }
                self.check_symbol(symbol)?;
                symbol = word(2 + buckets + symbol)?;
            }
        }
        Ok(())
    }

    fn check_symbol(&self, index: u64) -> Check {
        let at = index
            .checked_mul(24)
            .and_then(|at| self.symbols.checked_add(at))
            .and_then(|address| self.loads.offset(address, 24))
            .ok_or_else(|| format!("symbol {index} is not in a loadable segment"))?;
        let name = self.file.u32(at).map(u64::from);
        if name.is_none_or(|name| name >= self.strings.1) {
            return Err(format!("the name of symbol {index} is outside the string table"));
        }
        let kind = self.file.bytes(at + 4, 1).map_or(0, |b| b[0] & 15);
        let (section, value) = (self.file.u16(at + 6), self.file.u64(at + 8).unwrap_or(0));
        if kind == STT_GNU_IFUNC && section != Some(0) && !self.loads.has(value, 1, EXECUTABLE) {
            return Err(format!("symbol {index} is to be called and is not code"));
        }
        if self.versions != 0 {
            let version = self.versions.checked_add(index * 2).and_then(|a| self.loads.offset(a, 2));
            let version = version.and_then(|at| self.file.u16(at));
            if version.is_none_or(|version| version & 0x7fff > self.last_version) {
                return Err(format!("symbol {index} has a version that does not exist"));
            }
        }
        Ok(())
    }

    fn check_relocations(&self, what: &str, table: Table, made: &mut [u64; 2]) -> Check {
        let at = self.offset(what, table)?;
        for i in 0..table.1 / 24 {
            let word = |j: u64| self.file.u64(at + i * 24 + j * 8).unwrap_or(0);
            let (target, info, addend) = (word(0), word(1), word(2));
            let kind = info & 0xffff_ffff;
            let wrong = |why: String| format!("entry {i} of its {what} {why}");
            if !KNOWN.contains(&kind) {
                return Err(wrong(format!("is of unknown kind {kind}")));
            }
            if kind == R_X86_64_RELATIVE {
                self.check_relative(target, addend, made).map_err(wrong)?;
            } else if !self.loads.has(target, 8, WRITABLE) {
                return Err(wrong(format!("writes to {target:#x}, outside its data")));
            } else if let Some(i) = self.initialiser_at(target) {
                // The address of a function, wherever that is.
                made[i] += u64::from(kind == R_X86_64_64);
            }
            if kind == R_X86_64_IRELATIVE && !self.loads.has(addend, 1, EXECUTABLE) {
                return Err(wrong(format!("calls {addend:#x}, which is not code")));
            }
            self.check_symbol(info >> 32).map_err(|why| wrong(format!("is wrong: {why}")))?;
        }
        Ok(())
    }

    /// Each word is an address, or (lowest bit set) says which of the 63 words
    /// behind the last are relocated as well.
    fn check_packed_relocations(&self, made: &mut [u64; 2]) -> Check {
        let what = "packed relocation table";
        let at = self.offset(what, self.packed_relocations)?;
        let mut next = 0_u64;
        for i in 0..self.packed_relocations.1 / 8 {
            let wrong = |why: String| format!("entry {i} of its {what} {why}");
            let word = self.file.u64(at + i * 8).unwrap_or(0);
            let mut relocate = |target: u64| {
                let addend = self.loads.offset(target, 8).and_then(|at| self.file.u64(at));
                self.check_relative(target, addend.unwrap_or(u64::MAX), made).map_err(wrong)
            };
            if word & 1 == 0 {
                relocate(word)?;
                next = word.wrapping_add(8);
            } else {
                for bit in (0..63).filter(|bit| word >> (bit + 1) & 1 == 1) {
                    relocate(next.wrapping_add(bit * 8))?;
                }
                next = next.wrapping_add(63 * 8);
            }
        }
        Ok(())
    }

    /// A relocation that stores the address of a part of the image.
    fn check_relative(&self, target: u64, addend: u64, made: &mut [u64; 2]) -> Check {
        if !self.loads.has(target, 8, WRITABLE) {
            return Err(format!("writes to {target:#x}, outside its data"));
        }
        // One byte behind a segment is where arrays end.
        let inside = self.loads.0.iter().any(|s| addend >= s.address && addend <= s.address + s.memory_size);
        if !inside {
            return Err(format!("leads to {addend:#x}, outside the image"));
        }
        if let Some(i) = self.initialiser_at(target) {
            if !self.loads.has(addend, 1, EXECUTABLE) {
                return Err(format!("makes {addend:#x} an initialiser, which is not code"));
            }
            made[i] += 1;
        }
        Ok(())
    }

    /// Which table of initialisers `address` is in.
    fn initialiser_at(&self, address: u64) -> Option<usize> {
        self.initialisers.iter().position(|(_, (start, size))| address.wrapping_sub(*start) < *size)
    }
}
