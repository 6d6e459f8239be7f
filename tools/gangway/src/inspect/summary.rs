//! The content of a file in the form that is shown; its JSON form is a promise.
//!
//! docs/cli.md describes every field. Fields may be added; one that is renamed or
//! changes its meaning raises `version`.

use std::path::Path;

use gangway_backend::Backend;
use gangway_image::entry::{Entry, Layout, Table};
use gangway_image::{
    Contents, Details, GccTarget, Image, KernelEnvironment, Producer, details, ptx, recognise,
};
use gangway_trace::pretty_kernel_name;
use serde::Serialize;

use super::code_object::{self, Resources};
use crate::library;
use crate::suitable::taker;

#[derive(Debug, Serialize)]
pub struct Summary {
    format: &'static str,
    version: u32,
    pub file: String,
    pub container: &'static str,
    /// The libomptarget that the file is linked with.
    pub runtime: Option<RuntimeSummary>,
    pub images: Vec<ImageSummary>,
    pub tables: Vec<TableSummary>,
    /// The number of functions and variables that GCC's host tables register.
    pub gcc: Option<GccSummary>,
    pub problems: Vec<ProblemSummary>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RuntimeSummary {
    pub library: String,
    /// The release of LLVM that it is of.
    pub llvm: Option<u32>,
    /// Gangway has a library of this name.
    pub replaced: bool,
}

impl RuntimeSummary {
    /// Of a file with these bytes; `ours` is the folder with Gangway's libraries.
    pub fn of(bytes: &[u8], ours: Option<&Path>) -> Option<Self> {
        let needed = gangway_image::needed_libraries(bytes).ok()?;
        let library = *needed.iter().find(|library| library.starts_with("libomptarget.so"))?;
        let replaced = ours.is_some_and(|folder| folder.join(library).exists());
        Some(Self { library: library.to_owned(), llvm: library::release(library), replaced })
    }
}

#[derive(Debug, Serialize)]
pub struct ImageSummary {
    pub index: usize,
    /// `elf`, `ptx`, `bitcode`, ... or `gcc-lto` or `unknown`.
    pub kind: &'static str,
    pub description: String,
    pub triple: Option<String>,
    /// As the compiler wrote it beside the image.
    pub arch: Option<String>,
    /// As the image says itself.
    pub processor: Option<String>,
    /// `clang`, `gcc` or `unknown`.
    pub producer: &'static str,
    /// `openmp`, `cuda`, ...; of clang's images.
    pub offload_kind: Option<&'static str>,
    pub member: Option<String>,
    pub section: Option<String>,
    pub offset: u64,
    pub size: u64,
    pub parts: usize,
    pub kernels: Vec<KernelSummary>,
    pub globals: Vec<GlobalSummary>,
    pub entries: Vec<EntrySummary>,
    pub needed: Vec<String>,
    /// The back end that takes it.
    pub back_end: Option<String>,
    /// Why none does, of what a program has.
    pub skipped: Option<String>,
    pub error: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct KernelSummary {
    pub name: String,
    pub symbol: String,
    pub environment: Option<EnvironmentSummary>,
    /// 32-bit registers that its PTX declares: what a thread has, the device's compiler decides.
    pub declared_registers: Option<u64>,
    /// Bytes that its PTX declares, with what it calls, or that its code object says.
    pub shared_memory: Option<u64>,
    /// Of kernels in AMD's code objects.
    pub code_object: Option<Resources>,
}

#[derive(Debug, Serialize)]
pub struct EnvironmentSummary {
    /// `generic`, `spmd`, `generic-spmd` or `unknown`.
    pub mode: &'static str,
    pub threads: (i32, i32),
    pub teams: (i32, i32),
    pub may_nest_parallelism: bool,
    pub reduction_data_size: i32,
    /// `None`: room for each team of a launch.
    pub reduction_buffer_length: Option<i32>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct GlobalSummary {
    pub name: String,
    pub size: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct TableSummary {
    pub member: Option<String>,
    pub section: String,
    /// `current` (56-byte entries) or `legacy` (32-byte entries).
    pub layout: &'static str,
    pub offset: u64,
    pub entries: Vec<EntrySummary>,
}

#[derive(Debug, Serialize)]
pub struct EntrySummary {
    pub kind: &'static str,
    pub offload_kind: &'static str,
    pub name: String,
    pub symbol: String,
    pub address: Option<u64>,
    pub size: u64,
    pub flags: u32,
    pub data: u64,
}

#[derive(Debug, Serialize)]
pub struct GccSummary {
    pub functions: usize,
    pub variables: usize,
    /// `libgomp.a` is in the program.
    pub libgomp_inside: bool,
}

#[derive(Debug, Serialize)]
pub struct ProblemSummary {
    pub member: Option<String>,
    pub section: Option<String>,
    pub message: String,
}

impl Summary {
    pub fn new(
        file: &Path,
        contents: &Contents<'_>,
        runtime: Option<RuntimeSummary>,
        libgomp_inside: bool,
        backends: &[Box<dyn Backend>],
    ) -> Self {
        // Images of objects are not linked yet.
        let is_linked = !matches!(contents.container, "object" | "archive");
        let summarised = |(at, image)| {
            let mut summary = ImageSummary::new(at, image);
            if is_linked && summary.error.is_none() {
                summary.find_back_end(image, backends);
            }
            summary
        };
        Summary {
            format: "gangway-inspect",
            version: 1,
            file: file.display().to_string(),
            container: contents.container,
            runtime,
            images: contents.images.iter().enumerate().map(summarised).collect(),
            tables: contents
                .tables
                .iter()
                .map(|(member, table)| TableSummary {
                    member: member.clone(),
                    section: table.section.to_owned(),
                    layout: match table.layout {
                        Layout::Current => "current",
                        Layout::Legacy => "legacy",
                    },
                    offset: table.offset,
                    entries: entries(table),
                })
                .collect(),
            gcc: contents.gcc.map(|tables| GccSummary {
                functions: tables.functions,
                variables: tables.variables,
                libgomp_inside,
            }),
            problems: contents
                .problems
                .iter()
                .map(|problem| ProblemSummary {
                    member: problem.member.clone(),
                    section: Some(problem.section.clone()).filter(|section| !section.is_empty()),
                    message: problem.error.to_string(),
                })
                .collect(),
        }
    }

    pub fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.images.iter().all(|image| image.error.is_none())
    }
}

impl ImageSummary {
    fn new(index: usize, image: &Image<'_>) -> Self {
        let (producer, offload_kind) = match image.producer {
            Producer::Clang(kind) => ("clang", Some(kind.label())),
            Producer::Gcc(_) => ("gcc", None),
            Producer::Cuda => ("unknown", Some("cuda")),
            Producer::Unknown => ("unknown", None),
        };
        let mut summary = ImageSummary {
            index,
            kind: "unknown",
            description: "of an unknown kind".to_owned(),
            triple: image.triple.map(str::to_owned),
            arch: image.arch.map(str::to_owned),
            processor: None,
            producer,
            offload_kind,
            member: image.member.clone(),
            section: Some(image.section.to_owned()).filter(|section| !section.is_empty()),
            offset: image.offset,
            size: image.size(),
            parts: image.parts.len(),
            kernels: Vec::new(),
            globals: Vec::new(),
            entries: Vec::new(),
            needed: Vec::new(),
            back_end: None,
            skipped: None,
            error: None,
        };
        if image.producer == Producer::Gcc(GccTarget::Bytecode) {
            // Only GCC reads its bytecode; the names of its sections tell the rest.
            summary.kind = "gcc-lto";
            summary.description = "GCC bytecode, not compiled for a device yet".to_owned();
        } else if let Err(error) = summary.look_inside(image) {
            summary.error = Some(error.to_string());
        }
        // GCC's tables name what the host can reach, not what its modules contain.
        if matches!(image.producer, Producer::Gcc(_)) {
            let resources = ptx::resources(&image.parts);
            let mut inside = std::mem::take(&mut summary.kernels);
            let of = |name: &&str| {
                let found = inside.iter().position(|kernel| kernel.symbol == **name);
                let kernel = found.map_or_else(|| KernelSummary::new(name), |at| inside.swap_remove(at));
                // Modules of one image call each other.
                if image.producer == Producer::Gcc(GccTarget::Nvptx) {
                    kernel.with(resources.get(*name).copied())
                } else {
                    kernel
                }
            };
            summary.kernels = image.functions.iter().map(of).collect();
            summary.globals.retain(|global| image.variables.contains(&&*global.name));
        }
        summary
    }

    /// Whether it is made for a GPU, as far as its compiler says.
    pub fn is_gpu(&self) -> bool {
        self.triple.as_ref().is_some_and(|triple| !triple.starts_with("x86_64"))
    }

    /// Asks the back ends as the runtime does.
    fn find_back_end(&mut self, image: &Image<'_>, backends: &[Box<dyn Backend>]) {
        let taker = taker(image, backends);
        self.back_end = taker.map(|backend| backend.name().to_owned());
        if taker.is_none() {
            let made_for = image.triple.unwrap_or(&self.description);
            self.skipped = Some(format!("no back end takes images for {made_for}"));
        }
    }

    fn look_inside(&mut self, image: &Image<'_>) -> anyhow::Result<()> {
        for (at, part) in image.parts.iter().enumerate() {
            let kind = recognise(part)?;
            if at == 0 {
                self.kind = kind.label();
                self.description = kind.to_string();
                self.processor = kind.processor();
            }
            self.add(&details(part)?);
            let found = code_object::resources(part, &kind)?;
            for kernel in &mut self.kernels {
                let resources = found.get(&kernel.symbol).copied();
                kernel.shared_memory = resources.map(|of| of.shared_memory.into()).or(kernel.shared_memory);
                kernel.code_object = resources.or(kernel.code_object);
            }
        }
        Ok(())
    }

    fn add(&mut self, details: &Details<'_>) {
        self.kernels.extend(details.kernels.iter().map(|kernel| KernelSummary {
            environment: kernel.environment.as_ref().map(EnvironmentSummary::new),
            ..KernelSummary::new(kernel.name).with(kernel.resources)
        }));
        self.globals.extend(
            details
                .globals
                .iter()
                .map(|global| GlobalSummary { name: global.name.to_owned(), size: global.size }),
        );
        self.entries.extend(details.tables.iter().flat_map(entries));
        self.needed.extend(details.needed.iter().map(|library| (*library).to_owned()));
    }
}

impl KernelSummary {
    fn new(symbol: &str) -> Self {
        KernelSummary {
            name: pretty_kernel_name(symbol).into_owned(),
            symbol: symbol.to_owned(),
            environment: None,
            declared_registers: None,
            shared_memory: None,
            code_object: None,
        }
    }
}

impl KernelSummary {
    fn with(self, resources: Option<ptx::Resources>) -> Self {
        KernelSummary {
            declared_registers: resources.map(|of| of.registers),
            shared_memory: resources.and_then(|of| of.shared),
            ..self
        }
    }
}

impl EnvironmentSummary {
    fn new(environment: &KernelEnvironment) -> Self {
        EnvironmentSummary {
            mode: match environment.execution_mode {
                1 => "generic",
                2 => "spmd",
                3 => "generic-spmd",
                _ => "unknown",
            },
            threads: environment.threads,
            teams: environment.teams,
            may_nest_parallelism: environment.may_nest_parallelism,
            reduction_data_size: environment.reduction_data_size,
            reduction_buffer_length: environment.reduction_buffer_length,
        }
    }
}

fn entries(table: &Table<'_>) -> Vec<EntrySummary> {
    let entry = |entry: &Entry<'_>| EntrySummary {
        kind: entry.kind.label(),
        offload_kind: entry.offload_kind.label(),
        name: pretty_kernel_name(entry.name).into_owned(),
        symbol: entry.name.to_owned(),
        address: entry.address,
        size: entry.size,
        flags: entry.flags,
        data: entry.data,
    };
    table.entries.iter().map(entry).collect()
}
