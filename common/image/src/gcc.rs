//! What GCC leaves in a program for offloading.
//!
//! An object holds GCC's own bytecode in sections named `.gnu.offload_lto_*`. In a
//! linked program a small generated translation unit per accelerator passes a record
//! to `GOMP_offload_register_ver`; the record is unnamed in a stripped file, so it is
//! found by its shape: pointers and counts that lead to PTX text or to an AMD image.

use crate::bytes::{Bytes, offset_in};
use crate::error::Result;
use crate::host::{Host, Pointer};

/// Where the image for Intel's MIC stands as it is.
const MIC_IMAGES: &str = ".gnu.offload_images";
const BYTECODE: &str = ".gnu.offload_lto_";
/// PTX modules of one program; GCC links libgomp's and libc's one by one.
const PART_LIMIT: u64 = 1 << 14;
/// Bytes of the record of code for AMD, the shorter one, which may stand at the end of its section.
const GCN_RECORD: u64 = 32;
const NAME_LIMIT: u64 = 1 << 20;

/// The device code of one accelerator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    pub target: Target,
    pub section: &'a str,
    /// Where the first part starts in the file.
    pub offset: u64,
    /// The images: one ELF file for AMD, one text per module for NVIDIA.
    pub parts: Vec<&'a [u8]>,
    pub functions: Vec<&'a str>,
    pub variables: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Bytecode, not yet compiled for an accelerator.
    Bytecode,
    Nvptx,
    Gcn,
    /// Of GCC 12 and older.
    IntelMic,
}

impl Target {
    /// The accelerator compilers whose images a program may have.
    pub const COMPILED: [Self; 3] = [Self::Nvptx, Self::Gcn, Self::IntelMic];

    /// The name of its compiler, as `-foffload` takes it.
    pub const fn triple(self) -> Option<&'static str> {
        match self {
            Self::Bytecode => None,
            Self::Nvptx => Some("nvptx-none"),
            Self::Gcn => Some("amdgcn-amdhsa"),
            Self::IntelMic => Some("x86_64-intelmic-linux-gnu"),
        }
    }

    /// Whether Gangway's front end for GCC's programs registers such images.
    pub const fn is_registered(self) -> bool {
        matches!(self, Self::Nvptx | Self::Gcn)
    }
}

/// How many functions and variables the host part of a program registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTables {
    pub functions: usize,
    pub variables: usize,
}

/// The host's tables, if the file was built by GCC with offloading.
pub fn host_tables(host: &Host<'_>) -> Option<HostTables> {
    let bytes = |name| host.named(name).map(|(_, section)| section.data.len()).sum::<usize>();
    let present =
        host.named(".gnu.offload_funcs").next().or(host.named(".gnu.offload_vars").next()).is_some();
    present.then(|| HostTables {
        functions: bytes(".gnu.offload_funcs") / 8,
        variables: bytes(".gnu.offload_vars") / 16,
    })
}

/// Every piece of device code that GCC left in a file.
pub fn find<'a>(host: &Host<'a>) -> Result<Vec<Found<'a>>> {
    let mut found: Vec<Found<'a>> = bytecode(host).into_iter().collect();
    if !host.is_object() && host_tables(host).is_some() {
        for number in 0..host.sections.len() {
            // The records are constant data, with or without relocations.
            if matches!(
                host.sections[number].name,
                ".data.rel.ro" | ".data.rel.ro.local" | ".rodata" | ".data"
            ) {
                registered(host, number, &mut found)?;
            }
        }
        found.extend(host.named(MIC_IMAGES).map(|(_, section)| Found {
            target: Target::IntelMic,
            section: section.name,
            offset: section.offset,
            parts: vec![section.data],
            functions: Vec::new(),
            variables: Vec::new(),
        }));
    }
    Ok(found)
}

/// Object files: a section per function and per kind of summary.
fn bytecode<'a>(host: &Host<'a>) -> Option<Found<'a>> {
    let sections = || host.sections.iter().filter(|section| section.name.starts_with(BYTECODE));
    let first = sections().next()?;
    let mut functions: Vec<&str> = sections().filter_map(|section| function_name(section.name)).collect();
    functions.sort();
    Some(Found {
        target: Target::Bytecode,
        section: BYTECODE,
        offset: first.offset,
        parts: sections().map(|section| section.data).collect(),
        functions,
        variables: Vec::new(),
    })
}

/// `.gnu.offload_lto_main._omp_fn.0.13.fcfc07d16c399ca` is `main._omp_fn.0`; names that
/// start with a dot are summaries.
fn function_name(section: &str) -> Option<&str> {
    let rest = section.strip_prefix(BYTECODE)?;
    if rest.starts_with('.') {
        return None;
    }
    let (rest, _hash) = rest.rsplit_once('.')?;
    let (name, _order) = rest.rsplit_once('.')?;
    Some(name)
}

fn registered<'a>(host: &Host<'a>, number: usize, found: &mut Vec<Found<'a>>) -> Result<()> {
    let section = &host.sections[number];
    let end = section.data.len() as u64;
    for at in (0..end.saturating_sub(GCN_RECORD - 1)).step_by(8) {
        let record = match host.pointer(number, at)? {
            pointer @ Pointer::Inside { .. } => {
                nvptx(host, number, at, pointer).or_else(|| gcn(host, number, at, pointer))
            }
            _ => None,
        };
        if let Some(record) = record
            && !found.iter().any(|known| known.offset == record.offset)
        {
            found.push(record);
        }
    }
    Ok(())
}

/// `{ {code, size}*, count, {name}*, count, {name, dimensions}*, count }`
fn nvptx<'a>(host: &Host<'a>, number: usize, at: u64, objects: Pointer<'a>) -> Option<Found<'a>> {
    let data = Bytes(host.sections[number].data);
    let count = u64::from(data.u32("", at + 8).ok()?);
    if count == 0 || count > PART_LIMIT {
        return None;
    }
    let mut parts = Vec::new();
    let mut first = None;
    for item in 0..count {
        let (code, size) = pair(host, objects, item)?;
        let Pointer::Inside { section, .. } = code else { return None };
        let text = host.content(code)?.get(..usize::try_from(size).ok()?)?;
        if !looks_like_ptx(text) {
            return None;
        }
        let start = &host.sections[section];
        first.get_or_insert((start.name, start.offset + offset_in(start.data, text)));
        // The size counts the final NUL, which is no part of the text.
        parts.push(text.strip_suffix(b"\0").unwrap_or(text));
    }
    let (section, offset) = first?;
    let variables = u64::from(data.u32("", at + 24).ok()?);
    let functions = u64::from(data.u32("", at + 40).ok()?);
    Some(Found {
        target: Target::Nvptx,
        section,
        offset,
        parts,
        functions: names(host, host.pointer(number, at + 32).ok()?, functions, 16),
        variables: names(host, host.pointer(number, at + 16).ok()?, variables, 8),
    })
}

/// `{ {size, image}*, kernel count, {name, dimensions, registers}*, ... }`
fn gcn<'a>(host: &Host<'a>, number: usize, at: u64, image: Pointer<'a>) -> Option<Found<'a>> {
    let Pointer::Inside { section, offset, .. } = image else { return None };
    let size = Bytes(host.sections[section].data).u64("", offset).ok()?;
    let code = host.pointer(section, offset.checked_add(8)?).ok()?;
    let elf = host.content(code)?.get(..usize::try_from(size).ok()?)?;
    let machine = elf.get(18..20)?;
    if !elf.starts_with(b"\x7fELF") || machine != 224u16.to_le_bytes() {
        return None;
    }
    let Pointer::Inside { section, offset, .. } = code else { return None };
    let data = Bytes(host.sections[number].data);
    let kernels = u64::from(data.u32("", at + 8).ok()?);
    Some(Found {
        target: Target::Gcn,
        section: host.sections[section].name,
        offset: host.sections[section].offset + offset,
        parts: vec![elf],
        functions: names(host, host.pointer(number, at + 16).ok()?, kernels, 32),
        variables: Vec::new(),
    })
}

/// Element `item` of an array of a pointer and a size.
fn pair<'a>(host: &Host<'a>, array: Pointer<'a>, item: u64) -> Option<(Pointer<'a>, u64)> {
    let Pointer::Inside { section, offset, .. } = array else { return None };
    let at = offset.checked_add(item * 16)?;
    let size = Bytes(host.sections[section].data).u64("", at.checked_add(8)?).ok()?;
    Some((host.pointer(section, at).ok()?, size))
}

/// The names that an array of records starting with a name pointer holds; as many as
/// can be read.
fn names<'a>(host: &Host<'a>, array: Pointer<'a>, count: u64, stride: u64) -> Vec<&'a str> {
    let Pointer::Inside { section, offset, .. } = array else { return Vec::new() };
    (0..count.min(NAME_LIMIT))
        .map_while(|item| {
            let pointer = host.pointer(section, offset.checked_add(item * stride)?).ok()?;
            host.text(pointer).ok()?
        })
        .collect()
}

fn looks_like_ptx(text: &[u8]) -> bool {
    let start = &text[..text.len().min(256)];
    text.len() > 16 && start.windows(9).any(|window| window == b".version\t" || window == b".version ")
}
