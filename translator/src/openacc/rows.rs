//! Arrays of arrays whose lengths are known when the program runs (`double a[n][m]`, `double (*a)[m]`). clang-22
//! can neither pass a pointer to such an array to a construct nor declare one on GPUs. So a pointer to what the
//! arrays consist of is passed, and the lengths; `a[i][j]` becomes `a_e[(i) * a_0 + (j)]`.

use std::ops::Range;

use super::index::Rows;
use crate::error::Complaint;

/// What a name for elements ends with.
const ELEMENTS: &str = "_e";

/// The declarations that a construct needs before it, the names that it gets, and the name that stands for the
/// variable. `name` is one that nothing else has, `pointer` leads to the elements.
pub fn declared(name: &str, object: &str, pointer: &str, rows: &Rows) -> (String, Vec<String>, String) {
    let Rows { depth, element } = rows;
    let (mut text, mut names, mut row) = (String::new(), Vec::new(), format!("{object}[0]"));
    for level in 0..*depth {
        let length = format!("{name}_{level}");
        text += &format!("const unsigned long {length} = sizeof({row}) / sizeof({row}[0]); (void){length}; ");
        row += "[0]";
        names.push(length);
    }
    let elements = format!("{name}{ELEMENTS}");
    text += &format!(
        "__typeof__({element}) *{elements} = (__typeof__({element}) *){pointer}; (void){elements}; "
    );
    names.push(elements.clone());
    (text, names, elements)
}

/// The subscripts behind a name that ends at a byte, at most so many: the bytes of their brackets.
fn subscripts(text: &str, mut at: usize, most: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    while found.len() < most {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if bytes.get(at) != Some(&b'[') {
            break;
        }
        let Some(end) = behind_bracket(bytes, at) else { break };
        found.push(at..end);
        at = end;
    }
    found
}

/// The byte behind the bracket that closes the one at a byte.
fn behind_bracket(bytes: &[u8], open: usize) -> Option<usize> {
    let (mut depth, mut quote, mut at) = (0_usize, None, open);
    loop {
        let byte = *bytes.get(at)?;
        match (byte, quote) {
            (b'\\', Some(_)) => at += 1,
            (_, Some(open)) if byte == open => quote = None,
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'[', None) => depth += 1,
            (b']', None) if depth == 1 => return Some(at + 1),
            (b']', None) => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

/// What becomes of a use of a variable for which elements stand: its name, and the brackets behind it.
pub fn edits(text: &str, used: &Range<usize>, elements: &str, depth: usize) -> Vec<(Range<usize>, String)> {
    let stem = elements.strip_suffix(ELEMENTS).unwrap_or(elements);
    let found = subscripts(text, used.end, depth + 1);
    let Some((first, last)) = found.first().zip(found.last()) else {
        return vec![(used.clone(), elements.to_owned())];
    };
    let all = found.len() == depth + 1;
    let mut edits = Vec::new();
    // Of a row the address of its first element is meant; of rows of rows it is a pointer to one of unknown length,
    // which no address of an element is.
    let begin = match found.len() {
        _ if all => elements.to_owned(),
        levels if levels < depth => format!("((void *)&{elements}"),
        _ => format!("(&{elements}"),
    };
    edits.push((used.clone(), begin));
    edits.push((first.start..first.start + 1, "[".to_owned() + &"(".repeat(found.len())));
    for (level, pair) in found.windows(2).enumerate() {
        let close = if level == 0 { ")" } else { "))" };
        edits.push((pair[0].end - 1..pair[1].start + 1, format!("{close} * {stem}_{level} + (")));
    }
    let lengths: String = (found.len() - 1..depth).map(|level| format!(" * {stem}_{level}")).collect();
    let close = if found.len() == 1 { ")" } else { "))" };
    edits.push((last.end - 1..last.end, format!("{close}{lengths}]{}", if all { "" } else { ")" })));
    edits
}

/// What stands for an array of which there is a copy.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The names of the first elements' numbers, and how many there are, by dimension.
    pub dimensions: Vec<(String, u64)>,
}

impl Copied {
    /// What becomes of a use of the array: of its name and of its subscripts, which are all there.
    pub fn edits(&self, text: &str, used: &Range<usize>, name: &str) -> Vec<(Range<usize>, String)> {
        let found = subscripts(text, used.end, self.dimensions.len());
        let mut edits = vec![(used.clone(), name.to_owned())];
        for (at, (part, (first, count))) in found.iter().zip(&self.dimensions).enumerate() {
            let (open, close) = match at {
                0 => ("[".to_owned() + &"(".repeat(found.len()), ""),
                _ => (format!(") * {count} + (("), ")"),
            };
            let end = if at + 1 == found.len() { "]" } else { "" };
            edits.push((part.start..part.start + 1, open));
            edits.push((part.end - 1..part.end, format!(") - {first}{close}{end}")));
        }
        edits
    }
}

/// Whether elements can stand for a variable where it is used: a complaint if not.
///
/// # Errors
/// It is used as a whole, or its size is asked for.
pub fn check(text: &str, used: &Range<usize>, name: &str) -> Result<(), Complaint> {
    let before = text[..used.start].trim_end().trim_end_matches('(').trim_end();
    let is_measured = ["sizeof", "typeof", "__typeof__"].iter().any(|word| before.ends_with(word));
    if is_measured || subscripts(text, used.end, 1).is_empty() {
        let message = format!(
            "`{name}` has rows whose length is known when the program runs, and is used as a whole; use its \
             elements, or a pointer to them"
        );
        return Err(Complaint::new(used.start, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Copied, check, edits};

    fn edited(text: &str, depth: usize) -> String {
        let at = text.find('a').unwrap();
        let mut result = text.to_owned();
        let mut edits = edits(text, &(at..at + 1), "x_e", depth);
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, new) in edits {
            result.replace_range(range, &new);
        }
        result
    }

    #[test]
    fn subscripts_become_one() {
        assert_eq!(edited("a[i][j] = 1;", 1), "x_e[((i) * x_0 + (j))] = 1;");
        assert_eq!(edited("a [b[i]] [c(']')]", 1), "x_e [((b[i]) * x_0 + (c(']')))]");
        assert_eq!(edited("a[i][j][k]", 2), "x_e[(((i) * x_0 + (j)) * x_1 + (k))]");
    }

    #[test]
    fn rows_are_addresses() {
        assert_eq!(edited("f(a[i])", 1), "f((&x_e[(i) * x_0]))");
        assert_eq!(edited("a[i][j]", 2), "(&x_e[((i) * x_0 + (j)) * x_1])");
        assert_eq!(edited("f(a[i])", 2), "f(((void *)&x_e[(i) * x_0 * x_1]))");
    }

    #[test]
    fn copies_begin_where_the_section_does() {
        let edited = |text: &str, dimensions: &[(&str, u64)]| {
            let dimensions = dimensions.iter().map(|(first, count)| ((*first).to_owned(), *count)).collect();
            let at = text.find('a').unwrap();
            let mut edits = Copied { dimensions }.edits(text, &(at..at + 1), "s");
            edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            let mut result = text.to_owned();
            for (range, new) in edits {
                result.replace_range(range, &new);
            }
            result
        };
        assert_eq!(edited("x = a[i + 1];", &[("l", 8)]), "x = s[(i + 1) - l];");
        assert_eq!(
            edited("a [i] [b[j]] + 1", &[("l", 4), ("m", 8)]),
            "s [((i) - l ) * 8 + ((b[j]) - m)] + 1"
        );
    }

    #[test]
    fn what_is_used_as_a_whole_is_refused() {
        assert!(check("f(a)", &(2..3), "a").is_err());
        assert!(check("sizeof(a[0])", &(7..8), "a").is_err());
        assert!(check("f(a[0])", &(2..3), "a").is_ok());
    }
}
