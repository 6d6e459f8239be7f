//! Everything that a file holds for offloading.
//!
//! The `gangway inspect` command shows what this returns. A problem in one image does
//! not hide the others: it is returned beside them, with the place it is at.

use object::read::archive::ArchiveFile;

use crate::bytes::offset_in;
use crate::cuda;
use crate::entry;
use crate::error::{Error, Result};
use crate::gcc::{self, Target};
use crate::host::Host;
use crate::offload_binary::{self, OffloadKind};
use crate::recognise::{ImageKind, recognise};

pub use crate::gcc::HostTables;

/// The device images and entry tables of a file.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// `executable`, `shared object`, `object`, `archive`, or `image` for a bare one.
    pub container: &'static str,
    pub images: Vec<Image<'a>>,
    /// clang's host-side tables, with the archive member they are in.
    pub tables: Vec<(Option<String>, entry::Table<'a>)>,
    /// GCC's host-side tables.
    pub gcc: Option<HostTables>,
    pub problems: Vec<Problem>,
}

/// One device image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// The archive member that holds it.
    pub member: Option<String>,
    /// The section that holds it; empty for a bare image.
    pub section: &'a str,
    /// Where it starts in the file.
    pub offset: u64,
    pub producer: Producer,
    pub triple: Option<&'a str>,
    /// As the compiler wrote it beside the image, not as the image says itself.
    pub arch: Option<&'a str>,
    /// Normally one; GCC leaves a PTX text per module.
    pub parts: Vec<&'a [u8]>,
    /// What GCC's tables name; clang's images name it themselves.
    pub functions: Vec<&'a str>,
    pub variables: Vec<&'a str>,
}

/// Who made an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    Clang(OffloadKind),
    Gcc(Target),
    /// nvcc or clang, as a CUDA fat binary; it does not say which.
    Cuda,
    /// A bare image file does not say.
    Unknown,
}

/// Something that could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub member: Option<String>,
    pub section: String,
    pub error: Error,
}

impl Image<'_> {
    pub fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }
}

/// Finds everything for offloading in an executable, shared object, object, archive,
/// offload binary or bare image.
pub fn contents(bytes: &[u8]) -> Result<Contents<'_>> {
    let mut contents = Contents::default();
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        contents.container = "archive";
        archive(bytes, &mut contents)?;
        return Ok(contents);
    }
    match recognise(bytes)? {
        ImageKind::Elf(elf) if !elf.machine.is_gpu() => {
            let host = Host::parse(bytes)?;
            contents.container = if host.is_object() {
                "object"
            } else if crate::elf::FileType::Executable == elf.file_type || has_interpreter(&host) {
                "executable"
            } else {
                "shared object"
            };
            elf_file(&host, None, 0, &mut contents);
        }
        ImageKind::OffloadBinary => {
            contents.container = "offload binary";
            offload_section(bytes, None, "", 0, &mut contents);
        }
        _ => {
            contents.container = "image";
            contents.images.push(Image {
                member: None,
                section: "",
                offset: 0,
                producer: Producer::Unknown,
                triple: None,
                arch: None,
                parts: vec![bytes],
                functions: Vec::new(),
                variables: Vec::new(),
            });
        }
    }
    Ok(contents)
}

fn has_interpreter(host: &Host<'_>) -> bool {
    host.named(".interp").next().is_some()
}

fn archive<'a>(bytes: &'a [u8], contents: &mut Contents<'a>) -> Result<()> {
    let unreadable = |error: object::Error| {
        Error::malformed("the archive", 0, "a well-formed one", format!("unreadable ({error})"))
    };
    let archive = ArchiveFile::parse(bytes).map_err(unreadable)?;
    if archive.is_thin() {
        return Err(Error::Unsupported {
            what: "the archive",
            offset: 0,
            expected: "archives that contain their members",
            found: "a thin one; inspect the objects that it names".into(),
        });
    }
    for member in archive.members() {
        let member = member.map_err(unreadable)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let data = member.data(bytes).map_err(unreadable)?;
        let base = offset_in(bytes, data);
        // Archives also hold symbol tables and whatever else was put in.
        match recognise(data) {
            Ok(ImageKind::Elf(elf)) if !elf.machine.is_gpu() => match Host::parse(data) {
                Ok(host) => elf_file(&host, Some(&name), base, contents),
                Err(error) => contents.problem(Some(&name), "", error.moved_by(base)),
            },
            Ok(ImageKind::OffloadBinary) => offload_section(data, Some(&name), "", base, contents),
            Err(error) if data.starts_with(b"\x7fELF") => {
                contents.problem(Some(&name), "", error.moved_by(base));
            }
            _ => {}
        }
    }
    Ok(())
}

/// `base` is where the ELF file starts in the whole.
fn elf_file<'a>(host: &Host<'a>, member: Option<&str>, base: u64, contents: &mut Contents<'a>) {
    for (_, section) in host.named(".llvm.offloading") {
        offload_section(section.data, member, section.name, base + section.offset, contents);
    }
    match entry::tables_of(host) {
        Ok(tables) => {
            contents.tables.extend(tables.into_iter().map(|table| {
                (member.map(str::to_owned), entry::Table { offset: table.offset + base, ..table })
            }))
        }
        Err(error) => contents.problem(member, "", error.moved_by(base)),
    }
    if let Some(tables) = gcc::host_tables(host) {
        let sum = contents.gcc.get_or_insert_default();
        sum.functions += tables.functions;
        sum.variables += tables.variables;
    }
    match gcc::find(host) {
        Ok(found) => contents.images.extend(found.into_iter().map(|found| gcc_image(found, member, base))),
        Err(error) => contents.problem(member, "", error.moved_by(base)),
    }
    let (found, damage) = cuda::find(host);
    contents.images.extend(found.into_iter().map(|found| Image {
        member: member.map(str::to_owned),
        section: found.section,
        offset: base + found.offset,
        producer: Producer::Cuda,
        triple: None,
        arch: None,
        parts: vec![found.bytes],
        functions: Vec::new(),
        variables: Vec::new(),
    }));
    for (section, error) in damage {
        contents.problem(member, section, error.moved_by(base));
    }
}

fn offload_section<'a>(
    data: &'a [u8],
    member: Option<&str>,
    section: &'a str,
    base: u64,
    contents: &mut Contents<'a>,
) {
    for start in offload_binary::starts(data) {
        let entries = start.and_then(|start| {
            let entries = offload_binary::entries(&data[start as usize..]);
            entries.map(|entries| (start, entries)).map_err(|error| error.moved_by(start))
        });
        match entries {
            Ok((start, entries)) => contents.images.extend(entries.into_iter().map(|entry| Image {
                member: member.map(str::to_owned),
                section,
                offset: base + start + entry.offset,
                producer: Producer::Clang(entry.offload_kind),
                triple: entry.string("triple"),
                arch: entry.string("arch").filter(|arch| !arch.is_empty()),
                parts: vec![entry.image],
                functions: Vec::new(),
                variables: Vec::new(),
            })),
            Err(error) => contents.problem(member, section, error.moved_by(base)),
        }
    }
}

fn gcc_image<'a>(found: gcc::Found<'a>, member: Option<&str>, base: u64) -> Image<'a> {
    Image {
        member: member.map(str::to_owned),
        section: found.section,
        offset: base + found.offset,
        producer: Producer::Gcc(found.target),
        triple: found.target.triple(),
        arch: None,
        parts: found.parts,
        functions: found.functions,
        variables: found.variables,
    }
}

impl Contents<'_> {
    fn problem(&mut self, member: Option<&str>, section: &str, error: Error) {
        self.problems.push(Problem { member: member.map(str::to_owned), section: section.to_owned(), error });
    }
}
