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
/// More than any table of constants is.
const MOST_ALIGNED: usize = 4096;
/// Kinds of references (psABI of x86-64, section 4.4): to a place, as it is or relative to where the reference
/// stands.
const ABSOLUTE: u32 = 1;
const PC32: u32 = 2;
const PLT32: u32 = 4;

/// A number of the file, of so many bytes.
fn number(file: &[u8], at: usize, bytes: usize) -> Result<u64, Wrong> {
    let field =
        at.checked_add(bytes).and_then(|end| file.get(at..end)).ok_or("an object file that is cut")?;
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
    if headers > file.len() {
        return Err("an object file that is cut".to_owned());
    }
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

/// Fills in a reference.
fn fill(section: &mut [u8], at: usize, value: &[u8]) -> Result<(), Wrong> {
    let rest = section.get_mut(at..).and_then(|rest| rest.get_mut(..value.len()));
    rest.ok_or("a reference from nowhere")?.copy_from_slice(value);
    Ok(())
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
        if section.align > MOST_ALIGNED {
            return Err(format!("a section that is aligned to {} bytes", section.align));
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
            let at = place.saturating_add(reference.at);
            let to = (to as u64).wrapping_add(reference.value).wrapping_add_signed(reference.addend);
            let relative = to.wrapping_sub(at as u64) as i64;
            let relative = i32::try_from(relative).map_err(|_| "code that is too long")?;
            fill(&mut code, at, &relative.to_le_bytes())?;
        }
    }
    let positions = match section(".debug_line") {
        None => Vec::new(),
        Some(lines) => {
            let mut table = sections[lines].contents.to_vec();
            for reference in references(&sections, lines)?.0 {
                if reference.kind == ABSOLUTE && reference.section == text {
                    let value = reference.value.wrapping_add_signed(reference.addend);
                    fill(&mut table, reference.at, &value.to_le_bytes())?;
                }
            }
            lines::positions(&table)?
        }
    };
    Ok(Compiled { code, positions, regions: false })
}

#[cfg(test)]
pub(super) mod tests {
    use std::ffi::c_void;
    use std::ptr;

    use super::*;

    /// Puts code where it can run, for as long as the process does.
    pub(in crate::llvm) fn place(compiled: &Compiled) -> *mut c_void {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        let length = compiled.code.len().next_multiple_of(4096);
        // SAFETY: a new mapping, as long as the code, which stays.
        unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let start = mmap_anonymous(ptr::null_mut(), length, access, MapFlags::PRIVATE).expect("memory");
            ptr::copy_nonoverlapping(compiled.code.as_ptr(), start.cast(), compiled.code.len());
            mprotect(start, length, MprotectFlags::READ | MprotectFlags::EXEC).expect("executable memory");
            start
        }
    }

    /// Two functions, constants, lines.
    const MODULE: &str = r#"
define i32 @first(i32 %n, double %unused) "no-builtins" !dbg !4 {
  %small = icmp ult i32 %n, 7, !dbg !6
  br i1 %small, label %yes, label %no, !dbg !6
yes:
  %seen = load volatile i32, ptr @table, !dbg !7
  %called = call i32 @second(i32 %n), !dbg !7
  ret i32 %called, !dbg !7
no:
  ret i32 %n, !dbg !8
}
@table = internal constant [4 x i32] [i32 3, i32 1, i32 4, i32 15]
define internal i32 @second(i32 %n) noinline !dbg !9 {
  %index = and i32 %n, 3
  %place = getelementptr i32, ptr @table, i32 %index
  %value = load i32, ptr %place
  ret i32 %value
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a", directory: "b")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 4}
!4 = distinct !DISubprogram(name: "first", file: !1, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!6 = !DILocation(line: 5, scope: !4)
!7 = !DILocation(line: 300, scope: !4)
!8 = !DILocation(line: 9, scope: !4)
!9 = distinct !DISubprogram(name: "second", file: !1, unit: !0, type: !5, spFlags: DISPFlagDefinition)
"#;

    /// An object file of a module; `None` where there is no LLVM.
    pub(in crate::llvm) fn object(text: &str) -> Option<Vec<u8>> {
        match gangway_llvm::target() {
            Ok(_) => Some(gangway_llvm::compile(text, false).expect("an object file").object),
            Err(why) => {
                eprintln!("skipped: {why}");
                assert!(why.contains("libLLVM"), "build `gangway-llvm` first: {why}");
                None
            }
        }
    }

    /// The object's code runs where it is put.
    #[test]
    fn a_module_becomes_code_that_runs_anywhere() {
        let Some(object) = object(MODULE) else { return };
        let compiled = link(&object).expect("code");
        let operations: Vec<u32> = compiled.positions.iter().map(|&(_, operation)| operation).collect();
        assert!(operations.contains(&4) && operations.contains(&299), "{operations:?}");
        assert!(compiled.positions.iter().all(|&(at, _)| at as usize <= compiled.code.len()));
        let start = place(&compiled);
        // SAFETY: that is what the text above says.
        let first: unsafe extern "C" fn(u32, f64) -> u32 = unsafe { std::mem::transmute(start) };
        for (given, expected) in [(0, 3), (3, 15), (6, 4), (7, 7), (1000, 1000)] {
            // SAFETY: it computes with its arguments alone.
            assert_eq!(unsafe { first(given, 0.) }, expected);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let text = "declare i32 @absent()\ndefine i32 @f() { %a = call i32 @absent() ret i32 %a }";
        let Some(object) = object(text) else { return };
        let wrong = link(&object).expect_err("something that is not there");
        assert!(wrong.contains("'absent'"), "{wrong}");
        assert!(link(&object[..200]).is_err() && link(b"text").is_err());
    }

    /// Whatever has become of an object file on its way, reading it ends.
    #[test]
    fn damaged_files_are_read_to_an_end() {
        let Some(object) = object(MODULE) else { return };
        let mut damaged = object.clone();
        for at in 0..object.len() {
            for value in [0, 0xff, object[at] ^ 0x80, object[at].wrapping_add(1)] {
                damaged[at] = value;
                let _ = link(&damaged);
            }
            damaged[at] = object[at];
            let _ = link(&object[..at]);
        }
    }
}
