//! What the loader writes into an image, and where.

use super::dynamic::{Check, Dynamic, RELOCATIONS, SHN_ABS, SHN_UNDEF, STT_TLS, Table};
use super::segments::{EXECUTABLE, WRITABLE};

// Kinds of relocation (psABI for x86-64, table 4.10).
const R_X86_64_64: u64 = 1;
const R_X86_64_RELATIVE: u64 = 8;
const R_X86_64_DTPMOD64: u64 = 16;
const R_X86_64_DTPOFF64: u64 = 17;
const R_X86_64_TPOFF64: u64 = 18;
const R_X86_64_TLSDESC: u64 = 36;
const R_X86_64_IRELATIVE: u64 = 37;
/// Those that shared objects have; 6 and 7 are GLOB_DAT and JUMP_SLOT.
const KNOWN: [u64; 10] = [
    0,
    R_X86_64_64,
    6,
    7,
    R_X86_64_RELATIVE,
    R_X86_64_DTPMOD64,
    R_X86_64_DTPOFF64,
    R_X86_64_TPOFF64,
    R_X86_64_TLSDESC,
    R_X86_64_IRELATIVE,
];

/// Which words of each table of initialisers a relocation gives an address to.
type Made = [Vec<bool>; 2];

/// Checks all tables of relocations, and that each initialiser is code.
pub(super) fn check(dynamic: &Dynamic<'_>) -> Check {
    let mut made = dynamic.initialisers.map(|(_, (_, size))| vec![false; size as usize / 8]);
    for (what, table) in dynamic.relocations {
        check_table(dynamic, what, table, &mut made)?;
    }
    check_packed(dynamic, &mut made)?;
    // An initialiser without a relocation has no address that could be called.
    for ((what, _), made) in dynamic.initialisers.iter().zip(&made) {
        let missing = made.iter().filter(|made| !**made).count();
        if missing > 0 {
            return Err(format!("{missing} entries of its {what} lead nowhere"));
        }
    }
    Ok(())
}

fn check_table(dynamic: &Dynamic<'_>, what: &str, table: Table, made: &mut Made) -> Check {
    let at = dynamic.offset(what, table)?;
    if !table.1.is_multiple_of(24) {
        return Err(format!("its {what} has {} bytes, which are no whole entries", table.1));
    }
    for i in 0..table.1 / 24 {
        let word = |j: u64| dynamic.file.u64(at + i * 24 + j * 8).unwrap_or(0);
        let relocation = (word(0), word(1), word(2));
        check_one(dynamic, relocation, made).map_err(|why| format!("entry {i} of its {what} {why}"))?;
        // The loader does not look at the kind of the first entries.
        if what == RELOCATIONS
            && i < dynamic.relative_count
            && relocation.1 & 0xffff_ffff != R_X86_64_RELATIVE
        {
            return Err(format!("entry {i} of its {what} is not relative, as the first are said to be"));
        }
    }
    Ok(())
}

fn check_one(dynamic: &Dynamic<'_>, (target, info, addend): (u64, u64, u64), made: &mut Made) -> Check {
    let (kind, symbol) = (info & 0xffff_ffff, info >> 32);
    if !KNOWN.contains(&kind) {
        return Err(format!("is of unknown kind {kind}"));
    }
    dynamic.check_symbol(symbol).map_err(|why| format!("is wrong: {why}"))?;
    let (st_type, section, value) = dynamic.symbol(symbol);
    match kind {
        0 => Ok(()),
        R_X86_64_RELATIVE => check_relative(dynamic, target, addend, made),
        R_X86_64_DTPMOD64..=R_X86_64_TPOFF64 | R_X86_64_TLSDESC => {
            check_target(dynamic, target, if kind == R_X86_64_TLSDESC { 16 } else { 8 })?;
            let own = symbol == 0 || section != SHN_UNDEF;
            if own && !dynamic.has_thread_locals {
                Err("is for a thread-local variable, and the image has none".to_owned())
            } else if symbol != 0 && st_type != STT_TLS {
                Err(format!("takes symbol {symbol} for a thread-local variable"))
            } else if initialiser_at(dynamic, target).is_some() {
                Err("makes a number an initialiser".to_owned())
            } else {
                Ok(())
            }
        }
        R_X86_64_IRELATIVE if !dynamic.loads.has(addend, 1, EXECUTABLE) => {
            Err(format!("calls {addend:#x}, which is not code"))
        }
        _ => {
            check_target(dynamic, target, 8)?;
            let Some((table, slot)) = initialiser_at(dynamic, target) else { return Ok(()) };
            // The address of a function: in here, or wherever the loader finds it.
            let code = match section {
                SHN_UNDEF => symbol != 0 && addend == 0,
                SHN_ABS => false,
                _ => dynamic.is_function(value.wrapping_add(addend)),
            };
            if kind != R_X86_64_64 || !code {
                return Err("makes what is not code an initialiser".to_owned());
            }
            make(made, table, slot)
        }
    }
}

/// Each word is an address, or (lowest bit set) says which of the 63 words
/// behind the last are relocated as well.
fn check_packed(dynamic: &Dynamic<'_>, made: &mut Made) -> Check {
    let what = "packed relocation table";
    let at = dynamic.offset(what, dynamic.packed_relocations)?;
    let mut next = None;
    for i in 0..dynamic.packed_relocations.1 / 8 {
        let wrong = |why: String| format!("entry {i} of its {what} {why}");
        let word = dynamic.file.u64(at + i * 8).unwrap_or(0);
        let mut relocate = |target: u64| {
            let addend = dynamic.loads.offset(target, 8).and_then(|at| dynamic.file.u64(at));
            check_relative(dynamic, target, addend.unwrap_or(u64::MAX), made).map_err(wrong)
        };
        next = if word & 1 == 0 {
            relocate(word)?;
            Some(word.wrapping_add(8))
        } else {
            let start: u64 = next.ok_or_else(|| wrong("follows no address".to_owned()))?;
            for bit in (0..63).filter(|bit| word >> (bit + 1) & 1 == 1) {
                relocate(start.wrapping_add(bit * 8))?;
            }
            Some(start.wrapping_add(63 * 8))
        };
    }
    Ok(())
}

/// A relocation that stores the address of a part of the image.
fn check_relative(dynamic: &Dynamic<'_>, target: u64, addend: u64, made: &mut Made) -> Check {
    check_target(dynamic, target, 8)?;
    if !dynamic.loads.has_or_ends_at(addend) {
        return Err(format!("leads to {addend:#x}, outside the image"));
    }
    let Some((table, slot)) = initialiser_at(dynamic, target) else { return Ok(()) };
    if !dynamic.is_function(addend) {
        return Err(format!("makes {addend:#x} an initialiser, which is not code"));
    }
    make(made, table, slot)
}

/// What the loader still reads when it has relocated the image must stay as it was checked.
fn check_target(dynamic: &Dynamic<'_>, target: u64, size: u64) -> Check {
    if !dynamic.loads.has(target, size, WRITABLE) {
        return Err(format!("writes to {target:#x}, outside its data"));
    }
    match dynamic
        .read_later()
        .find(|(_, (start, length))| target + size > *start && target < start.saturating_add(*length))
    {
        Some((what, _)) => Err(format!("writes to {target:#x}, in the {what}")),
        None => Ok(()),
    }
}

/// Which table of initialisers an eight-byte target touches, and how far from its start.
fn initialiser_at(dynamic: &Dynamic<'_>, target: u64) -> Option<(usize, u64)> {
    dynamic.initialisers.iter().enumerate().find_map(|(table, (_, (start, size)))| {
        (target.saturating_add(8) > *start && target < start + size)
            .then(|| (table, target.wrapping_sub(*start)))
    })
}

fn make(made: &mut Made, table: usize, slot: u64) -> Check {
    let place = made[table].get_mut(slot as usize / 8).filter(|_| slot.is_multiple_of(8));
    // A packed relocation adds to what is there: a second one would lead elsewhere.
    if std::mem::replace(place.ok_or("writes beside the initialisers")?, true) {
        return Err("relocates an initialiser again".to_owned());
    }
    Ok(())
}
