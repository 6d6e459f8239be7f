//! A race that has been found, in words.

use gangway_device_memory::Space;
use gangway_findings as findings;
use gangway_races::{Example, Finding, Place, Side};

use super::extent::Extent;

/// A copy or fill that nothing orders with something else.
pub(crate) fn of_transfer(finding: &Finding, name: fn(u64) -> Option<String>) -> findings::Finding {
    told(finding, &Extent::new([1; 3], [1; 3]), name)
}

/// Two accesses that nothing orders. `name` says what of the program is at an address.
pub(super) fn told(finding: &Finding, extent: &Extent, name: fn(u64) -> Option<String>) -> findings::Finding {
    let Finding { earlier, later, address, shared, count } = finding;
    let is_copy = |side: &Side| side.place.copy.is_some();
    let between = match (earlier.example.thread, later.example.thread) {
        _ if is_copy(earlier) && is_copy(later) => "two copies",
        _ if is_copy(earlier) || is_copy(later) => "a kernel and a copy",
        (Some((one, _)), Some((other, _))) if one == other => "threads of a block",
        (Some(_), Some(_)) => "threads of two blocks",
        _ => "threads of two kernels",
    };
    let unnamed = || match Space::get() {
        Ok(space) => format!("{address:#x}, {}", space.describe(*address)),
        Err(_) => format!("{address:#x}"),
    };
    let at = match shared {
        true => format!("byte {address} of the block's shared memory"),
        false => name(*address).unwrap_or_else(unnamed),
    };
    findings::Finding {
        check: "race".to_owned(),
        message: format!("nothing orders two accesses of {between}, to {at}"),
        kernel: if is_copy(later) { &earlier.place } else { &later.place }.kernel.clone(),
        sides: vec![access("first", earlier, later, extent), access("then", later, earlier, extent)],
        notes: Vec::new(),
        count: *count,
    }
}

fn access(
    label: &str,
    Side { place, example: Example { write, strong, narrow, thread } }: &Side,
    other: &Side,
    extent: &Extent,
) -> findings::Side {
    let what = match (write, strong) {
        (true, true) => "an atomic or volatile write",
        (false, true) => "an atomic or volatile read",
        (true, false) => "a write",
        (false, false) => "a read",
    };
    // Two that are strong race only because one of them does not reach the other.
    let scope = match narrow & other.example.strong {
        true => " of scope .cta, which does not reach the other block,",
        false => "",
    };
    let by = match (place.copy, thread) {
        (Some(copy), _) => copy.to_owned(),
        (None, Some((block, thread))) => extent.told((*block).into(), *thread),
        (None, None) => format!("kernel '{}'", place.kernel),
    };
    let Place { function, instruction, source, .. } = place.clone();
    let source = source.map(findings::Source::from);
    findings::Side {
        label: label.to_owned(),
        what: format!("{what}{scope} by {by}"),
        function,
        instruction,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_told_with_their_lines() {
        let place = |instruction: &str, line| Place {
            kernel: "k".to_owned(),
            function: "f".to_owned(),
            instruction: instruction.to_owned(),
            source: (line > 0).then(|| ("f.c".to_owned(), line, 3)),
            ..Place::default()
        };
        let side = |write, thread, instruction, line| Side {
            place: place(instruction, line),
            example: Example { write, strong: false, narrow: false, thread },
        };
        let finding = Finding {
            earlier: side(true, Some((1, 33)), "st.shared.u32", 7),
            later: side(false, Some((1, 2)), "ld.shared.u32", 0),
            address: 16,
            shared: true,
            count: 5,
        };
        let extent = Extent::new([4, 1, 1], [32, 2, 1]);
        let text = told(&finding, &extent, |_| None).to_string();
        assert_eq!(
            text,
            "race: nothing orders two accesses of threads of a block, to byte 16 of the block's shared memory\n  \
             first: a write by thread (1, 1, 0) of block (1, 0, 0) at f.c:7:3, instruction st.shared.u32\n  \
             then:  a read by thread (2, 0, 0) of block (1, 0, 0) in 'f', instruction ld.shared.u32\n  \
             in kernel 'k', 5 times in its first launch with it"
        );
        let other = Finding { earlier: side(true, None, "st.u32", 7), shared: false, count: 1, ..finding };
        let text = told(&other, &extent, |_| Some("`a` of 8 bytes".to_owned())).to_string();
        assert!(text.contains("two kernels, to `a` of 8 bytes"), "{text}");
        assert!(text.contains("a write by kernel 'k' at f.c:7:3") && text.ends_with("once"), "{text}");
        let strong = |side: Side, narrow| {
            let example = Example { strong: true, narrow, ..side.example };
            Side { example, ..side }
        };
        let narrow = Finding {
            earlier: strong(other.earlier.clone(), true),
            later: strong(other.later.clone(), false),
            ..other.clone()
        };
        let text = told(&narrow, &extent, |_| None).to_string();
        let scope = "write of scope .cta, which does not reach the other block, by kernel 'k'";
        assert!(text.contains(scope) && text.contains("volatile read by thread"), "{text}");
        // With a plain access no scope would help.
        let plain = Finding { later: other.later, ..narrow };
        assert!(!told(&plain, &extent, |_| None).to_string().contains("scope"));
    }
}
