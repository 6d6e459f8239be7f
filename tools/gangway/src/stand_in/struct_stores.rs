//! Constants that clang stores into a region's own structures with the wrong claim about aliases.
//!
//! A local variable whose address escapes stands in memory that the device runtime gives. clang stores the value of a
//! constant one (`constexpr std::array`, `const` structures) there at once, and names the structure as if it
//! were a number (`!tbaa`). By LLVM's rules no access of a member reaches such a value: members were read as 0
//! or as garbage, on a card as well. Without the claim LLVM looks where the access goes.

const CLAIM: &str = ", !tbaa !";

/// The text without such claims; `None` if it has none.
pub fn mended(text: &str) -> Option<String> {
    let mut result = String::new();
    let mut done = 0;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        if let Some(claim) = claim(line) {
            result.push_str(&text[done..begin + claim.start]);
            done = begin + claim.end;
        }
        begin += line.len();
    }
    (done > 0).then(|| result + &text[done..])
}

/// Where the claim stands in a store of a structure.
fn claim(line: &str) -> Option<std::ops::Range<usize>> {
    let stored = line.trim_start().strip_prefix("store ")?;
    let stored = stored.strip_prefix("volatile ").unwrap_or(stored);
    if !stored.starts_with(['%', '{', '[']) && !stored.starts_with("<{") {
        return None;
    }
    // A text among the constants cannot have it behind the address.
    let start = line.rfind(CLAIM)?;
    let number = &line[start + CLAIM.len()..];
    let end = number.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(number.len());
    Some(start..start + CLAIM.len() + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_no_claim() {
        for (given, expected) in [
            (
                "  store %\"struct.std::array\" { [2 x i16] [i16 60, i16 61] }, ptr %a, align 2, !tbaa !26, !dbg !7\n",
                "  store %\"struct.std::array\" { [2 x i16] [i16 60, i16 61] }, ptr %a, align 2, !dbg !7\n",
            ),
            (
                "  store { i32, i8 } { i32 1, i8 2 }, ptr %a, align 4, !tbaa !3\n  ret void\n",
                "  store { i32, i8 } { i32 1, i8 2 }, ptr %a, align 4\n  ret void\n",
            ),
            (
                "  store volatile <{ i8 }> <{ i8 1 }>, ptr %a, !tbaa !3",
                "  store volatile <{ i8 }> <{ i8 1 }>, ptr %a",
            ),
            (
                "  store [2 x %s] [%s { i8 1 }, %s { i8 2 }], ptr %a, !tbaa !3\n  store %t { i8 0 }, ptr %b, !tbaa !4\n",
                "  store [2 x %s] [%s { i8 1 }, %s { i8 2 }], ptr %a\n  store %t { i8 0 }, ptr %b\n",
            ),
        ] {
            assert_eq!(mended(given).as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_rest_stays() {
        for line in [
            "  store i32 %0, ptr %1, align 4, !tbaa !12\n",
            "  store <2 x float> %0, ptr %1, align 8, !tbaa !12\n",
            "  store %s { i8 1 }, ptr %a, align 1\n",
            "  %1 = load i16, ptr %0, align 2, !tbaa !3\n",
            "store [",
        ] {
            assert_eq!(mended(line), None, "{line}");
        }
    }
}
