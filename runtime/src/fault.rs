//! Which variable a kernel's refused access is near to, in words.
//!
//! Only drivers that tell the address of an access have it named: the virtual GPU's does,
//! NVIDIA's does not. Nothing is kept for it: the present table is asked when an error is made,
//! without any other lock and without a call of a back end. The construct's own entries are
//! still there then.

use crate::device::Device;
use crate::error::{self, Error, ErrorKind, HostRange};
use crate::inside;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use gangway_backend::{Access, SourceLocation};
use gangway_present::Label;
use gangway_present::{EntryRef, Phase, Relation};

/// Lower addresses are offsets from a null pointer.
const NULL_ZONE: usize = 1 << 16;

/// How far from a pointer's value, or from a variable, an access may have been meant for it.
const REACH: usize = 1 << 30;

const MAP_THE_POINTER: &str =
    "the region has come upon a pointer of the host: map or attach the pointer with what it points to";

/// A mapped range, here and there.
struct Mapped {
    host: HostRange,
    device: usize,
}

impl Mapped {
    fn of(entry: EntryRef<'_>) -> Option<Self> {
        entry.snapshot().filter(|counts| counts.phase != Phase::Allocating)?;
        let (begin, end) = (entry.host_begin(), entry.host_end());
        let host = HostRange { begin, size: end.checked_sub(begin)?, label: entry.label() };
        Some(Self { device: entry.translate(begin).0, host })
    }

    /// Whether a device address is in its storage, or not far from it.
    fn is_near(&self, address: usize) -> bool {
        let (begin, end) = (self.device, self.device.saturating_add(self.host.size));
        (begin.saturating_sub(REACH)..end.saturating_add(REACH)).contains(&address)
    }

    /// `8 bytes after the end of `, of a range of this size at `begin`.
    fn side(&self, begin: usize, address: usize) -> String {
        let bytes = |count: usize| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
        let end = begin + self.host.size;
        if address < begin {
            format!("{} before ", bytes(begin - address))
        } else if address == begin {
            String::new()
        } else if address < end {
            format!("{} into ", bytes(address - begin))
        } else if address == end {
            "just after the end of ".to_owned()
        } else {
            format!("{} after the end of ", bytes(address - end))
        }
    }
}

/// The lines about an access, and what to do. `near` is what the driver says of its address.
fn describe(access: &Access, near: &str, mapped: &[Mapped]) -> (Vec<String>, Option<&'static str>) {
    let Access { address, size, write, foreign, unified } = *access;
    let what = match (size, write) {
        (0, _) => format!("access at {address:#x}"),
        (_, true) => format!("write of {size} bytes at {address:#x}"),
        (_, false) => format!("read of {size} bytes at {address:#x}"),
    };
    let plainly = || vec![if near.is_empty() { what.clone() } else { format!("{what}: {near}") }];
    if foreign && unified && address >= NULL_ZONE {
        return (
            vec![format!("{what}, where neither the device nor the host has memory that allows it")],
            None,
        );
    }
    if foreign {
        let inside = |one: &&Mapped| (one.host.begin..one.host.begin + one.host.size).contains(&address);
        return match mapped.iter().find(inside).filter(|_| address >= NULL_ZONE) {
            Some(one) => {
                let side = one.side(one.host.begin, address);
                let (host, device) = (one.host, one.device);
                let line =
                    format!("{what}, an address of the host: {side}{host}, which is mapped at {device:#x}");
                (vec![line], Some(MAP_THE_POINTER))
            }
            None => (plainly(), None),
        };
    }
    // An access beyond the end of one may be nearer to the next one. Where each buffer of a device has
    // addresses of its own, all others are far away.
    let near_by = || mapped.iter().filter(|one| one.is_near(address));
    let below = near_by().filter(|one| one.device <= address).max_by_key(|one| one.device);
    let above = near_by().filter(|one| one.device > address).min_by_key(|one| one.device);
    let line = |one: &Mapped| {
        let side = one.side(one.device, address);
        format!("{what}: {side}{}, which is mapped at {:#x}", one.host, one.device)
    };
    let mut lines: Vec<_> = below.into_iter().chain(above).map(line).collect();
    match &*lines {
        [] => lines = plainly(),
        // What programs allocate by themselves is in no table of the runtime's.
        _ if !near.is_empty() => lines.push(format!("for the driver {address:#x} is {near}")),
        _ => {}
    }
    (lines, None)
}

/// A path in the form in which the program's compiler was given it, if that can be told.
fn shorten(path: &mut String, construct: Option<SourceLocation<'_>>) {
    let given = construct.map_or("", |at| at.file);
    if given.starts_with('/') {
        return;
    }
    let below = |folder: &str| Some(path.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
    if path.strip_suffix(given).is_some_and(|folder| !given.is_empty() && folder.ends_with('/')) {
        *path = given.to_owned();
    } else if let Some(short) = std::env::current_dir().ok().and_then(|folder| below(folder.to_str()?)) {
        *path = short;
    }
}

impl Device {
    /// An error of this device. Where a kernel's access was refused, its place is named.
    #[cold]
    pub(crate) fn error(
        &self,
        mut kind: ErrorKind,
        construct: Option<SourceLocation<'static>>,
    ) -> Box<Error> {
        let unified = self.opened_if_usable().is_some_and(|opened| opened.capabilities.unified_memory);
        if let Some(report) = kind.fault_report() {
            if let Some((path, ..)) = &mut report.source {
                shorten(path, construct);
            }
            report.function = gangway_trace::pretty_kernel_name(&report.function).into_owned();
            if let (Some(access), true) = (&mut report.access, report.place.is_empty()) {
                access.unified = unified;
                let mapped: Vec<_> = self.table.entries().into_iter().filter_map(Mapped::of).collect();
                let (place, help) = describe(access, &report.near, &mapped);
                report.place = place;
                report.help.extend(help.map(str::to_owned));
            }
        }
        Error::new(kind, self.number(), construct)
    }
}

/// A variable of a construct's, with its place in the source.
fn named(label: Label, otherwise: &str) -> String {
    let name = label.name().map_or(otherwise.to_owned(), |name| format!("`{name}`"));
    let declared = label.location();
    let declared = declared.map_or(String::new(), |at| format!(" (declared at {}:{})", at.file, at.line));
    format!("{name}{declared}")
}

/// What a program has to map, so that its kernel can use what it was refused. Each language says it in
/// its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// What a pointer of the region's own points to.
    Pointee,
    /// What a pointer inside of a variable points to, with the pointer.
    InnerPointee {
        /// The variable.
        holder: Label,
        /// What the user calls the pointer, if that is known.
        member: Option<String>,
    },
    /// All of a structure.
    Whole(Label),
}

impl Error {
    /// Says what the construct's items have to do with what its kernel has used: a structure that is
    /// mapped in part, or the pointer through which it has used memory of the host. `advise` has words
    /// for what to do.
    #[cold]
    pub fn explain(
        &mut self,
        device: Option<&Device>,
        items: &impl Items,
        advise: impl FnOnce(&Remedy) -> Option<String>,
    ) {
        let Some(report) = self.kind.fault_report() else { return };
        // What is mapped has been named, with what to do.
        let Some(access) = report.access.filter(|access| access.address >= NULL_ZONE) else { return };
        if !report.help.is_empty() {
            return;
        }
        let said = if access.foreign {
            kept_pointer(access, items).or_else(|| pointer_inside(access, items))
        } else {
            device.and_then(|device| device.partly_mapped(access, items))
        };
        let Some((place, remedy)) = said else { return };
        report.place.push(place);
        report.help.extend(remedy.as_ref().and_then(advise));
    }
}

/// A line about the place of an access, and what to do.
type Explanation = (String, Option<Remedy>);

/// The pointer that the region has for itself.
fn kept_pointer(access: Access, items: &impl Items) -> Option<Explanation> {
    let keeps = |item: &Item| {
        let unmapped = item.size == 0 || item.kind.has(MapKind::LITERAL);
        let reach = access.address.checked_sub(item.begin).is_some_and(|offset| offset < REACH);
        item.kind.has(MapKind::PARAMETER) && unmapped && item.begin >= NULL_ZONE && reach
    };
    let item = items.iter().filter(keeps).max_by_key(|item| item.begin)?;
    let name = match item.label.name() {
        Some(_) => format!("pointer {}", named(item.label, "")),
        None => "a pointer".to_owned(),
    };
    if access.unified {
        return Some((format!("{name} holds {:#x}", item.begin), None));
    }
    let begin = item.begin;
    Some((
        format!("{name} keeps the host's address {begin:#x}: what it points to is not mapped"),
        Some(Remedy::Pointee),
    ))
}

/// The pointer inside of what is mapped. The host's copy of it is read, which kernels seldom change.
fn pointer_inside(access: Access, items: &impl Items) -> Option<Explanation> {
    if access.unified {
        return None;
    }
    let pointers = items.iter().flat_map(|item| {
        inside::pointers_in(&item).into_iter().map(move |(offset, value)| (item, offset, value))
    });
    let reaches = |value: usize| access.address.checked_sub(value).is_some_and(|offset| offset < REACH);
    let (item, offset, value) =
        pointers.filter(|(.., value)| reaches(*value)).max_by_key(|(.., value)| *value)?;
    let member = inside::member(item.label, offset);
    let pointer = error::pointer(member.as_deref());
    Some((
        format!(
            "{pointer} at byte {offset} of {} keeps the host's address {value:#x}: what it points to is not mapped",
            named(item.label, "a mapped variable")
        ),
        Some(Remedy::InnerPointee { holder: item.label, member }),
    ))
}

impl Device {
    /// The structure whose members are mapped, and whose other bytes the kernel has used.
    fn partly_mapped(&self, access: Access, items: &impl Items) -> Option<Explanation> {
        items.iter().find_map(|item| {
            let Relation::Partial(entry) = self.table.lookup(item.begin, item.size) else { return None };
            let begin = entry.translate(item.begin).0;
            let used = access.address.wrapping_sub(begin) < item.size;
            let is_used = used && item.kind.has_all(MapKind::PARAMETER | MapKind::IMPLICIT) && item.size > 0;
            is_used.then(|| {
                let parts: Vec<_> = self.parts_of(item.begin, item.size);
                let parts: Vec<_> =
                    parts.iter().map(|part| named(part.label, "a part without a name")).collect();
                let line = format!(
                    "{} of {} bytes is only partly mapped, and byte {} is not; mapped: {}",
                    named(item.label, "a variable"),
                    item.size,
                    access.address.wrapping_sub(begin),
                    parts.join(", ")
                );
                (line, Some(Remedy::Whole(item.label)))
            })
        })
    }

    /// What is mapped of a range.
    pub(crate) fn parts_of(&self, begin: usize, size: usize) -> Vec<HostRange> {
        let entries = self.table.entries().into_iter().filter_map(Mapped::of).map(|one| one.host);
        entries.filter(|part| part.begin < begin + size && begin < part.begin + part.size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped() -> [Mapped; 2] {
        let range = |begin, size, name| HostRange { begin, size, label: Label::of_symbol(name) };
        [
            Mapped { host: range(0x10_0000, 800, c"a"), device: 0x2000_0000 },
            Mapped { host: range(0x20_0000, 16, c"b"), device: 0x2000_1000 },
        ]
    }

    fn access(address: usize, foreign: bool) -> Access {
        Access { address, size: 4, write: true, foreign, unified: false }
    }

    #[test]
    fn a_device_with_unified_memory_needs_no_maps() {
        let wild = Access { unified: true, ..access(0x1234_5600, true) };
        let line =
            "write of 4 bytes at 0x12345600, where neither the device nor the host has memory that allows it";
        assert_eq!(describe(&wild, "", &mapped()).0, [line]);
    }

    fn lines(address: usize, foreign: bool, near: &str) -> String {
        describe(&access(address, foreign), near, &mapped()).0.join("\n")
    }

    #[test]
    fn an_address_of_the_device_is_between_two_ranges() {
        assert_eq!(
            lines(0x2000_0000 + 808, false, ""),
            "write of 4 bytes at 0x20000328: 8 bytes after the end of `a` [0x100000, 0x100320) of 800 bytes, \
             which is mapped at 0x20000000\n\
             write of 4 bytes at 0x20000328: 3288 bytes before `b` [0x200000, 0x200010) of 16 bytes, \
             which is mapped at 0x20001000"
        );
        let at = |address| lines(address, false, "freed");
        assert!(at(0x2000_0320).contains(": just after the end of `a` "));
        assert!(at(0x1fff_ffff).contains(": 1 byte before `a` "));
        assert!(!at(0x1fff_ffff).contains("`b`"));
        assert!(at(0x2000_0004).contains(": 4 bytes into `a` "));
        assert!(at(0x2000_0004).ends_with("\nfor the driver 0x20000004 is freed"));
        // Neither is what was meant.
        let far = "write of 4 bytes at 0x100000000: in no buffer";
        assert_eq!(lines(1 << 32, false, "in no buffer"), far);
        let nothing = describe(&access(0x2000_0004, false), "freed", &[]);
        assert_eq!(nothing, (vec!["write of 4 bytes at 0x20000004: freed".to_owned()], None));
    }

    #[test]
    fn an_address_of_the_host_is_in_a_range_or_nowhere() {
        let at = |address| lines(address, true, "a host pointer");
        assert!(at(0x20_0008).contains(", an address of the host: 8 bytes into `b` "), "{}", at(0x20_0008));
        assert!(at(0x20_0000).ends_with(", which is mapped at 0x20001000"));
        assert_eq!(at(0x20_0010), "write of 4 bytes at 0x200010: a host pointer");
        assert_eq!(describe(&access(0x20_0000, true), "", &mapped()).1, Some(MAP_THE_POINTER));
        assert_eq!(lines(16, true, "16 bytes after null"), "write of 4 bytes at 0x10: 16 bytes after null");
    }

    #[test]
    fn paths_are_told_as_the_construct_has_them() {
        let construct = |file| Some(SourceLocation { file, ..SourceLocation::default() });
        let short = |path: &str, file| {
            let mut path = path.to_owned();
            shorten(&mut path, construct(file));
            path
        };
        assert_eq!(short("/a/b/f.c", "b/f.c"), "b/f.c");
        assert_eq!(short("/a/bf.c", "f.c"), "/a/bf.c");
        assert_eq!(short("/a/f.c", "/a/f.c"), "/a/f.c");
        let here = std::env::current_dir().unwrap();
        let header = format!("{}/x/g.h", here.display());
        assert_eq!((short(&header, "f.c"), short(&header, "/a/f.c")), ("x/g.h".to_owned(), header.clone()));
    }
}
