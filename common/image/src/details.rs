//! What one device image offers: kernels, globals, entries, libraries.
//!
//! For the `gangway` tool and for messages; reads symbol tables, so it is not for the
//! path on which a program starts.

use object::{Object, ObjectSection, ObjectSymbol, SymbolFlags, SymbolKind};

use crate::bytes::Bytes;
use crate::elf::Machine;
use crate::entry::{self, EntryKind};
use crate::error::Result;
use crate::host::{self, Host};
use crate::recognise::{ImageKind, recognise};
use crate::{fatbin, ptx, ptx_objects};

const ENVIRONMENT: &str = "_kernel_environment";
/// `STO_CUDA_ENTRY` in a cubin's `st_other`.
const CUDA_ENTRY: u8 = 0x10;

/// The content of an image, as far as its format tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details<'a> {
    pub kernels: Vec<Kernel<'a>>,
    pub globals: Vec<Global<'a>>,
    pub tables: Vec<entry::Table<'a>>,
    /// Shared libraries that a host image needs.
    pub needed: Vec<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel<'a> {
    pub name: &'a str,
    pub environment: Option<KernelEnvironment>,
    /// What its PTX declares. Machine code is not looked into.
    pub resources: Option<ptx::Resources>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global<'a> {
    pub name: &'a str,
    pub size: Option<u64>,
}

/// How clang says that a GPU kernel must be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelEnvironment {
    pub generic_state_machine: bool,
    pub may_nest_parallelism: bool,
    /// 1 generic, 2 SPMD, 3 generic run as SPMD.
    pub execution_mode: u8,
    pub threads: (i32, i32),
    pub teams: (i32, i32),
    pub reduction_data_size: i32,
    /// `None`: the buffer has room for each team of a launch (clang 23).
    pub reduction_buffer_length: Option<i32>,
}

/// Reads what an image offers. Formats that only their own tools can read (bitcode,
/// SPIR-V, compressed bundles) give empty details.
pub fn details(image: &[u8]) -> Result<Details<'_>> {
    match recognise(image)? {
        ImageKind::Elf(elf) => elf_details(image, elf.machine),
        ImageKind::Ptx(_) => Ok(ptx_details(image)),
        ImageKind::CudaFatBinary => fatbin_details(image),
        ImageKind::PtxObjects { .. } => {
            let texts = ptx_objects::texts(image)?;
            let mut all = Details::default();
            for one in texts.iter().copied().map(ptx_details) {
                all.kernels.extend(one.kernels);
                all.globals.extend(one.globals);
            }
            // What one declares another may use.
            all.add_resources(&texts);
            Ok(all)
        }
        _ => Ok(Details::default()),
    }
}

fn ptx_details(text: &[u8]) -> Details<'_> {
    let module = ptx::module(text);
    let mut details = Details::default();
    for name in module.kernels {
        details.kernels.push(Kernel { name, environment: None, resources: None });
    }
    for (name, size) in module.globals {
        if !is_bookkeeping(name) {
            details.globals.push(Global { name, size });
        }
    }
    details.add_resources(&[text]);
    details
}

impl Details<'_> {
    /// Says of each kernel what texts that belong together declare for it.
    pub fn add_resources(&mut self, texts: &[&[u8]]) {
        let found = ptx::resources(texts);
        for kernel in &mut self.kernels {
            kernel.resources = found.get(kernel.name).copied().or(kernel.resources);
        }
    }
}

fn fatbin_details(image: &[u8]) -> Result<Details<'_>> {
    let mut all = Details::default();
    for record in fatbin::records(image)? {
        if record.compression.is_some() {
            continue;
        }
        // The records hold the same code for several processors; list it once.
        let one = match record.kind {
            fatbin::RecordKind::Ptx => ptx_details(record.payload),
            fatbin::RecordKind::Cubin => elf_details(record.payload, Machine::Nvptx)?,
            fatbin::RecordKind::Other(_) => continue,
        };
        if all.kernels.is_empty() && all.globals.is_empty() {
            all = one;
        }
    }
    Ok(all)
}

fn elf_details(image: &[u8], machine: Machine) -> Result<Details<'_>> {
    let host = Host::parse(image)?;
    let tables = entry::tables_of(&host)?;
    let mut details = Details { needed: host::needed_libraries(image)?, ..Details::default() };
    if !machine.is_gpu() && !tables.is_empty() {
        // A host image has its own entry table, which says more than its symbols.
        for entry in tables.iter().flat_map(|table| &table.entries) {
            match entry.kind {
                EntryKind::Kernel => {
                    details.kernels.push(Kernel { name: entry.name, environment: None, resources: None });
                }
                EntryKind::Global => {
                    details.globals.push(Global { name: entry.name, size: Some(entry.size) });
                }
                _ => {}
            }
        }
    } else {
        read_symbols(&host, machine, &mut details);
    }
    details.tables = tables;
    Ok(details)
}

fn read_symbols<'a>(host: &Host<'a>, machine: Machine, details: &mut Details<'a>) {
    let full: Vec<_> = host.file.symbols().collect();
    // A stripped image still has what its loader needs.
    let symbols = if full.is_empty() { host.file.dynamic_symbols().collect() } else { full };
    for symbol in &symbols {
        let Ok(name) = symbol.name() else { continue };
        if !symbol.is_definition() || !symbol.is_global() || name.is_empty() {
            continue;
        }
        let function = symbol.kind() == SymbolKind::Text;
        let kernel = match machine {
            Machine::Nvptx => {
                let SymbolFlags::Elf { st_other, .. } = symbol.flags() else { continue };
                (function && st_other & CUDA_ENTRY != 0).then_some(name)
            }
            // Every AMD kernel has a descriptor beside it.
            Machine::Amdgpu => name.strip_suffix(".kd"),
            _ => (function && name.starts_with("__omp_offloading_")).then_some(name),
        };
        if let Some(name) = kernel {
            details.kernels.push(Kernel { name, environment: None, resources: None });
        } else if symbol.kind() == SymbolKind::Data && !is_bookkeeping(name) {
            details.globals.push(Global { name, size: Some(symbol.size()) });
        }
    }
    for symbol in &symbols {
        let Some(name) = symbol.name().ok().and_then(|name| name.strip_suffix(ENVIRONMENT)) else { continue };
        let kernel = details.kernels.iter_mut().find(|kernel| kernel.name == name);
        if let (Some(kernel), Some(section)) = (kernel, symbol.section_index())
            && let Ok(section) = host.file.section_by_index(section)
            && let Ok(Some(data)) = section.data_range(symbol.address(), symbol.size())
        {
            kernel.environment = environment(Bytes(data)).ok();
        }
    }
}

/// Symbols that clang adds for its own purposes.
fn is_bookkeeping(name: &str) -> bool {
    name.ends_with(ENVIRONMENT)
        || name.ends_with("_exec_mode")
        || name.ends_with("_dynamic_environment")
        || name.starts_with(".offloading.")
        || name.starts_with("__llvm_")
        || name.starts_with("__omp_rtl_")
}

/// Bytes of a kernel's environment up to clang 22.
const ENVIRONMENT_WITH_LENGTH: usize = 48;

fn environment(data: Bytes<'_>) -> Result<KernelEnvironment> {
    const WHAT: &str = "a kernel environment";
    let flags = data.slice(WHAT, 0, 3)?;
    let number = |at| data.u32(WHAT, at).map(|value| value as i32);
    Ok(KernelEnvironment {
        generic_state_machine: flags[0] != 0,
        may_nest_parallelism: flags[1] != 0,
        execution_mode: flags[2],
        threads: (number(4)?, number(8)?),
        teams: (number(12)?, number(16)?),
        reduction_data_size: number(20)?,
        reduction_buffer_length: (data.0.len() >= ENVIRONMENT_WITH_LENGTH).then(|| number(24)).transpose()?,
    })
}
