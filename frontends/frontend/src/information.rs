//! `LIBOMPTARGET_INFO`: what is mapped, copied and launched.
//!
//! The information lines have the stock library's wording, so that scripts and
//! eyes trained on it keep working. All of it goes to standard error, a line at a
//! time, so that lines of several threads do not mix.

use crate::environment::variable;
use crate::message::print_line;
use crate::state::RUNTIME;
use gangway_backend::{ExecutionMode, LaunchShape, SourceLocation};
use gangway_runtime::events::{self, MappingChange, MappingEvent, Observer, Site, Step};
use gangway_runtime::{Device, Items, Label, MapKind};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Bits of `LIBOMPTARGET_INFO`.
mod bit {
    /// Arguments of constructs.
    pub const ARGUMENTS: u32 = 0x1;
    /// An item was found in the table.
    pub const EXISTS: u32 = 0x2;
    /// The table after each construct.
    pub const TABLE: u32 = 0x4;
    /// An entry was added or removed.
    pub const CHANGED: u32 = 0x8;
    /// Kernel launches.
    pub const LAUNCH: u32 = 0x10;
    /// Copies.
    pub const COPIES: u32 = 0x20;
    /// Items without device counterpart.
    pub const EMPTY: u32 = 0x40;
}

static LEVEL: AtomicU32 = AtomicU32::new(0);

/// Reads the environment; called once at start-up.
pub(crate) fn start() {
    if let Some(level) = variable("LIBOMPTARGET_INFO").and_then(|text| parse_level(&text)) {
        set_level(level);
    }
}

/// As C's `strtol` with base 0 on the texts people write.
fn parse_level(text: &str) -> Option<u32> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).ok();
    }
    text.parse::<i64>().ok().map(|level| level as u32)
}

/// Changes what is told while the program runs.
pub fn set_level(level: u32) {
    if LEVEL.swap(level, Ordering::Relaxed) == 0 && level != 0 {
        observe_for_information();
    }
}

/// Once in a process, however often the level goes to 0 and up again.
fn observe_for_information() {
    static OBSERVING: AtomicBool = AtomicBool::new(false);
    static INFORMATION: Information = Information;
    if !OBSERVING.swap(true, Ordering::Relaxed) {
        events::observe(&INFORMATION);
    }
}

/// Tells what is still mapped when the last library is about to go.
pub(crate) fn before_end() {
    if events::observed() && wanted(bit::TABLE) {
        for device in RUNTIME.numbered_devices().rev() {
            tell_table(device, "libomptarget:0:0", &|text| print_line(format_args!("{text}")));
        }
    }
}

fn wanted(bits: u32) -> bool {
    LEVEL.load(Ordering::Relaxed) & bits != 0
}

fn tell(device: i32, text: fmt::Arguments<'_>) {
    print_line(format_args!("omptarget device {device} info: {text}"));
}

/// Tells the arguments of a construct.
pub(crate) fn construct(device: &Device, site: &Site, title: &str, items: &impl Items) {
    if wanted(bit::ARGUMENTS) {
        tell_arguments(device.number(), site, title, items);
    }
}

#[cold]
fn tell_arguments(device: i32, site: &Site, title: &str, items: &impl Items) {
    let place = Place(site.location());
    tell(device, format_args!("{title} at {place} with {} arguments:", items.len()));
    for item in items.iter() {
        let implicit = if item.kind.has(MapKind::IMPLICIT) { "(implicit)" } else { "" };
        let name = item.label.name().unwrap_or("unknown");
        tell(device, format_args!("{}({name})[{}] {implicit}", kind(item.kind, item.size), item.size));
    }
}

fn kind(kind: MapKind, size: usize) -> &'static str {
    match (kind.has(MapKind::TO), kind.has(MapKind::FROM)) {
        (true, true) => "tofrom",
        (true, false) => "to",
        (false, true) => "from",
        _ if kind.has(MapKind::ATTACH) => "attach",
        _ if kind.has(MapKind::PRIVATE) => "private",
        _ if kind.has(MapKind::LITERAL) => "firstprivate",
        _ if size != 0 => "alloc",
        _ => "use_address",
    }
}

/// Tells the tables after a construct.
pub(crate) fn construct_done(site: &Site) {
    if wanted(bit::TABLE) {
        let place = Place(site.location()).to_string();
        tell_tables(&place, &|text| print_line(format_args!("{text}")));
    }
}

/// `ompx_dump_mapping_tables`.
pub fn dump_tables_to_stdout() {
    tell_tables("libomptarget:0:0", &|text| println!("{text}"));
}

fn tell_tables(place: &str, print: &dyn Fn(&str)) {
    for device in RUNTIME.numbered_devices() {
        tell_table(device, place, print);
    }
}

#[cold]
fn tell_table(device: &Device, place: &str, print: &dyn Fn(&str)) {
    let prefix = format!("omptarget device {} info:", device.number());
    let entries = device.table.entries();
    if entries.is_empty() {
        return print(&format!("{prefix} OpenMP Host-Device pointer mappings table empty"));
    }
    print(&format!("{prefix} OpenMP Host-Device pointer mappings after block at {place}:"));
    print(&format!(
        "{prefix} {:<18} {:<18} {} {} {} {}",
        "Host Ptr", "Target Ptr", "Size (B)", "DynRefCount", "HoldRefCount", "Declaration"
    ));
    for entry in entries {
        let Some(counts) = entry.snapshot() else { continue };
        print(&format!(
            "{prefix} {:#018x} {:#018x} {:<8} {:<11} {:<12} {} at {}",
            entry.host_begin(),
            entry.translate(entry.host_begin()).0,
            entry.host_end() - entry.host_begin(),
            Count(&counts).to_string(),
            counts.hold,
            entry.label().name().unwrap_or("unknown"),
            Place(entry.label().location())
        ));
    }
}

/// A place in the source without its folder, or the stock library's way to say that there is
/// none.
struct Place<'a>(Option<SourceLocation<'a>>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(at) => {
                let file = at.file.rsplit('/').next().unwrap_or(at.file);
                write!(f, "{file}:{}:{}", at.line, at.column)
            }
            None => f.write_str("unknown:0:0"),
        }
    }
}

/// A dynamic count.
struct Count<'a>(&'a gangway_runtime::present::Snapshot);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_infinite() { f.write_str("INF") } else { self.0.dynamic.fmt(f) }
    }
}

/// What the stock library calls a mode; it takes kernels of which nothing is known for generic.
const fn mode(mode: Option<ExecutionMode>) -> &'static str {
    match mode {
        Some(ExecutionMode::Bare) => "BARE",
        Some(ExecutionMode::Spmd) => "SPMD",
        Some(ExecutionMode::GenericSpmd) => "Generic-SPMD",
        Some(ExecutionMode::Generic) | None => "Generic",
    }
}

fn name(label: Label) -> &'static str {
    label.name().unwrap_or("unknown")
}

/// Prints `LIBOMPTARGET_INFO` lines.
struct Information;

impl Observer for Information {
    fn begin(&self, device: i32, _site: &Site, step: &Step<'_>) {
        match *step {
            Step::ToDevice { host, device: target, size, label } if wanted(bit::COPIES) => tell(
                device,
                format_args!(
                    "Copying data from host to device, HstPtr={host:#018x}, TgtPtr={:#018x}, Size={size}, Name={}",
                    target.0,
                    name(label)
                ),
            ),
            Step::FromDevice { host, device: source, size, label } if wanted(bit::COPIES) => tell(
                device,
                format_args!(
                    "Copying data from device to host, TgtPtr={:#018x}, HstPtr={host:#018x}, Size={size}, Name={}",
                    source.0,
                    name(label)
                ),
            ),
            Step::Launch { launch, shape } if wanted(bit::LAUNCH) => {
                let shape = shape.unwrap_or_else(|| launch.asked_shape());
                let LaunchShape { teams: [x, y, z], threads: [tx, ty, tz] } = shape;
                let mode = mode(launch.kernel.mode);
                print_line(format_args!(
                    "\"PluginInterface\" device {device} info: Launching kernel {} with [{x},{y},{z}] blocks and \
                     [{tx},{ty},{tz}] threads in {mode} mode",
                    launch.name
                ));
            }
            _ => {}
        }
    }

    fn mapping(&self, device: i32, event: &MappingEvent) {
        let (host, size, target, name) = (event.host, event.size, event.device.0, name(event.label));
        let suffix = match event.change {
            MappingChange::Created if wanted(bit::CHANGED) => {
                let (dynamic, hold) = counts(event);
                return tell(
                    device,
                    format_args!(
                        "Creating new map entry with HstPtrBase={:#018x}, HstPtrBegin={host:#018x}, \
                         TgtAllocBegin={:#018x}, TgtPtrBegin={target:#018x}, Size={size}, DynRefCount={dynamic}, \
                         HoldRefCount={hold}, Name={name}",
                        event.host_base,
                        event.allocation.unwrap_or_default().0
                    ),
                );
            }
            MappingChange::Removed if wanted(bit::CHANGED) => {
                return tell(
                    device,
                    format_args!(
                        "Removing map entry with HstPtrBegin={host:#018x}, TgtPtrBegin={target:#018x}, Size={size}, \
                         Name={name}"
                    ),
                );
            }
            MappingChange::Created | MappingChange::Removed => return,
            MappingChange::Acquired => " (incremented)",
            MappingChange::Seen | MappingChange::Found => " (update suppressed)",
            MappingChange::Released { last: true, delete: true } => " (reset, delayed deletion)",
            MappingChange::Released { last: true, delete: false } => " (decremented, delayed deletion)",
            MappingChange::Released { last: false, .. } => " (decremented)",
        };
        if !wanted(bit::EXISTS) {
            return;
        }
        let (dynamic, hold) = counts(event);
        let (on_dynamic, on_hold) = if event.hold { ("", suffix) } else { (suffix, "") };
        let implicit = if event.implicit { " (implicit)" } else { "" };
        // The stock library names what a construct maps, not what it looks up or gives up.
        let named = matches!(event.change, MappingChange::Acquired | MappingChange::Seen);
        let name = if named { format!(", Name={name}") } else { String::new() };
        tell(
            device,
            format_args!(
                "Mapping exists{implicit} with HstPtrBegin={host:#018x}, TgtPtrBegin={target:#018x}, Size={size}, \
                 DynRefCount={dynamic}{on_dynamic}, HoldRefCount={hold}{on_hold}{name}"
            ),
        );
    }

    fn host_address_used(&self, device: i32, host: usize, size: usize) {
        if wanted(bit::CHANGED) {
            tell(
                device,
                format_args!("Return HstPtrBegin {host:#018x} Size={size} for unified shared memory"),
            );
        }
    }

    fn without_counterpart(&self, device: i32, label: Label) {
        if wanted(bit::EMPTY) {
            tell(device, format_args!("variable {} does not have a valid device counterpart", name(label)));
        }
    }
}

fn counts(event: &MappingEvent) -> (String, u32) {
    event
        .counts
        .as_ref()
        .map_or_else(|| ("0".to_owned(), 0), |counts| (Count(counts).to_string(), counts.hold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_as_people_write_them() {
        assert_eq!(parse_level("-1"), Some(u32::MAX));
        assert_eq!(parse_level(" 16 "), Some(16));
        assert_eq!(parse_level("0x20"), Some(0x20));
        assert_eq!(parse_level("all"), None);
    }
}
