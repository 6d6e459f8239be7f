//! What users of OpenMP can do about errors: clauses, directives and routines, and the options that
//! their compilers have for devices. What only one compiler has, its front end adds.

use gangway_backend::AllocationKind;
use gangway_frontend::words::{Told, Words};
use gangway_runtime::present::Label;
use gangway_runtime::reverse::Refusal;
use gangway_runtime::{ErrorKind, MappedAction, Remedy};

/// OpenMP's words.
#[derive(Debug)]
pub struct OpenMp;

const TRACES: &str = "OFFLOAD_TRACK_ALLOCATION_TRACES=1 shows where memory was allocated and freed";
const ON_CPUS: &str = "CPU devices reach the host's memory all the same, GPUs do not";

impl Words for OpenMp {
    fn instead(&self, kind: &ErrorKind) -> Option<String> {
        let ErrorKind::Requires { clause } = kind else { return None };
        Some(format!(
            "'#pragma omp requires {clause}' is not used in every translation unit that has target regions"
        ))
    }

    fn help(&self, kind: &ErrorKind) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(routine) = routine_that_frees(kind) {
            lines.push(format!("{routine} frees it"));
        }
        lines.extend(help(kind));
        lines
    }

    fn remedy(&self, remedy: &Remedy) -> Option<String> {
        Some(match remedy {
            Remedy::Pointee => "map what the region uses of it, as in map(tofrom: p[0:n])".to_owned(),
            Remedy::InnerPointee { holder, member } => map_pointee(*holder, member.as_deref()),
            Remedy::Whole(structure) => map_all_of(*structure),
        })
    }
}

fn help(kind: &ErrorKind) -> Option<String> {
    let line = match kind {
        ErrorKind::NoSuchDevice { .. } => {
            "check the device clause, OMP_DEFAULT_DEVICE and omp_get_num_devices()"
        }
        ErrorKind::NoDevices { backends, .. } if !backends.is_empty() => {
            "compile for one of these with -fopenmp-targets= or --offload-arch= (GCC: -foffload=)"
        }
        ErrorKind::NoImage { .. } => "add the device's type to -fopenmp-targets=, or choose another device",
        ErrorKind::Scattered { .. } => {
            "map them in one construct, or name the device of each construct (device clause)"
        }
        ErrorKind::MembersApart { .. } => {
            "name all members that a construct uses in the clause that maps the first"
        }
        ErrorKind::PartlyPresent { .. } => {
            "a list item must be wholly inside what is mapped or wholly outside it (OpenMP 6.0, map clause); map \
             the larger section first, or unmap the smaller one"
        }
        ErrorKind::NotPresent { .. } => {
            "map it with target data or target enter data before, or drop `present`"
        }
        ErrorKind::NeverMapped { action: MappedAction::Update, .. } => {
            "map all of it with target data or target enter data before"
        }
        ErrorKind::OutOfMemory { memory: AllocationKind::Device, .. } => {
            "unmap what is not needed (target exit data), or work in smaller pieces"
        }
        ErrorKind::GroupMemory { most: 0, fixed: 0, .. } => {
            "say what it is to do without, dyn_groupprivate(fallback(null): ...), or run it on a GPU"
        }
        ErrorKind::GroupMemory { .. } => "ask for less in the ompx_dyn_cgroup_mem or dyn_groupprivate clause",
        ErrorKind::NotFreed { .. } => TRACES,
        ErrorKind::WrongFree(mistake) if mistake.lacks_traces() => TRACES,
        ErrorKind::HostPointer { .. } => return with_mapping(&Remedy::Pointee),
        ErrorKind::PartlyMapped { wanted, .. } => return OpenMp.remedy(&Remedy::Whole(wanted.label)),
        ErrorKind::InnerPointer { holder, member, .. } => {
            let pointee = Remedy::InnerPointee { holder: holder.label, member: member.clone() };
            return with_mapping(&pointee).map(|mapping| format!("if the region uses it, {mapping}"));
        }
        _ => return None,
    };
    Some(line.to_owned())
}

/// What to map where a device may do without.
fn with_mapping(remedy: &Remedy) -> Option<String> {
    OpenMp.remedy(remedy).map(|mapping| format!("{mapping}; {ON_CPUS}"))
}

/// The routine that should have been called.
fn routine_that_frees(kind: &ErrorKind) -> Option<&'static str> {
    let ErrorKind::WrongFree(mistake) = kind else { return None };
    Some(match mistake.other_kind()? {
        AllocationKind::Device => "omp_target_free",
        AllocationKind::Host => "llvm_omp_target_free_host",
        AllocationKind::Shared => "llvm_omp_target_free_shared",
    })
}

/// What to do about a pointer inside of a variable, whose own name may be known.
fn map_pointee(holder: Label, member: Option<&str>) -> String {
    let member = match member.or(holder.name()) {
        Some(name) if member.is_some() => name.to_owned(),
        Some(name) if name.starts_with("this[") => "this->member".to_owned(),
        Some(name) => match name.split_once('[') {
            Some((array, _)) => format!("{array}[i].member"),
            None => format!("{name}.member"),
        },
        None => "s.member".to_owned(),
    };
    format!(
        "map what it points to as well, as in map(tofrom: {member}[0:n]), which attaches the pointer, too"
    )
}

/// What to do about a structure that is mapped in part.
fn map_all_of(structure: Label) -> String {
    let name = structure.name().unwrap_or("s");
    format!("map all that the region uses of it, or all of it, before: map(tofrom: {name})")
}

/// Why a region of `device(ancestor: 1)` cannot have its data.
#[must_use]
pub fn refusal(refusal: &Refusal, words: &dyn Words) -> String {
    match refusal {
        Refusal::Partly { begin, size } => format!(
            "a region of device(ancestor: 1) maps {size} bytes at {begin:#x}, of which only a part is mapped on the \
             device; map all of them, or none"
        ),
        Refusal::Absent { begin, size } => format!(
            "a region of device(ancestor: 1) maps {size} bytes at {begin:#x} as `present`, and they are not mapped \
             on the device"
        ),
        Refusal::TooLarge { size } => {
            format!("a region of device(ancestor: 1) maps {size} bytes, for which there is no room")
        }
        Refusal::Copy(error) => format!("data of a region of device(ancestor: 1): {}", Told(error, words)),
    }
}
