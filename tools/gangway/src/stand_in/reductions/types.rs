//! What LLVM's text says of types, as far as elements of reductions need it.

/// The definitions of a module's named types, and what of their layout matters.
#[derive(Debug)]
pub struct Types<'a> {
    named: Vec<(&'a str, &'a str)>,
}

/// No GPU has accesses that ask for more.
const LARGEST: u64 = 16;

impl<'a> Types<'a> {
    pub fn of(text: &'a str) -> Self {
        let named = text.lines().filter(|line| line.starts_with('%'));
        Self { named: named.filter_map(|line| line.split_once(" = type ")).collect() }
    }

    /// The alignment in bytes that variables of a type have at least: that of its largest scalar.
    /// 1 for what is not known.
    pub fn alignment(&self, kind: &str) -> u64 {
        let kind = kind.trim();
        if kind.starts_with("<{") {
            return 1;
        }
        if let Some(members) = inside(kind, '{', '}') {
            return split(members).map(|member| self.alignment(member)).max().unwrap_or(1);
        }
        if let Some((_, element)) = inside(kind, '[', ']').and_then(|array| array.split_once(" x ")) {
            return self.alignment(element);
        }
        if kind.starts_with('%') {
            let found = self.named.iter().find(|(name, _)| *name == kind);
            return found.map_or(1, |(_, definition)| self.alignment(definition));
        }
        match kind {
            "half" | "bfloat" => 2,
            "float" => 4,
            "double" | "ptr" => 8,
            "fp128" => 16,
            _ => integer(kind).map_or(1, |bits| bits.div_ceil(8).next_power_of_two().min(LARGEST)),
        }
    }
}

/// The bits of an integer type.
pub fn integer(kind: &str) -> Option<u64> {
    kind.strip_prefix('i')?.parse().ok()
}

fn inside(kind: &str, open: char, close: char) -> Option<&str> {
    kind.strip_prefix(open)?.strip_suffix(close)
}

/// The members of a structure.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |letter| {
        match letter {
            '{' | '[' | '<' => depth += 1,
            '}' | ']' | '>' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_aligned_as_its_largest_scalar() {
        let types = Types::of(
            "%struct.odd = type { [11 x i8] }\n%pair = type { i16, %struct.odd }\n%packed = type <{ i8, double }>\n",
        );
        for (kind, expected) in [
            ("i8", 1),
            ("i16", 2),
            ("half", 2),
            ("i32", 4),
            ("ptr", 8),
            ("i128", 16),
            ("[5 x i16]", 2),
            ("[2 x [3 x double]]", 8),
            ("{ float, float }", 4),
            ("%struct.odd", 1),
            ("[4 x %pair]", 2),
            ("{ [2 x { i8, i64 }], i8 }", 8),
            ("%packed", 1),
            ("{ i8, <{ i64 }> }", 1),
            ("%unknown", 1),
        ] {
            assert_eq!(types.alignment(kind), expected, "{kind}");
        }
    }
}
