//! How much a format gives at most (Fortran 2018, 13.3). A few bytes of one can stand for gigabytes,
//! and for steps without number, while Fortran's library has the unit locked.

use super::FortranError;
use super::items::Item;
use gangway_system::fortran::Kind;

/// Bytes and steps that are always let through.
const ALLOWED: u64 = 1 << 28;

/// The same for each byte of the statement.
const FOR_EACH_BYTE: u64 = 256;

/// Bytes that hardly any value exceeds where the format does not say how many.
const LIKELY: u64 = 128;

/// Refuses a statement whose format gives far more than its bytes let expect.
pub(super) fn check(items: &[Item<'_>], bytes: usize) -> Result<(), FortranError> {
    let Some(Item::Begin(begin)) = items.first() else { return Ok(()) };
    if !matches!(begin.kind, Kind::ExternalFormatted | Kind::InternalFormatted) {
        return Ok(());
    }
    let values = items.iter().fold(0, |values: u64, item| values.saturating_add(values_of(item)));
    let allowed = ALLOWED.max((bytes as u64).saturating_mul(FOR_EACH_BYTE));
    match at_most(begin.format, values) <= allowed {
        true => Ok(()),
        false => Err(FortranError::Malformed("a format that gives far too much")),
    }
}

/// Values that an item brings, of which a complex number is two.
fn values_of(item: &Item<'_>) -> u64 {
    match item {
        Item::Array(array) => {
            let extents = array.extents.iter().map(|&extent| extent.unsigned_abs());
            // `CFI_type_float_Complex` and its kin.
            let parts = if (32..=37).contains(&array.kind) { 2 } else { 1 };
            extents.fold(parts, u64::saturating_mul)
        }
        Item::Complex4(..) | Item::Complex8(..) => 2,
        Item::Integer(_) | Item::Real4(_) | Item::Real8(_) | Item::Logical(_) | Item::Text(_) => 1,
        _ => 0,
    }
}

/// A part of a format in parentheses.
#[derive(Default)]
struct Group {
    repeat: u64,
    /// It takes values, so that it is repeated as long as there are some.
    takes: bool,
    /// What it gives each time besides values.
    gives: u64,
}

/// Bytes and steps of a format with so many values, or more.
fn at_most(format: &[u8], values: u64) -> u64 {
    let mut reader = Reader { rest: format };
    let mut groups = vec![Group { repeat: 1, ..Group::default() }];
    // What is given for each value: by its descriptor, and by groups that take one at least.
    let (mut widest, mut for_each) = (0_u64, 1_u64);
    let mut number = None;
    while let Some(byte) = reader.next() {
        let count = number.take().unwrap_or(1);
        if byte == b')' {
            // More of these than there are groups end nothing.
            if groups.len() > 1 {
                end(&mut groups, &mut for_each);
            }
            continue;
        }
        // There is always one.
        let Some(group) = groups.last_mut() else { break };
        let mut give = |bytes: u64| group.gives = group.gives.saturating_add(bytes);
        match byte {
            b'0'..=b'9' => number = Some(reader.number(u64::from(byte - b'0'))),
            b'*' => number = Some(u64::MAX),
            b'\'' | b'"' => give(reader.text(byte)),
            b'H' => {
                reader.skip(count);
                give(count);
            }
            b'(' => groups.push(Group { repeat: count, ..Group::default() }),
            b'X' | b'/' => give(count),
            b'T' => give(reader.amount()),
            _ if reader.takes_value(byte) => {
                group.takes = true;
                widest = widest.max(reader.amount());
            }
            _ => give(1),
        }
    }
    while groups.len() > 1 {
        end(&mut groups, &mut for_each);
    }
    // Without more groups, the last one is the format, which begins again for more values.
    let whole = groups.pop().map_or(0, |group| group.gives);
    let for_each = for_each.saturating_add(whole).saturating_add(widest);
    values.saturating_add(1).saturating_mul(for_each)
}

/// Ends the last group.
fn end(groups: &mut Vec<Group>, for_each: &mut u64) {
    let Some(group) = groups.pop() else { return };
    let gives = group.gives.saturating_add(1);
    let Some(outer) = groups.last_mut() else { return };
    if group.takes {
        outer.takes = true;
        *for_each = for_each.saturating_add(gives);
    } else {
        outer.gives = outer.gives.saturating_add(gives.saturating_mul(group.repeat));
    }
}

/// Reads a format byte by byte: letters are capital ones, and blanks stand for nothing.
struct Reader<'f> {
    rest: &'f [u8],
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let blanks = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count();
        self.skip(blanks as u64);
        self.rest.first().map(u8::to_ascii_uppercase)
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.skip(1);
        Some(byte)
    }

    fn skip(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.rest = self.rest.get(bytes..).unwrap_or(&[]);
    }

    /// The rest of a number that begins so.
    fn number(&mut self, mut number: u64) -> u64 {
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.skip(1);
            number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        }
        number
    }

    /// What the numbers behind a descriptor come to: width, digits and exponent.
    fn amount(&mut self) -> u64 {
        let mut amount = 0_u64;
        while let Some(byte) = self.peek() {
            match byte {
                b'0'..=b'9' => amount = amount.saturating_add(self.number(0)),
                b'.' | b'E' | b'L' | b'R' | b'N' | b'S' | b'X' if !self.is_last(byte) => self.skip(1),
                _ => break,
            }
        }
        if amount == 0 { LIKELY } else { amount }
    }

    /// Whether the byte has no number behind it, so that it begins something else.
    fn is_last(&self, byte: u8) -> bool {
        byte != b'.' && !self.rest.get(1).is_some_and(|next| next.is_ascii_digit() || *next == b' ')
    }

    /// Bytes of a text up to its end. Two ends in a row are two texts, which give as much.
    fn text(&mut self, end: u8) -> u64 {
        let length = self.rest.iter().position(|&byte| byte == end).unwrap_or(self.rest.len());
        self.skip(length as u64 + 1);
        length as u64 + 1
    }

    /// Whether a letter begins a descriptor that takes a value: not so `BN`, `BZ`, `DC` and `DP`.
    fn takes_value(&mut self, letter: u8) -> bool {
        let next = self.peek();
        match letter {
            b'B' => !matches!(next, Some(b'N' | b'Z')),
            b'D' => !matches!(next, Some(b'C' | b'P')),
            _ => matches!(letter, b'A' | b'E' | b'F' | b'G' | b'I' | b'L' | b'O' | b'Z'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_formats_give_about_what_they_give() {
        for (format, values) in [
            ("(i5)", 1000),
            ("(10(f7.3,1x))", 10_000_000),
            ("(g0)", 1_000_000),
            ("(20(i6,1x))", 20_000),
            ("(100(es24.16,1x),/)", 100_000),
            ("(999999(i5,1x))", 1000),
            ("(*(g0,:,', '))", 10_000),
            ("(t100,a,tl3,tr5,a,bn,dc,sp,2p,f8.3,$)", 1000),
            ("(12habc(999999(x),3('it''s',1x,\"a \"\"b\"\"\"),en12.3e2,b32.32)", 1000),
            ("('999999999x(999999(999999(999999(x))))',i5)", 10),
            ("(dt'999999(999999(9999999(x)))'(5,6))", 10),
            ("", 0),
        ] {
            assert!(at_most(format.as_bytes(), values) <= ALLOWED, "{format}");
        }
    }

    #[test]
    fn formats_that_give_far_too_much_are_seen() {
        for format in [
            "(999999999x,a)",
            "(9 9 9 9 9 9 9 9 9 X,a)",
            "(t999999999,a)",
            "(tr999999999,a)",
            "(tl 5,tr 999999999,a)",
            "(a999999999)",
            "(i5.999999999)",
            "(e12.3e999999999)",
            "(en 999999999.3)",
            "(ES999999999.3)",
            "(999999999/)",
            "(1000(1000(1000(1x))),a)",
            "(1000(1000(1000(bn,1x))),a)",
            "(1000(1000(1000(dc))),a)",
            "(1000(1000(1000('a'))),a)",
            "(1000(1000(1000('a')))",
            "(1000(1000(1000())))",
            "(*(1x),a)",
            "(99999999999999999999999999x)",
            "(a,'it''s',999999999x)",
            "(3hit',999999999x)",
        ] {
            assert!(at_most(format.as_bytes(), 1) > ALLOWED, "{format}");
        }
        // Little for each value, and many values.
        assert!(at_most(b"(10000(i5,100000x))", 10_000) > ALLOWED);
    }
}
