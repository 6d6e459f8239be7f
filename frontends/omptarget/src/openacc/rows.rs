//! Arrays of pointers to rows that lie apart, such as `a[0:n][0:m]` of `double **a`: the pointers are an item, and
//! so is each row, whose pointer is attached (OpenACC 3.3 section 2.7.1).

use super::abi::{AccItem, Construct, flag, kind};
use std::borrow::Cow;
use std::ffi::c_void;

/// What flags say of the data that is at the end of the pointers.
const OF_DATA: u32 = flag::ZERO | flag::ALWAYS_IN | flag::ALWAYS_OUT | flag::PIECES;

/// The items of a construct, with each row for itself.
pub(super) fn apart(construct: Construct, items: &[AccItem]) -> Cow<'_, [AccItem]> {
    if items.iter().all(|item| item.kind != kind::ROW) {
        return Cow::Borrowed(items);
    }
    let mut all = Vec::new();
    for item in items.iter().filter(|item| item.kind != kind::ROW) {
        let is_level = |row: &&AccItem| {
            row.kind == kind::ROW
                && row.flags & flag::HAS_ROWS != 0
                && row.pointer.addr() == std::ptr::from_ref(item).addr()
        };
        let levels: Vec<&AccItem> = items.iter().filter(is_level).collect();
        add(construct, &mut all, item, &levels);
    }
    Cow::Owned(all)
}

/// Adds an item, and the rows that it leads to.
fn add(construct: Construct, all: &mut Vec<AccItem>, item: &AccItem, levels: &[&AccItem]) {
    let Some((level, inner)) = levels.split_first() else {
        all.push(*item);
        return;
    };
    if let Some(kind) = of_pointers(construct, item.kind) {
        // What modifiers say of the data is of the rows: the device's pointers are its own.
        let flags = item.flags & !OF_DATA;
        all.push(AccItem { kind, flags, ..*item });
    }
    for at in (0..item.bytes).step_by(size_of::<*mut c_void>()) {
        let pointer: *mut *mut c_void = item.begin.cast::<*mut c_void>().wrapping_byte_add(at);
        // SAFETY: translated code says that so many bytes of pointers are there.
        let row = unsafe { *pointer };
        if !row.is_null() {
            let begin = row.wrapping_byte_add(level.begin.addr());
            let flags = item.flags & (flag::FINALIZE | flag::IF_PRESENT | OF_DATA);
            add(construct, all, &AccItem { begin, bytes: level.bytes, pointer, flags, ..*item }, inner);
        }
    }
}

/// What is done with pointers where something is done with what they lead to. They are the device's own there, so
/// none comes back, and an update leaves them.
const fn of_pointers(construct: Construct, of_rows: u32) -> Option<u32> {
    match (of_rows, construct) {
        (_, Construct::Update) => None,
        (kind::COPY | kind::COPYOUT | kind::CREATE, Construct::Structured | Construct::Enter) => {
            Some(kind::COPYIN)
        }
        (kind::COPYOUT, Construct::Exit) => Some(kind::DELETE),
        (other, _) => Some(other),
    }
}
