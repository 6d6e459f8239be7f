//! Which variable a kernel's refused access is near to, in words.
//!
//! Only drivers that tell the address of an access have it named: the virtual GPU's does,
//! NVIDIA's does not. Nothing is kept for it: the present table is asked when an error is made,
//! without any other lock and without a call of a back end. The construct's own entries are
//! still there then.

use crate::device::Device;
use crate::error::{Error, ErrorKind, HostRange};
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use crate::present::{EntryRef, Phase};
use gangway_backend::{Access, SourceLocation};

/// Lower addresses are offsets from a null pointer.
const NULL_ZONE: usize = 1 << 16;

/// How far behind a pointer's value an access may have been made through it.
const REACH: usize = 1 << 30;

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

fn describe(access: &Access, mapped: &[Mapped]) -> Vec<String> {
    let Access { address, size, write, foreign, .. } = *access;
    if foreign && address < NULL_ZONE {
        return Vec::new();
    }
    let what = format!("{} of {size} bytes at {address:#x}", if write { "write" } else { "read" });
    if foreign {
        let inside = |one: &&Mapped| (one.host.begin..one.host.begin + one.host.size).contains(&address);
        return match mapped.iter().find(inside) {
            Some(one) => vec![
                format!(
                    "{what}, an address of the host: {}{}, which is mapped at {:#x}",
                    one.side(one.host.begin, address),
                    one.host,
                    one.device
                ),
                "help: the region has come upon a pointer of the host: map or attach the pointer with what it \
                 points to"
                    .to_owned(),
            ],
            None => vec![format!("{what}, where the device has no memory, and nothing of the host is mapped")],
        };
    }
    // An access beyond the end of one may be nearer to the next one.
    let below = mapped.iter().filter(|one| one.device <= address).max_by_key(|one| one.device);
    let above = mapped.iter().filter(|one| one.device > address).min_by_key(|one| one.device);
    let line = |one: &Mapped| {
        let side = one.side(one.device, address);
        format!("{what}: {side}{}, which is mapped at {:#x}", one.host, one.device)
    };
    below.into_iter().chain(above).map(line).collect()
}

impl Device {
    /// An error of this device. Where a kernel's access was refused, its place is named.
    #[cold]
    pub(crate) fn error(
        &self,
        mut kind: ErrorKind,
        construct: Option<SourceLocation<'static>>,
    ) -> Box<Error> {
        if let Some(access) = kind.access()
            && access.place.is_empty()
        {
            let mapped: Vec<_> = self.table.entries().into_iter().filter_map(Mapped::of).collect();
            access.place = describe(access, &mapped);
        }
        Error::new(kind, self.number(), construct)
    }
}

impl Error {
    /// Names the construct's pointer through which its kernel has used memory of the host.
    #[cold]
    pub fn name_pointer(&mut self, items: &impl Items) {
        let Some(access) = self.kind.access() else { return };
        if !access.foreign || access.address < NULL_ZONE || access.place.len() != 1 {
            return;
        }
        let keeps = |item: &Item| {
            let unmapped = item.size == 0 || item.kind.has(MapKind::LITERAL);
            let reach = access.address.checked_sub(item.begin).is_some_and(|offset| offset < REACH);
            item.kind.has(MapKind::PARAMETER) && unmapped && item.begin >= NULL_ZONE && reach
        };
        let Some(item) = items.iter().filter(keeps).max_by_key(|item| item.begin) else { return };
        let name = item.label.name().map_or("a pointer".to_owned(), |name| format!("pointer `{name}`"));
        let declared = item.label.location();
        let declared = declared.map_or(String::new(), |at| format!(" (declared at {}:{})", at.file, at.line));
        access.place.push(format!(
            "{name}{declared} keeps the host's address {:#x}: what it points to is not mapped",
            item.begin
        ));
        access.place.push("help: map what the region uses of it, as in map(tofrom: p[0:n])".to_owned());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::label::Label;

    fn mapped() -> [Mapped; 2] {
        let range = |begin, size, name| HostRange { begin, size, label: Label::of_symbol(name) };
        [
            Mapped { host: range(0x10_0000, 800, c"a"), device: 0x2000_0000 },
            Mapped { host: range(0x20_0000, 16, c"b"), device: 0x2000_1000 },
        ]
    }

    fn access(address: usize, foreign: bool) -> Access {
        Access { address, size: 4, write: true, foreign, place: Vec::new() }
    }

    #[test]
    fn an_address_of_the_device_is_between_two_ranges() {
        let lines = describe(&access(0x2000_0000 + 808, false), &mapped());
        assert_eq!(
            lines,
            [
                "write of 4 bytes at 0x20000328: 8 bytes after the end of `a` [0x100000, 0x100320) of 800 bytes, \
                 which is mapped at 0x20000000",
                "write of 4 bytes at 0x20000328: 3288 bytes before `b` [0x200000, 0x200010) of 16 bytes, \
                 which is mapped at 0x20001000",
            ]
        );
        let at = |address| describe(&access(address, false), &mapped()).join("\n");
        assert!(at(0x2000_0320).contains(": just after the end of `a` "));
        assert!(at(0x1fff_ffff).contains(": 1 byte before `a` "));
        assert!(!at(0x1fff_ffff).contains("`b`"));
        assert!(at(0x2000_0004).contains(": 4 bytes into `a` "));
        assert!(describe(&access(0x2000_0004, false), &[]).is_empty());
    }

    #[test]
    fn an_address_of_the_host_is_in_a_range_or_nowhere() {
        let at = |address| describe(&access(address, true), &mapped()).join("\n");
        assert!(at(0x20_0008).contains(", an address of the host: 8 bytes into `b` "), "{}", at(0x20_0008));
        assert!(at(0x20_0000).contains(", which is mapped at 0x20001000\nhelp: "));
        assert!(
            at(0x20_0010).ends_with(", where the device has no memory, and nothing of the host is mapped")
        );
        assert_eq!(at(16), "");
    }
}
