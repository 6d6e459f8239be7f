//! From an object file to code that runs anywhere: sections are put one behind the other, and what refers from
//! one to another is filled in. Everything is relative, so that no address has to be known.

use super::lines;
use crate::code::Compiled;

/// What is wrong with an object file, of ours or of LLVM's.
type Wrong = String;

/// Fields of an ELF file of 64 bits (System V ABI, chapter 4).
const SECTION_HEADERS: usize = 40;
const SECTION_COUNT: usize = 60;
const SECTION_NAMES: usize = 62;
const SECTION_HEADER: usize = 64;
/// Types of sections.
const SYMBOLS: u32 = 2;
const RELOCATIONS: u32 = 4;
const NOTHING_IN_FILE: u32 = 8;
/// A section that is there when the program runs.
const ALLOCATED: u64 = 2;
/// Kinds of references (psABI of x86-64, section 4.4): to a place, as it is or relative to where the reference
/// stands.
const ABSOLUTE: u32 = 1;
const PC32: u32 = 2;
const PLT32: u32 = 4;

/// A number of the file, of so many bytes.
fn number(file: &[u8], at: usize, bytes: usize) -> Result<u64, Wrong> {
    let field = file.get(at..at + bytes).ok_or("an object file that is cut")?;
    Ok(field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

struct Section<'a> {
    name: &'a str,
    kind: u32,
    flags: u64,
    contents: &'a [u8],
    /// The sections that relocations are of, and whose symbols they name.
    link: usize,
    info: usize,
    align: usize,
}

fn name(names: &[u8], at: usize) -> Result<&str, Wrong> {
    let name = names.get(at..).and_then(|name| name.split(|&byte| byte == 0).next());
    name.and_then(|name| std::str::from_utf8(name).ok()).ok_or_else(|| "a name that is cut".to_owned())
}

fn sections(file: &[u8]) -> Result<Vec<Section<'_>>, Wrong> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return Err("no ELF file".to_owned());
    }
    let headers = number(file, SECTION_HEADERS, 8)? as usize;
    let count = number(file, SECTION_COUNT, 2)? as usize;
    let contents = |header: usize| -> Result<&[u8], Wrong> {
        let start = number(file, header + 24, 8)? as usize;
        let size = number(file, header + 32, 8)? as usize;
        start
            .checked_add(size)
            .and_then(|end| file.get(start..end))
            .ok_or_else(|| "a section that is cut".to_owned())
    };
    let names = contents(headers + SECTION_HEADER * number(file, SECTION_NAMES, 2)? as usize)?;
    let section = |index: usize| -> Result<Section<'_>, Wrong> {
        let header = headers + SECTION_HEADER * index;
        let kind = number(file, header + 4, 4)? as u32;
        Ok(Section {
            name: name(names, number(file, header, 4)? as usize)?,
            kind,
            flags: number(file, header + 8, 8)?,
            contents: if kind == NOTHING_IN_FILE { &[] } else { contents(header)? },
            link: number(file, header + 40, 4)? as usize,
            info: number(file, header + 44, 4)? as usize,
            align: number(file, header + 48, 8)?.max(1) as usize,
        })
    };
    (0..count).map(section).collect()
}

/// A reference in a section.
struct Reference {
    at: usize,
    kind: u32,
    addend: i64,
    /// The section that the symbol is in, and where in it.
    section: usize,
    value: u64,
    /// Where the symbol's name is.
    name: usize,
}

/// The references in a section, and the names of symbols.
fn references<'a>(sections: &[Section<'a>], of: usize) -> Result<(Vec<Reference>, &'a [u8]), Wrong> {
    let relocations = |section: &&Section<'_>| section.kind == RELOCATIONS && section.info == of;
    let Some(relocations) = sections.iter().find(relocations) else { return Ok((Vec::new(), &[])) };
    let symbols =
        sections.get(relocations.link).filter(|symbols| symbols.kind == SYMBOLS).ok_or("no symbols")?;
    let names = sections.get(symbols.link).map_or(&[][..], |names| names.contents);
    let reference = |entry: &[u8]| -> Result<Reference, Wrong> {
        let info = number(entry, 8, 8)?;
        let symbol = 24 * (info >> 32) as usize;
        Ok(Reference {
            at: number(entry, 0, 8)? as usize,
            kind: info as u32,
            addend: number(entry, 16, 8)? as i64,
            section: number(symbols.contents, symbol + 6, 2)? as usize,
            value: number(symbols.contents, symbol + 8, 8)?,
            name: number(symbols.contents, symbol, 4)? as usize,
        })
    };
    let all = relocations.contents.chunks_exact(24).map(reference);
    Ok((all.collect::<Result<_, _>>()?, names))
}

/// The code of an object file, which is entered at its beginning, and where in it which operation is.
pub(super) fn link(file: &[u8]) -> Result<Compiled, Wrong> {
    let sections = sections(file)?;
    let section = |name: &str| sections.iter().position(|section| section.name == name);
    let text = section(".text").ok_or("no code")?;
    let mut places = vec![None; sections.len()];
    places[text] = Some(0);
    let mut code = sections[text].contents.to_vec();
    for (index, section) in sections.iter().enumerate() {
        let data = section.flags & ALLOCATED != 0 && !section.contents.is_empty() && section.kind == 1;
        if index == text || !data || section.name == ".eh_frame" {
            continue;
        }
        code.resize(code.len().next_multiple_of(section.align), 0);
        places[index] = Some(code.len());
        code.extend_from_slice(section.contents);
    }
    for (index, place) in places.iter().enumerate().filter_map(|(index, place)| Some((index, (*place)?))) {
        let (references, names) = references(&sections, index)?;
        for reference in references {
            let Some(&Some(to)) =
                places.get(reference.section).filter(|_| matches!(reference.kind, PC32 | PLT32))
            else {
                let name = name(names, reference.name)?;
                return Err(format!("a reference of kind {} to '{name}'", reference.kind));
            };
            let at = place + reference.at;
            let relative = (to as u64 + reference.value) as i64 + reference.addend - at as i64;
            let relative = i32::try_from(relative).map_err(|_| "code that is too long")?;
            let field = code.get_mut(at..at + 4).ok_or("a reference from nowhere")?;
            field.copy_from_slice(&relative.to_le_bytes());
        }
    }
    let positions = match section(".debug_line") {
        None => Vec::new(),
        Some(lines) => {
            let mut table = sections[lines].contents.to_vec();
            for reference in references(&sections, lines)?.0 {
                if reference.kind == ABSOLUTE && reference.section == text {
                    let value = reference.value.wrapping_add_signed(reference.addend);
                    let field =
                        table.get_mut(reference.at..reference.at + 8).ok_or("a reference from nowhere")?;
                    field.copy_from_slice(&value.to_le_bytes());
                }
            }
            lines::positions(&table)?
        }
    };
    Ok(Compiled { code, positions, regions: false })
}
