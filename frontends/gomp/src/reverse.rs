//! Reverse offload of programs of GCC 13 and newer: regions of `device(ancestor: 1)`.
//!
//! GCC compiles such a region for the host, and for the device an empty kernel that stands for it,
//! whose name has `$nohost` in it. Where device code reaches the region, it calls
//! `GOMP_target_ext` of its own library, which writes the kernel's address and those of the
//! region's arrays into the mailbox of the image, whose address the host has put into
//! `__gomp_rev_offload_var`. `$offload_func_table` of the image has these kernels' addresses, and
//! null for the others.
//!
//! The arrays are in memory of the device: what they say is checked before it is used.

use crate::abi::PtxFunction;
use crate::abi::kind::*;
use crate::words::WORDS;
use gangway_frontend::guard::guard;
use gangway_frontend::policy;
use gangway_frontend::state::routine;
use gangway_openmp::words;
use gangway_runtime::host_calls::MailCall;
use gangway_runtime::memory::{self, Place};
use gangway_runtime::reverse::{Item, Kind, Refusal, Region};
use gangway_runtime::{Device, Error, ErrorKind, FunctionTable, Mailbox};
use std::ffi::CStr;

/// Addresses of the kernels that stand for the host's regions.
const TABLE: &CStr = c"$offload_func_table";
/// What leads to the mailbox.
const LEADS: &CStr = c"__gomp_rev_offload_var";
/// What the name of such a kernel has.
const MARK: &[u8] = b"$nohost";

/// More items than a region has.
const MOST: u64 = 1 << 16;

/// How the code of an image calls the host: `None` if none of its functions is for it.
///
/// # Safety
/// The functions are of an image in the program.
pub(crate) unsafe fn mailbox(host: &[usize], functions: &[PtxFunction]) -> Option<Mailbox> {
    let is_for_host = |function: &PtxFunction| {
        // SAFETY: the caller's promise.
        let name = unsafe { function.name() }.to_bytes();
        let marks = name.windows(MARK.len()).enumerate().filter(|(_, part)| *part == MARK);
        // GCC numbers what has the same name elsewhere.
        marks.map(|(at, _)| name.get(at + MARK.len())).any(|next| next.is_none_or(|next| *next == b'$'))
    };
    let functions =
        functions.iter().any(is_for_host).then(|| FunctionTable { symbol: TABLE, host: host.into() });
    functions.map(|functions| Mailbox { functions, pointer: LEADS, serve })
}

fn serve(device: &'static Device, call: &MailCall) {
    guard((), || {
        // The device's number, which the next word has, is known here.
        let [count, addresses, sizes, kinds, ..] = call.words;
        let Some(host) = call.host else {
            policy::mistake(format_args!(
                "code on device {} has the host run the function at {:#x}, which is none of its image's regions \
                 of device(ancestor: 1); something has written over its call",
                device.number(),
                call.function
            ));
        };
        let fetched = match count <= MOST {
            true => Arrays::fetch(device, count as usize, [addresses, sizes, kinds]).map(Some),
            false => Ok(None),
        };
        let mut arrays = match fetched {
            Ok(Some(arrays)) => arrays,
            // The kernel has died, and whoever waits for it tells.
            Err(error) if is_lost(&error) => return,
            _ => {
                let what = format_args!("{count} mappings at {addresses:#x}, {sizes:#x} and {kinds:#x}");
                damaged(device, what);
            }
        };
        let items = match items(&arrays.addresses, &arrays.sizes, &arrays.kinds) {
            Ok(items) => items,
            Err(Damage::Kind(kind)) => policy::mistake(format_args!(
                "a region of device(ancestor: 1) has a mapping of kind {kind:#04x} of libgomp's interface, which is \
                 not known"
            )),
            Err(Damage::Range { begin, size }) => {
                damaged(device, format_args!("{size} bytes at {begin:#x}"));
            }
        };
        let list = items.iter().map(|(_, item)| *item).collect();
        // SAFETY: the memory that the device names is valid while it waits, or a copy fails.
        let region = match unsafe { Region::enter(device, list, &routine()) } {
            Ok(region) => region,
            Err(Refusal::Copy(error)) if is_lost(&error) => return,
            Err(refusal) => refuse(&refusal),
        };
        // Pointers that are variables of device code: the region gets one of its own. None moves.
        let mut pointers: Vec<usize> = Vec::with_capacity(items.len());
        for (index, (at, item)) in items.iter().enumerate() {
            arrays.addresses[*at] = match item.kind.attach {
                false => region.base(&Item { base: item.begin, ..*item }),
                true => region.pointer(item).unwrap_or_else(|| {
                    pointers.push(region.base(pointee(&items[..index], item)));
                    std::ptr::from_ref(&pointers[pointers.len() - 1]).expose_provenance()
                }),
            };
        }
        // SAFETY: the image's table has the host's function for this kernel.
        let body = unsafe { std::mem::transmute::<usize, extern "C" fn(*mut usize)>(host) };
        body(arrays.addresses.as_mut_ptr());
        // SAFETY: as above.
        match unsafe { region.leave(&routine()) } {
            Ok(()) => {}
            Err(Refusal::Copy(error)) if is_lost(&error) => {}
            Err(refusal) => refuse(&refusal),
        }
    });
}

/// What a pointer leads to, of the items before it.
fn pointee<'a>(items: &'a [(usize, Item)], pointer: &'a Item) -> &'a Item {
    let data = items.iter().map(|(_, item)| item);
    data.rev().find(|item| item.group == pointer.group && !item.kind.attach).unwrap_or(pointer)
}

fn is_lost(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Lost { .. })
}

/// A region's arrays, as on the host.
struct Arrays {
    addresses: Vec<usize>,
    sizes: Vec<usize>,
    kinds: Vec<u16>,
}

impl Arrays {
    fn fetch(
        device: &'static Device,
        count: usize,
        [addresses, sizes, kinds]: [u64; 3],
    ) -> Result<Self, Box<Error>> {
        Ok(Self {
            addresses: fetch(device, addresses, count)?,
            sizes: fetch(device, sizes, count)?,
            kinds: fetch(device, kinds, count)?,
        })
    }
}

/// Numbers from the device's memory.
fn fetch<T: Default + Clone>(device: &'static Device, from: u64, count: usize) -> Result<Vec<T>, Box<Error>> {
    let mut to = vec![T::default(); count];
    if count == 0 {
        return Ok(to);
    }
    let from = Place { device: Some(device), address: from as usize };
    let place = Place { device: None, address: to.as_mut_ptr().addr() };
    // SAFETY: the vector has as many bytes; what is no memory of the device cannot be copied.
    unsafe { memory::copy(place, from, size_of_val(&*to), &routine()) }.map(|()| to)
}

/// Why mappings cannot be.
#[derive(Debug, PartialEq, Eq)]
enum Damage {
    Kind(u8),
    Range { begin: usize, size: usize },
}

/// The mappings as the runtime has them, each with its place in the arrays. What is passed as it
/// is has none.
fn items(addresses: &[usize], sizes: &[usize], kinds: &[u16]) -> Result<Vec<(usize, Item)>, Damage> {
    let mut items: Vec<(usize, Item)> = Vec::new();
    // The members of a structure that are still to come, and its group.
    let mut structure = (0_usize, 0_u32);
    for (at, ((&begin, &size), &kind)) in addresses.iter().zip(sizes).zip(kinds).enumerate() {
        let encoding = kind as u8;
        let member = structure.0 > 0;
        structure.0 = structure.0.saturating_sub(1);
        let own = if member { structure.1 } else { at as u32 };
        let plain = Item { base: begin, begin, size, group: own, kind: Kind::default(), carried: None };
        let meant = match meaning(encoding).ok_or(Damage::Kind(encoding))? {
            _ if begin == 0 => continue,
            Meaning::Value => continue,
            Meaning::Data(kind) => Item { kind, ..plain },
            Meaning::Address => Item { size: 0, ..plain },
            Meaning::Structure => {
                structure = (size, at as u32);
                Item { size: 0, ..plain }
            }
            Meaning::Pointer => {
                // Fortran's descriptor stands between the data and its pointer.
                let data = items.iter_mut().rev().find(|(at, _)| kinds[*at] as u8 != TO_PSET);
                let Some((_, data)) = data.filter(|(_, item)| !item.kind.attach) else { continue };
                data.base = data.begin.wrapping_sub(size);
                let kind = Kind { attach: true, ..Kind::default() };
                Item { size: size_of::<usize>(), group: data.group, kind, ..plain }
            }
        };
        if meant.begin.checked_add(meant.size).is_none() {
            return Err(Damage::Range { begin, size });
        }
        let joins = |other: &&(usize, Item)| {
            let other = &other.1;
            let both = !other.kind.attach && !other.kind.private && other.size > 0;
            let end = meant.begin + meant.size.max(1);
            both && other.begin < end && meant.begin < other.begin + other.size
        };
        let group = match member || meant.kind.attach || meant.kind.private {
            true => None,
            false => items.iter().find(joins).map(|(_, other)| other.group),
        };
        items.push((at, Item { group: group.unwrap_or(meant.group), ..meant }));
    }
    Ok(items)
}

/// What is to be done with an item.
enum Meaning {
    /// It is passed as it is.
    Value,
    Data(Kind),
    /// A section without elements.
    Address,
    /// As many members follow as it has bytes.
    Structure,
    /// A pointer to the data before it.
    Pointer,
}

fn meaning(encoding: u8) -> Option<Meaning> {
    let implicit = encoding & IMPLICIT_MASK == IMPLICIT;
    let none = Kind::default();
    let (to, from) = (Kind { to: true, ..none }, Kind { from: true, ..none });
    let both = Kind { from: true, ..to };
    let always = |kind| Kind { always: true, ..kind };
    Some(Meaning::Data(match if implicit { encoding & !IMPLICIT } else { encoding } {
        FIRSTPRIVATE_INT => return Some(Meaning::Value),
        ZERO_LEN_ARRAY_SECTION | DELETE_ZERO_LEN_ARRAY_SECTION => return Some(Meaning::Address),
        STRUCT | STRUCT_UNORD => return Some(Meaning::Structure),
        POINTER
        | POINTER_TO_ZERO_LENGTH_ARRAY_SECTION
        | ALWAYS_POINTER
        | ATTACH
        | ATTACH_ZERO_LENGTH_ARRAY_SECTION => return Some(Meaning::Pointer),
        FIRSTPRIVATE => Kind { private: true, ..to },
        ALLOC | FORCE_ALLOC | RELEASE | DELETE | IF_PRESENT => none,
        TO | TO_PSET => to,
        FROM => from,
        TOFROM => both,
        FORCE_PRESENT => Kind { present: true, ..none },
        ALWAYS_PRESENT_TO => Kind { present: true, ..always(to) },
        ALWAYS_PRESENT_FROM => Kind { present: true, ..always(from) },
        ALWAYS_PRESENT_TOFROM => Kind { present: true, ..always(both) },
        ALWAYS_TO | FORCE_TO => always(to),
        ALWAYS_FROM | FORCE_FROM => always(from),
        ALWAYS_TOFROM | FORCE_TOFROM => always(both),
        _ => return None,
    }))
}

fn refuse(refusal: &Refusal) -> ! {
    policy::mistake(format_args!("{}", words::refusal(refusal, WORDS)))
}

fn damaged(device: &'static Device, what: std::fmt::Arguments<'_>) -> ! {
    policy::mistake(format_args!(
        "a region of device(ancestor: 1) is called by device {} with {what}, which is no memory of its; something \
         has written over its call",
        device.number()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(mappings: &[(usize, usize, u8)]) -> Result<Vec<(usize, Item)>, Damage> {
        let column = |of: fn(&(usize, usize, u8)) -> usize| mappings.iter().map(of).collect::<Vec<_>>();
        let kinds: Vec<u16> = mappings.iter().map(|mapping| u16::from(mapping.2) | 3 << 8).collect();
        items(&column(|mapping| mapping.0), &column(|mapping| mapping.1), &kinds)
    }

    fn groups(mappings: &[(usize, usize, u8)]) -> Vec<(usize, u32)> {
        list(mappings).unwrap().iter().map(|(at, item)| (*at, item.group)).collect()
    }

    #[test]
    fn values_and_nulls_are_passed_as_they_are() {
        assert_eq!(list(&[(7, 4, FIRSTPRIVATE_INT), (0, 8, TOFROM)]), Ok(vec![]));
    }

    #[test]
    fn what_is_implicit_is_copied_all_the_same() {
        let item = list(&[(0x1000, 8, TOFROM | IMPLICIT)]).unwrap()[0].1;
        assert!(item.kind.to && item.kind.from && !item.kind.always);
        let item = list(&[(0x1000, 8, FIRSTPRIVATE)]).unwrap()[0].1;
        assert!(item.kind.to && item.kind.private);
    }

    #[test]
    fn members_of_a_structure_are_placed_together() {
        let mappings = [
            (0x2000, 2, STRUCT),
            (0x2000, 4, TO),
            (0x2010, 8, TO),
            (0x3000, 64, TOFROM),
            (0x2010, 16, ATTACH),
        ];
        assert_eq!(groups(&mappings), [(0, 0), (1, 0), (2, 0), (3, 3), (4, 3)]);
        let items = list(&mappings).unwrap();
        // The pointer leads to 16 bytes before the section.
        assert_eq!((items[3].1.base, items[4].1.begin, items[4].1.kind.attach), (0x2ff0, 0x2010, true));
    }

    #[test]
    fn a_descriptor_stands_between_data_and_pointer() {
        let mappings = [(0x3000, 64, TO), (0x2000, 40, TO_PSET), (0x2000, 0, POINTER)];
        assert_eq!(groups(&mappings), [(0, 0), (1, 1), (2, 0)]);
    }

    #[test]
    fn what_overlaps_is_placed_together() {
        let mappings = [
            (0x1000, 64, TO),
            (0x1020, 64, FROM),
            (0x1010, 0, ZERO_LEN_ARRAY_SECTION),
            (0x1000, 8, FIRSTPRIVATE),
        ];
        assert_eq!(groups(&mappings), [(0, 0), (1, 0), (2, 0), (3, 3)]);
    }

    #[test]
    fn garbage_is_named() {
        assert_eq!(list(&[(0x1000, 8, 200)]), Err(Damage::Kind(200)));
        assert_eq!(list(&[(8, usize::MAX, TO)]), Err(Damage::Range { begin: 8, size: usize::MAX }));
        assert!(list(&[(0x1000, usize::MAX, STRUCT), (0x1000, 8, TO)]).is_ok());
        assert_eq!(list(&[(0x1000, 0, ATTACH)]), Ok(vec![]));
    }
}
