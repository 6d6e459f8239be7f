//! What stands at a byte of a variable, as the user would write it: `x.d`, from debug information.
//!
//! The runtime knows of what is mapped its variable and its line. When a kernel has gone through a
//! pointer inside of it, or might, or has written beside it, the runtime starts this command for the name of
//! the pointer or of the element. Whatever the debug information does not say clearly is not answered.

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

/// Prints the name of the pointer that begins at a byte of what is mapped.
pub fn print_pointer(file: &Path, variable: &str, line: u64, offset: u64) -> Outcome {
    print(file, variable, line, |types, kind, item| types.pointer(kind, item, offset))
}

/// Prints the name of the element that a byte belongs to, which may lie beside what is mapped.
pub fn print_element(file: &Path, variable: &str, line: u64, offset: i64) -> Outcome {
    print(file, variable, line, |types, kind, item| types.element(kind, item, offset))
}

/// A list item's text: the variable, and the members and sections behind it.
type Text<'a> = (&'a str, &'a str);

/// Prints the one name that all variables of that name and line agree about.
fn print(
    file: &Path,
    variable: &str,
    line: u64,
    name: impl Fn(&Types<'_>, &Entry, Text<'_>) -> Option<String>,
) -> Outcome {
    let is_small = fs::metadata(file)?.len() <= LARGEST;
    let file = is_small.then(|| fs::read(file)).transpose()?;
    let name = file.and_then(|file| {
        let text = variable.split_at(variable.find(['.', '[', '-']).unwrap_or(variable.len()));
        let mut names = Vec::new();
        each_variable(&load(&file)?, text.0, line, |types, kind| names.push(name(types, kind, text)));
        names.dedup();
        <[Option<String>; 1]>::try_from(names).ok()?.into_iter().next()?
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

/// Does something with the type of each variable of a name that is declared in a line.
fn each_variable(dwarf: &Dwarf<Reader>, base: &str, line: u64, mut action: impl FnMut(&Types<'_>, &Entry)) {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let types = Types(unit.unit_ref(dwarf));
        let mut found = Vec::new();
        let Ok(mut tree) = types.0.entries_tree(None) else { continue };
        if let Ok(root) = tree.root() {
            types.find(root, base, line, &mut found, DEPTH);
        }
        found.iter().for_each(|kind| action(&types, kind));
    }
}

/// What a list item names.
struct Part<'t> {
    /// Its type; of a section, that of its elements.
    kind: Entry,
    name: String,
    /// Where the section begins, in the user's words, if it is one.
    section: Option<&'t str>,
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

    /// The name of the pointer at a byte of a variable's part that the rest of a list item's text names.
    fn pointer(&self, variable: &Entry, (base, rest): Text<'_>, offset: u64) -> Option<String> {
        let Part { kind, name, section } = self.part(variable, base, rest)?;
        match section {
            None => self.descend(kind, offset, name, Self::is_pointer, DEPTH),
            // Which element of several it is, the message need not say.
            Some(_) => {
                let within = offset % self.size(&kind, DEPTH).filter(|size| *size > 0)?;
                self.descend(kind, within, name + "[i]", Self::is_pointer, DEPTH)
            }
        }
    }

    /// The name of the element that a byte of a variable's part belongs to.
    fn element(&self, variable: &Entry, (base, rest): Text<'_>, offset: i64) -> Option<String> {
        let Part { kind, name, section } = self.part(variable, base, rest)?;
        let is_array = |kind: &Entry| kind.tag() == gimli::DW_TAG_array_type;
        let array = if section.is_none() { Some(self.plain(kind.clone()).filter(is_array)?) } else { None };
        let element = array.as_ref().map_or(Some(kind), |array| self.kind(array))?;
        let size = i64::try_from(self.size(&element, DEPTH)?).ok().filter(|size| *size > 0)?;
        let (index, within) = (offset.div_euclid(size), offset.rem_euclid(size));
        let index = match (array, section.unwrap_or_default()) {
            (Some(array), _) => self.indices(&array, index)?,
            (None, "") => format!("[{index}]"),
            (None, first) => match first.parse::<i64>() {
                Ok(first) => format!("[{}]", first.checked_add(index)?),
                Err(_) => format!("[{first}{index:+}]"),
            },
        };
        self.descend(element, within.cast_unsigned(), name + &index, |_, _| true, DEPTH)
    }

    /// What the text of a list item names.
    fn part<'t>(&self, variable: &Entry, base: &str, mut rest: &'t str) -> Option<Part<'t>> {
        let mut kind = self.plain(variable.clone())?;
        if matches!(kind.tag(), gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type) {
            kind = self.kind(&kind)?;
        }
        let mut name = base.to_owned();
        while !rest.is_empty() {
            let of_pointer = self.plain(kind.clone())?.tag() == gimli::DW_TAG_pointer_type;
            if let Some((section, after)) = rest.strip_prefix('[').and_then(|text| text.split_once(']')) {
                let whole = self.plain(kind)?;
                // Its elements are arrays, for which there is no entry.
                if self.extents(&whole).len() > 1 {
                    return None;
                }
                kind = self.kind(&whole)?;
                if after.is_empty() {
                    let first = section.split_once(':').map_or(section, |(first, _)| first);
                    return Some(Part { kind, name, section: Some(first.trim()) });
                }
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
        Some(Part { kind, name, section: None })
    }

    /// Whether a pointer begins at a byte of a type that has no parts.
    fn is_pointer(kind: &Entry, offset: u64) -> bool {
        kind.tag() == gimli::DW_TAG_pointer_type && offset == 0
    }

    /// Goes on to what has no parts at a byte, if it is what is looked for.
    fn descend(
        &self,
        kind: Entry,
        offset: u64,
        name: String,
        is_wanted: fn(&Entry, u64) -> bool,
        depth: u32,
    ) -> Option<String> {
        let kind = self.plain(kind).filter(|_| depth > 0)?;
        match kind.tag() {
            gimli::DW_TAG_array_type => {
                let element = self.kind(&kind)?;
                let size = self.size(&element, DEPTH).filter(|size| *size > 0)?;
                let indices = self.indices(&kind, i64::try_from(offset / size).ok()?)?;
                self.descend(element, offset % size, name + &indices, is_wanted, depth - 1)
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
                self.descend(kind, within, name, is_wanted, depth - 1)
            }
            _ => is_wanted(&kind, offset).then_some(name),
        }
    }

    /// The indices of an element of an array, by its number. The first one may lie outside of the array.
    fn indices(&self, array: &Entry, mut number: i64) -> Option<String> {
        let extents = self.extents(array);
        let mut text = String::new();
        for extent in extents.iter().skip(1).rev() {
            let extent = i64::try_from((*extent)?).ok().filter(|extent| *extent > 0)?;
            text = format!("[{}]{text}", number.rem_euclid(extent));
            number = number.div_euclid(extent);
        }
        (!self.is_fortran()).then(|| format!("[{number}]{text}"))
    }

    /// Elements of an array in its dimensions, as far as they are known.
    fn extents(&self, array: &Entry) -> Vec<Option<u64>> {
        let ranges = self.children(array).into_iter();
        let ranges = ranges.filter(|range| range.tag() == gimli::DW_TAG_subrange_type);
        let extent = |range: Entry| {
            let bound = || number(&range, gimli::DW_AT_upper_bound)?.checked_add(1);
            number(&range, gimli::DW_AT_count).or_else(bound)
        };
        ranges.map(extent).collect()
    }

    /// Whether the unit's arrays are Fortran's, of other bounds and order.
    fn is_fortran(&self) -> bool {
        let language = self.0.header.entry(&self.0.abbreviations, self.0.header.root_offset()).ok();
        let language = language.and_then(|unit| unit.attr(gimli::DW_AT_language).map(|one| one.value()));
        matches!(
            language,
            Some(AttributeValue::Language(
                gimli::DW_LANG_Fortran77
                    | gimli::DW_LANG_Fortran90
                    | gimli::DW_LANG_Fortran95
                    | gimli::DW_LANG_Fortran03
                    | gimli::DW_LANG_Fortran08
                    | gimli::DW_LANG_Fortran18
            ))
        )
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
                self.extents(&kind).into_iter().try_fold(element, |size, extent| size.checked_mul(extent?))
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
