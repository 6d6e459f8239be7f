//! What stands at a byte of a variable, as the user would write it: `x.d`, from debug information.
//!
//! The runtime knows of a mapped structure its variable and its line. When a kernel has gone through a
//! pointer inside of it, or might, the runtime starts this command for the pointer's name. Whatever the
//! debug information does not say clearly is not answered.

use std::fs;
use std::io::{Write, stdout};
use std::path::Path;

use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, NativeEndian, UnitRef,
};
use object::{Object, ObjectSection};

use crate::exit::{FAILURE, Outcome, SUCCESS};

type Reader = EndianSlice<'static, NativeEndian>;
type Entry = DebuggingInformationEntry<Reader>;

/// Larger programs would keep the user waiting.
const LARGEST: u64 = 512 << 20;

/// Names and types within each other, at most.
const DEPTH: u32 = 32;

/// Prints the name.
pub fn print(file: &Path, variable: &str, line: u64, offset: u64) -> Outcome {
    let is_small = fs::metadata(file)?.len() <= LARGEST;
    let name = is_small.then(|| fs::read(file)).transpose()?.and_then(|file| {
        let dwarf = load(&file)?;
        name_in(&dwarf, variable, line, offset)
    });
    let Some(name) = name else { return Ok(FAILURE) };
    stdout().write_all(name.as_bytes())?;
    Ok(SUCCESS)
}

fn load(file: &[u8]) -> Option<Dwarf<Reader>> {
    let file = object::File::parse(file).ok()?;
    let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        // What is read stays until the process ends, which is soon.
        Ok(EndianSlice::new(Vec::leak(data.unwrap_or_default().into_owned()), NativeEndian))
    };
    Dwarf::load(section).ok()
}

/// The one name that all variables of that name and line agree about.
fn name_in(dwarf: &Dwarf<Reader>, variable: &str, line: u64, offset: u64) -> Option<String> {
    let (base, _) = variable.split_at(variable.find(['.', '[', '-']).unwrap_or(variable.len()));
    let mut names = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let types = Types(unit.unit_ref(dwarf));
        let mut found = Vec::new();
        let Ok(mut tree) = types.0.entries_tree(None) else { continue };
        if let Ok(root) = tree.root() {
            types.find(root, base, line, &mut found, DEPTH);
        }
        names.extend(found.iter().map(|kind| types.name(kind, base, &variable[base.len()..], offset)));
    }
    names.dedup();
    match <[Option<String>; 1]>::try_from(names) {
        Ok([name]) => name,
        Err(_) => None,
    }
}

/// The types of one unit.
struct Types<'a>(UnitRef<'a, Reader>);

impl Types<'_> {
    /// The types of the variables of a name that are declared in a line.
    fn find(
        &self,
        node: gimli::EntriesTreeNode<'_, '_, Reader>,
        base: &str,
        line: u64,
        found: &mut Vec<Entry>,
        depth: u32,
    ) {
        let mut children = node.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry();
            let is_variable = matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
            if is_variable && self.text(entry).as_deref() == Some(base) {
                if number(entry, gimli::DW_AT_decl_line) == Some(line) {
                    found.extend(self.kind(entry));
                }
            } else if depth > 0 {
                self.find(child, base, line, found, depth - 1);
            }
        }
    }

    /// The name of what is at a byte of a variable's part that the rest of a list item's text names.
    fn name(&self, variable: &Entry, base: &str, mut rest: &str, mut offset: u64) -> Option<String> {
        let mut kind = self.plain(variable.clone())?;
        if matches!(kind.tag(), gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type) {
            kind = self.kind(&kind)?;
        }
        let mut name = base.to_owned();
        while !rest.is_empty() {
            let of_pointer = self.plain(kind.clone())?.tag() == gimli::DW_TAG_pointer_type;
            if let Some((_, after)) = rest.strip_prefix('[').and_then(|text| text.split_once(']')) {
                kind = self.kind(&self.plain(kind)?)?;
                offset %= self.size(&kind, DEPTH)?;
                name += "[i]";
                rest = after;
                continue;
            }
            let separator = if rest.starts_with("->") { "->" } else { "." };
            let text = rest.strip_prefix(separator)?;
            let (member, after) = text.split_at(text.find(['.', '[', '-']).unwrap_or(text.len()));
            let structure = if of_pointer { self.kind(&self.plain(kind)?)? } else { kind };
            let members = self.children(&self.plain(structure)?);
            kind = members
                .iter()
                .find(|one| self.text(one).as_deref() == Some(member))
                .and_then(|m| self.kind(m))?;
            name = name + separator + member;
            rest = after;
        }
        self.descend(kind, offset, name, DEPTH)
    }

    /// Goes on to the pointer that begins at a byte.
    fn descend(&self, kind: Entry, offset: u64, name: String, depth: u32) -> Option<String> {
        let kind = self.plain(kind).filter(|_| depth > 0)?;
        match kind.tag() {
            gimli::DW_TAG_pointer_type => (offset == 0).then_some(name),
            gimli::DW_TAG_array_type => {
                let element = self.kind(&kind)?;
                let size = self.size(&element, DEPTH).filter(|size| *size > 0)?;
                let name = format!("{name}[{}]", offset / size);
                self.descend(element, offset % size, name, depth - 1)
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                let inside = |member: &Entry| {
                    let begin = number(member, gimli::DW_AT_data_member_location)?;
                    let within = offset.checked_sub(begin)?;
                    let kind = self.kind(member)?;
                    (within < self.size(&kind, DEPTH)?).then_some((kind, within))
                };
                let members = self.children(&kind);
                let (member, (kind, within)) = members.iter().find_map(|one| Some((one, inside(one)?)))?;
                let name = match self.text(member) {
                    Some(text) if member.tag() == gimli::DW_TAG_member => format!("{name}.{text}"),
                    // A base class, or a structure without a name.
                    _ => name,
                };
                self.descend(kind, within, name, depth - 1)
            }
            _ => None,
        }
    }

    /// What an entry is of: a variable's type, a pointer's pointee, an array's element.
    fn kind(&self, entry: &Entry) -> Option<Entry> {
        match entry.attr(gimli::DW_AT_type)?.value() {
            AttributeValue::UnitRef(offset) => self.0.entry(offset).ok(),
            _ => None,
        }
    }

    /// A type behind other names for it.
    fn plain(&self, mut kind: Entry) -> Option<Entry> {
        for _ in 0..DEPTH {
            match kind.tag() {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type => kind = self.kind(&kind)?,
                _ => return Some(kind),
            }
        }
        None
    }

    /// Bytes of a type.
    fn size(&self, kind: &Entry, depth: u32) -> Option<u64> {
        let kind = self.plain(kind.clone()).filter(|_| depth > 0)?;
        match (number(&kind, gimli::DW_AT_byte_size), kind.tag()) {
            (Some(size), _) => Some(size),
            (None, gimli::DW_TAG_pointer_type) => Some(8),
            (None, gimli::DW_TAG_array_type) => {
                let element = self.size(&self.kind(&kind)?, depth - 1)?;
                let ranges = self.children(&kind).into_iter();
                ranges.filter(|range| range.tag() == gimli::DW_TAG_subrange_type).try_fold(
                    element,
                    |size, range| {
                        let bound = || number(&range, gimli::DW_AT_upper_bound)?.checked_add(1);
                        size.checked_mul(number(&range, gimli::DW_AT_count).or_else(bound)?)
                    },
                )
            }
            _ => None,
        }
    }

    fn children(&self, entry: &Entry) -> Vec<Entry> {
        let mut list = Vec::new();
        if let Ok(mut tree) = self.0.entries_tree(Some(entry.offset()))
            && let Ok(root) = tree.root()
        {
            let mut children = root.children();
            while let Ok(Some(child)) = children.next() {
                list.push(child.entry().clone());
            }
        }
        list
    }

    fn text(&self, entry: &Entry) -> Option<String> {
        let text = self.0.attr_string(entry.attr(gimli::DW_AT_name)?.value()).ok()?;
        Some(String::from_utf8_lossy(text.slice()).into_owned())
    }
}

fn number(entry: &Entry, attribute: gimli::DwAt) -> Option<u64> {
    entry.attr(attribute)?.udata_value()
}
