//! Pointers that clang aligns, above all those to the arguments that `va_arg` takes.
//!
//! clang masks a pointer's bits by `llvm.ptrmask`. LLVM-22's pass that finds address spaces (`InferAddressSpaces`)
//! leaves broken code of that where the pointer goes round a loop, as in a function of variable arguments that
//! has been inlined, and the next pass dies. The same pointer as a sum holds.

use std::fmt::Write as _;

const MASK: &str = " = call ptr @llvm.ptrmask.p0.i64(ptr ";

/// The text with sums; `None` if no pointer is masked.
pub fn mended(text: &str) -> Option<String> {
    if !text.contains(MASK) {
        return None;
    }
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match sum(line) {
            Some(sum) => result.push_str(&sum),
            None => result.push_str(line),
        }
    }
    Some(result)
}

/// `%x = call ptr @llvm.ptrmask.p0.i64(ptr %p, i64 -8)` by other means: `%p - (%p & 7)`.
fn sum(line: &str) -> Option<String> {
    let (name, rest) = line.trim_start().split_once(MASK)?;
    // What stands behind the call is the place in the source.
    let (operands, place) = rest.trim_end().split_once(')')?;
    let (pointer, mask) = operands.split_once(", i64 ")?;
    let mask: i64 = mask.parse().ok()?;
    let simple = pointer.starts_with('%') && !pointer.contains(' ') && name.starts_with('%');
    // Values that have numbers have them in order.
    let named = !name[1..].starts_with(|first: char| first.is_ascii_digit());
    if !simple || !named || mask >= 0 || !mask.unsigned_abs().is_power_of_two() {
        return None;
    }
    let place = place.find(", !dbg").map_or("", |at| &place[at..]);
    let mut sum = String::new();
    for (suffix, value) in [
        (".address", format!("ptrtoint ptr {pointer} to i64")),
        (".beyond", format!("and i64 {name}.address, {}", !mask)),
        (".back", format!("sub i64 0, {name}.beyond")),
        ("", format!("getelementptr i8, ptr {pointer}, i64 {name}.back")),
    ] {
        _ = writeln!(sum, "  {name}{suffix} = {value}{place}");
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_becomes_a_sum() {
        let given = "  %1 = load ptr, ptr %ap\n  \
                     %argp.cur.aligned = call ptr @llvm.ptrmask.p0.i64(ptr %0, i64 -8), !dbg !7\n  ret void\n";
        let expected = "  %1 = load ptr, ptr %ap\n  \
                        %argp.cur.aligned.address = ptrtoint ptr %0 to i64, !dbg !7\n  \
                        %argp.cur.aligned.beyond = and i64 %argp.cur.aligned.address, 7, !dbg !7\n  \
                        %argp.cur.aligned.back = sub i64 0, %argp.cur.aligned.beyond, !dbg !7\n  \
                        %argp.cur.aligned = getelementptr i8, ptr %0, i64 %argp.cur.aligned.back, !dbg !7\n  ret void\n";
        assert_eq!(mended(given).as_deref(), Some(expected));
    }

    #[test]
    fn other_masks_stay() {
        for line in [
            "  %5 = call ptr @llvm.ptrmask.p0.i64(ptr %0, i64 -8)",
            "  %a = call ptr @llvm.ptrmask.p0.i64(ptr %0, i64 %1)",
            "  %a = call ptr @llvm.ptrmask.p0.i64(ptr %0, i64 -3)",
            "  %a = call ptr @llvm.ptrmask.p0.i64(ptr @x, i64 -8)",
            "  %a = call ptr @llvm.ptrmask.p0.i64(ptr ",
        ] {
            assert_eq!(mended(line).as_deref(), Some(line));
        }
        assert_eq!(mended("  ret void\n"), None);
    }
}
