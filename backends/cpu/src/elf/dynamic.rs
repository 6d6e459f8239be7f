//! The tables that the loader follows once an image is in memory.
//!
//! The dynamic section names them by address: strings, symbols, the hash table
//! that symbols are found by, versions, relocations, initialisers. The loader
//! checks none of them. [`Dynamic::checked`] follows each as the loader will.

use super::segments::{EXECUTABLE, Loads, PT_DYNAMIC, WRITABLE};
use super::{File, segments};

/// What the table is called whose first entries may be said to be relative.
pub(super) const RELOCATIONS: &str = "relocation table";

// Tags that stand for more than an address or a size.
const DT_NEEDED: u64 = 1;
const DT_PREINIT_ARRAY: u64 = 32;
const DT_FLAGS_1: u64 = 0x6fff_fffb;
const DT_AUXILIARY: u64 = 0x7fff_fffd;
const DT_FILTER: u64 = 0x7fff_ffff;

/// Flag of an image whose initialisers are to run before all others: the loader would
/// remember it after it has failed to load it.
const DF_1_INITFIRST: u64 = 0x20;

/// Tags of an address, and of the size or count without which the loader cannot use it.
const PAIRS: [(&str, u64, u64); 8] = [
    ("string table", 5, 10),
    (RELOCATIONS, 7, 8),
    ("jump relocation table", 23, 2),
    ("packed relocation table", 36, 35),
    ("initialiser table", 25, 27),
    ("finaliser table", 26, 28),
    ("table of wanted versions", 0x6fff_fffe, 0x6fff_ffff),
    ("table of defined versions", 0x6fff_fffc, 0x6fff_fffd),
];

/// Tags of a table, and of what the loader looks at as soon as there is one: the size of
/// its entries, their kind, the versions of the symbols.
const COMPANIONS: [(&str, u64, u64); 5] = [
    (RELOCATIONS, 7, 9),
    ("packed relocation table", 36, 37),
    ("jump relocation table", 23, 20),
    ("table of wanted versions", 0x6fff_fffe, 0x6fff_fff0),
    ("table of defined versions", 0x6fff_fffc, 0x6fff_fff0),
];

/// Tags of an address alone: initialiser, finaliser, symbols, the hash tables, versions.
const ADDRESSES: [u64; 6] = [12, 13, 6, 4, 0x6fff_fef5, 0x6fff_fff0];

/// Tags whose value the loader insists on with an assertion: the size of entries, and
/// the kind of jump relocations.
const FIXED: [(u64, u64); 4] = [(9, 24), (11, 24), (20, 7), (37, 8)];

/// Section number of a symbol that another object defines.
pub(super) const SHN_UNDEF: u16 = 0;
/// Section number of a symbol whose value is the same wherever the image is.
pub(super) const SHN_ABS: u16 = 0xfff1;

// Symbol types.
pub(super) const STT_TLS: u8 = 6;
/// A function that chooses another one when the image is loaded.
pub(super) const STT_GNU_IFUNC: u8 = 10;

pub(super) type Check = Result<(), String>;

/// A table's address and size.
pub(super) type Table = (u64, u64);

pub(super) struct Dynamic<'a> {
    pub file: File<'a>,
    pub loads: Loads,
    /// Where the section itself is.
    place: Table,
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
    pub relocations: [(&'static str, Table); 2],
    /// How many of the first relocations are said to be relative.
    pub relative_count: u64,
    /// Relative relocations as bit maps; the addends stand in the data.
    pub packed_relocations: Table,
    pub initialisers: [(&'static str, Table); 2],
    functions: [(&'static str, u64); 2],
    pub has_thread_locals: bool,
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

impl<'a> Dynamic<'a> {
    /// Reads what the dynamic section says, and checks what it leads to. Relocations are left, and
    /// the [functions](Self::check_functions) that they may change.
    pub fn checked(file: File<'a>) -> Result<Self, String> {
        let mut dynamic = Self::read(file)?;
        dynamic.check_entries()?;
        dynamic.check_strings()?;
        dynamic.check_versions()?;
        dynamic.check_hash()?;
        for (what, table) in dynamic.initialisers {
            dynamic.offset(what, table)?;
        }
        Ok(dynamic)
    }

    /// Checks the initialiser and the finaliser that no table has.
    pub fn check_functions(&self) -> Check {
        match self.functions.into_iter().find(|(_, f)| *f != 0 && !self.is_function(*f)) {
            Some((what, address)) => Err(format!("its {what} at {address:#x} is not code")),
            None => Ok(()),
        }
    }

    /// Reads what the dynamic section says, unchecked.
    fn read(file: File<'a>) -> Result<Self, String> {
        let segment = segments(file).find(|s| s.kind == PT_DYNAMIC).ok_or("it has no dynamic section")?;
        // The loader reads it through memory, and writes to it.
        let loads = Loads::of(file);
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
            place: (segment.address, segment.file_size),
            strings: (value(5), value(10)),
            symbols: value(6),
            hash: value(4),
            gnu_hash: value(0x6fff_fef5),
            versions: value(0x6fff_fff0),
            versions_needed: (value(0x6fff_fffe), value(0x6fff_ffff)),
            versions_defined: (value(0x6fff_fffc), value(0x6fff_fffd)),
            last_version: 1,
            relocations: [
                (RELOCATIONS, (value(7), value(8))),
                ("jump relocation table", (value(23), value(2))),
            ],
            relative_count: value(0x6fff_fff9),
            packed_relocations: (value(36), value(35)),
            initialisers: [
                ("initialiser table", (value(25), value(27))),
                ("finaliser table", (value(26), value(28))),
            ],
            functions: [("initialiser", value(12)), ("finaliser", value(13))],
            has_thread_locals: segments(file).any(|s| s.kind == 7 && s.memory_size != 0),
            loads,
            entries,
        })
    }

    fn has(&self, tag: u64) -> bool {
        self.entries.iter().any(|entry| entry.0 == tag)
    }

    /// The loader uses what is there, also an address of 0, and takes for granted what
    /// belongs to it.
    fn check_entries(&self) -> Check {
        for (i, (tag, value)) in self.entries.iter().enumerate() {
            let again = self.entries[..i].iter().any(|before| before.0 == *tag);
            // The loader takes the last one.
            if again && !matches!(*tag, DT_NEEDED | DT_AUXILIARY | DT_FILTER) {
                return Err(format!("its dynamic section has two entries of kind {tag:#x}"));
            }
            let is_address = ADDRESSES.contains(tag) || PAIRS.iter().any(|pair| pair.1 == *tag);
            let is_wrong = FIXED.iter().any(|fixed| fixed.0 == *tag && fixed.1 != *value);
            if (is_address && *value == 0) || is_wrong {
                return Err(format!("the entry of kind {tag:#x} in its dynamic section is {value:#x}"));
            }
            if *tag == DT_PREINIT_ARRAY || (*tag == DT_FLAGS_1 && value & DF_1_INITFIRST != 0) {
                return Err("it has initialisers that are to run before all others".to_owned());
            }
        }
        for (what, address, size) in PAIRS {
            if self.has(address) != self.has(size) {
                return Err(format!("its {what} has an address or a size, but not both"));
            }
        }
        for (what, tag) in [("string table", 5), ("symbol table", 6)] {
            if !self.has(tag) {
                return Err(format!("it has no {what}"));
            }
        }
        for (what, tag, companion) in COMPANIONS {
            if self.has(tag) && !self.has(companion) {
                return Err(format!("its {what} comes without the entry of kind {companion:#x}"));
            }
        }
        Ok(())
    }

    /// What the loader reads also when the image has been relocated.
    pub fn read_later(&self) -> impl Iterator<Item = (&'static str, Table)> {
        [
            ("dynamic section", self.place),
            ("string table", self.strings),
            ("symbol table", (self.symbols, 24)),
            ("symbol hash table", (self.gnu_hash, 16)),
            ("symbol hash table", (self.hash, 8)),
            self.relocations[0],
            self.relocations[1],
            ("packed relocation table", self.packed_relocations),
        ]
        .into_iter()
        .filter(|(_, (address, _))| *address != 0)
    }

    /// Whether an initialiser or a finaliser may be at an address. The table of symbols cannot tell
    /// more: a stripped image is as good as any, and has no names or some of them.
    pub fn is_function(&self, address: u64) -> bool {
        self.loads.has(address, 1, EXECUTABLE)
    }

    /// The type of a checked symbol, its section, and its value.
    pub fn symbol(&self, index: u64) -> (u8, u16, u64) {
        let read = || {
            let at = self.loads.offset(self.symbols.checked_add(index.checked_mul(24)?)?, 24)?;
            Some((self.file.bytes(at + 4, 1)?[0] & 15, self.file.u16(at + 6)?, self.file.u64(at + 8)?))
        };
        read().unwrap_or_default()
    }

    /// The bytes of a name, up to its end.
    fn text(&self, name: u64) -> Option<&'a [u8]> {
        let at = self.loads.offset(self.strings.0, self.strings.1)?;
        let text = self.file.bytes(at + name, self.strings.1.checked_sub(name)?)?;
        text.split(|byte| *byte == 0).next()
    }

    /// Where a table stands in the file.
    pub fn offset(&self, what: &str, (address, size): Table) -> Result<u64, String> {
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
        let is_name = |&&(tag, name): &&(u64, u64)| {
            matches!(tag, DT_NEEDED | 14 | 15 | 29 | DT_AUXILIARY | DT_FILTER) && name >= size
        };
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
                } else if !word(entry, 4).is_some_and(|name| self.is_needed(name)) {
                    return Err(
                        "it wants versions of symbols from a library that it does not need".to_owned()
                    );
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

    /// Whether the library called that is one of those that the loader brings.
    fn is_needed(&self, name: u64) -> bool {
        let wanted = self.text(name);
        let mut needed = self.entries.iter().filter(|entry| entry.0 == DT_NEEDED);
        wanted.is_some() && needed.any(|(_, needed)| self.text(*needed) == wanted)
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

    pub fn check_symbol(&self, index: u64) -> Check {
        let at = index
            .checked_mul(24)
            .and_then(|at| self.symbols.checked_add(at))
            .and_then(|address| self.loads.offset(address, 24))
            .ok_or_else(|| format!("symbol {index} is not in a loadable segment"))?;
        let name = self.file.u32(at).map(u64::from);
        if name.is_none_or(|name| name >= self.strings.1) {
            return Err(format!("the name of symbol {index} is outside the string table"));
        }
        let (kind, section, value) = self.symbol(index);
        let is_own = section != SHN_UNDEF;
        let is_code = section != SHN_ABS && self.loads.has(value, 1, EXECUTABLE);
        if is_own && kind == STT_GNU_IFUNC && !is_code {
            return Err(format!("symbol {index} is to be called and is not code"));
        }
        if is_own && kind == STT_TLS && !self.has_thread_locals {
            return Err(format!("symbol {index} is thread-local, and the image has no such variables"));
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
}
