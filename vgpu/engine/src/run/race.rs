//! A race that has been found, in words.

use gangway_device_memory::Space;
use gangway_findings as findings;
use gangway_races::{By, Example, Finding, Place, Side};

use super::extent::Extent;
use super::findings::Listeners;

/// A copy or fill, or an access of the program, that nothing orders with something else.
pub(crate) fn of_transfer(finding: &Finding, listeners: Listeners) -> findings::Finding {
    told(finding, &Extent::new([1; 3], [1; 3]), listeners)
}

/// Two accesses that nothing orders.
pub(super) fn told(finding: &Finding, extent: &Extent, listeners: Listeners) -> findings::Finding {
    let Finding { earlier, later, address, shared, count } = finding;
    let between = match (earlier.place.by, later.place.by) {
        (By::Host { .. }, By::Host { .. }) => "the host",
        (By::Copy { .. }, By::Copy { .. }) => "two copies",
        (By::Release { .. }, By::Kernel) | (By::Kernel, By::Release { .. }) => {
            "a kernel and the end of its memory"
        }
        (By::Release { .. }, _) | (_, By::Release { .. }) => "the end of memory and its use",
        (By::Host { .. }, By::Copy { .. }) | (By::Copy { .. }, By::Host { .. }) => "the host and a copy",
        (By::Host { .. }, By::Kernel) | (By::Kernel, By::Host { .. }) => "the host and a kernel",
        (By::Copy { .. }, By::Kernel) | (By::Kernel, By::Copy { .. }) => "a kernel and a copy",
        (By::Kernel, By::Kernel) => match (earlier.example.thread, later.example.thread) {
            (Some((one, _)), Some((other, _))) if one == other => "threads of a block",
            (Some(_), Some(_)) => "threads of two blocks",
            _ => "threads of two kernels",
        },
    };
    let unnamed = || match Space::get() {
        Ok(space) => format!("{address:#x}, {}", space.describe(*address)),
        Err(_) => format!("{address:#x}"),
    };
    let at = match shared {
        true => format!("byte {address} of the block's shared memory"),
        false => (listeners.name)(*address).unwrap_or_else(unnamed),
    };
    let kernel = if later.place.by == By::Kernel { &later.place } else { &earlier.place }.kernel.clone();
    // A kernel's line says how often.
    let often = (kernel.is_empty() && *count > 1).then(|| format!("{count} times until it was told"));
    findings::Finding {
        check: "race".to_owned(),
        message: match [earlier, later].iter().any(|side| matches!(side.place.by, By::Release { .. })) {
            false => format!("nothing orders two accesses of {between}, to {at}"),
            true => format!("nothing orders {between}: {at}"),
        },
        kernel,
        sides: vec![
            access("first", earlier, later, extent, listeners),
            access("then", later, earlier, extent, listeners),
        ],
        notes: often.into_iter().collect(),
        count: *count,
    }
}

fn access(
    label: &str,
    Side { place, example: Example { write, strong, narrow, thread } }: &Side,
    other: &Side,
    extent: &Extent,
    listeners: Listeners,
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
    let Place { function, instruction, source, .. } = place.clone();
    let (label, source) = (label.to_owned(), source.map(findings::Source::from));
    let by = match (place.by, thread) {
        (By::Host { code }, _) => {
            let (function, source) = (listeners.code)(code);
            return findings::Side {
                label,
                what: format!("{what} of the host"),
                function,
                instruction,
                source,
            };
        }
        (By::Release { what }, _) => {
            return findings::Side { label, what: what.to_owned(), function, instruction, source };
        }
        (By::Copy { what, .. }, _) => what.to_owned(),
        (By::Kernel, Some((block, thread))) => extent.told((*block).into(), *thread),
        (By::Kernel, None) => format!("kernel '{}'", place.kernel),
    };
    findings::Side { label, what: format!("{what}{scope} by {by}"), function, instruction, source }
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
        let text = told(&finding, &extent, Listeners::default()).to_string();
        assert_eq!(
            text,
            "race: nothing orders two accesses of threads of a block, to byte 16 of the block's shared memory\n  \
             first: a write by thread (1, 1, 0) of block (1, 0, 0) at f.c:7:3, instruction st.shared.u32\n  \
             then:  a read by thread (2, 0, 0) of block (1, 0, 0) in 'f', instruction ld.shared.u32\n  \
             in kernel 'k', 5 times in its first launch with it"
        );
        let other = Finding { earlier: side(true, None, "st.u32", 7), shared: false, count: 1, ..finding };
        let named = Listeners { name: |_| Some("`a` of 8 bytes".to_owned()), ..Listeners::default() };
        let text = told(&other, &extent, named).to_string();
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
        let text = told(&narrow, &extent, Listeners::default()).to_string();
        let scope = "write of scope .cta, which does not reach the other block, by kernel 'k'";
        assert!(text.contains(scope) && text.contains("volatile read by thread"), "{text}");
        // With a plain access no scope would help.
        let plain = Finding { later: other.later, ..narrow };
        assert!(!told(&plain, &extent, Listeners::default()).to_string().contains("scope"));

        let copy = By::Copy { what: "a copy to the host", mapped: true };
        let place = Place { kernel: String::new(), by: copy, ..place("", 9) };
        let earlier = Side { place, ..side(true, None, "", 9) };
        let host = Place { by: By::Host { code: 77 }, ..Place::default() };
        let later = Side { place: host, ..side(false, None, "", 0) };
        let placed = |code| {
            (
                "main".to_owned(),
                Some(findings::Source { file: "f.c".to_owned(), line: code as u32, column: 1 }),
            )
        };
        let finding = Finding { earlier, later, address: 16, shared: false, count: 3 };
        let text = of_transfer(&finding, Listeners { code: placed, ..named }).to_string();
        assert_eq!(
            text,
            "race: nothing orders two accesses of the host and a copy, to `a` of 8 bytes\n  \
             first: a write by a copy to the host at f.c:9:3\n  \
             then:  a read of the host at f.c:77:1\n  3 times until it was told"
        );
    }
}
