//! A race that has been found, for people and for tools.

use std::fmt::{self, Display, Formatter};

use gangway_device_memory::Space;
use gangway_races::{Example, Finding, Side};

use super::extent::Extent;

/// Who hears of races.
#[derive(Clone, Copy, Debug)]
pub struct Listeners {
    /// What of the program is at an address of the device, in words.
    pub name: fn(u64) -> Option<String>,
    /// Hears of each pair of instructions once, when the launch has ended.
    pub tell: fn(&Race),
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The kernel, by the name that the program's module has for it.
    pub kernel: String,
    /// Whose accesses they are: `threads of a block`.
    pub between: &'static str,
    /// What they access: a variable, or an address.
    pub at: String,
    /// The one that came first this time, and the other one.
    pub sides: [Accessed; 2],
    /// Words for which it was seen in the first launch that had it.
    pub count: u64,
}

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// `a write by thread (0, 0, 0) of block (1, 0, 0)`
    pub what: String,
    pub function: String,
    /// As in PTX.
    pub instruction: String,
    /// File, line and column.
    pub source: Option<(String, u32, u32)>,
}

impl Race {
    pub(super) fn of(finding: &Finding, extent: &Extent, name: fn(u64) -> Option<String>) -> Self {
        let Finding { earlier, later, address, shared, count } = finding;
        let between = match (earlier.example.thread, later.example.thread) {
            (Some((one, _)), Some((other, _))) if one == other => "threads of a block",
            (Some(_), Some(_)) => "threads of two blocks",
            _ => "threads of two kernels that run at the same time",
        };
        let unnamed = || match Space::get() {
            Ok(space) => format!("{address:#x}, {}", space.describe(*address)),
            Err(_) => format!("{address:#x}"),
        };
        let at = match shared {
            true => format!("byte {address} of the block's shared memory"),
            false => name(*address).unwrap_or_else(unnamed),
        };
        let sides = [earlier, later].map(|side| Accessed::of(side, extent));
        Race { kernel: later.place.kernel.clone(), between, at, sides, count: *count }
    }
}

impl Accessed {
    fn of(Side { place, example: Example { write, strong, thread } }: &Side, extent: &Extent) -> Self {
        let what = match (write, strong) {
            (true, true) => "an atomic or volatile write",
            (false, true) => "an atomic or volatile read",
            (true, false) => "a write",
            (false, false) => "a read",
        };
        let by = thread.map_or_else(
            || "another kernel".to_owned(),
            |(block, thread)| {
                let ([a, b, c], [x, y, z]) = (extent.place(block.into()), extent.thread(thread));
                format!("thread ({x}, {y}, {z}) of block ({a}, {b}, {c})")
            },
        );
        Accessed {
            what: format!("{what} by {by}"),
            function: place.function.clone(),
            instruction: place.instruction.clone(),
            source: place.source.clone(),
        }
    }
}

impl Display for Race {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Race { kernel, between, at, sides: [first, then], count } = self;
        writeln!(f, "race: nothing orders two accesses of {between}, to {at}")?;
        writeln!(f, "  first: {first}")?;
        writeln!(f, "  then:  {then}")?;
        match count {
            1 => write!(f, "  in kernel '{kernel}', once"),
            count => write!(f, "  in kernel '{kernel}', {count} times in its first launch with it"),
        }
    }
}

impl Display for Accessed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some((file, line, column)) => write!(f, "{} at {file}:{line}:{column}", self.what)?,
            None => write!(f, "{} in '{}'", self.what, self.function)?,
        }
        write!(f, ", instruction {}", self.instruction)
    }
}

#[cfg(test)]
mod tests {
    use gangway_races::Place;

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
            example: Example { write, strong: false, thread },
        };
        let finding = Finding {
            earlier: side(true, Some((1, 33)), "st.shared.u32", 7),
            later: side(false, Some((1, 2)), "ld.shared.u32", 0),
            address: 16,
            shared: true,
            count: 5,
        };
        let extent = Extent::new([4, 1, 1], [32, 2, 1]);
        let text = Race::of(&finding, &extent, |_| None).to_string();
        assert_eq!(
            text,
            "race: nothing orders two accesses of threads of a block, to byte 16 of the block's shared memory\n  \
             first: a write by thread (1, 1, 0) of block (1, 0, 0) at f.c:7:3, instruction st.shared.u32\n  \
             then:  a read by thread (2, 0, 0) of block (1, 0, 0) in 'f', instruction ld.shared.u32\n  \
             in kernel 'k', 5 times in its first launch with it"
        );
        let other = Finding { earlier: side(true, None, "st.u32", 7), shared: false, count: 1, ..finding };
        let text = Race::of(&other, &extent, |_| Some("`a` of 8 bytes".to_owned())).to_string();
        assert!(text.contains("two kernels that run at the same time, to `a` of 8 bytes"), "{text}");
        assert!(text.contains("a write by another kernel at f.c:7:3") && text.ends_with("once"), "{text}");
    }
}
