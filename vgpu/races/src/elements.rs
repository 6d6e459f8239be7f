//! What an instruction accesses in many turns of a loop, all lanes the same: looked at line by line, and not by the access.
//!
//! Between the turns nothing is done that orders accesses, and nothing else of the warp accesses the same memory, but for
//! what is told of before or behind in the order of the instructions.

use crate::line::{LINE, WORD, WORDS, between};
use crate::look::{Entered, Knowledge, Lines, View};
use crate::row::{Places, Row, Values};

/// Places that follow each other at equal steps, in time as well. Each is of whole words, and in one line.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'b> {
    pub warp: usize,
    pub lanes: u32,
    /// The first place; in shared memory an offset.
    pub first: u64,
    pub step: i64,
    pub count: u64,
    /// Bytes of each.
    pub size: u64,
    pub shared: bool,
    /// What is written, one after the other, if they are written: each place once.
    pub values: Option<&'b [u8]>,
    /// The instruction: [`Device::site`](crate::Device::site).
    pub site: u16,
}

/// So many lines ahead what is known of one is fetched.
const AHEAD: u64 = 8;

/// The words of a line that some of them are, and what is written there.
type Of = (u64, u32, [u32; WORDS]);

/// Looks at what an instruction accesses. `before` has what others of the same turns have read before it, at steps of their
/// size as well.
pub fn look_at_elements(
    knowledge: &Knowledge<'_>,
    elements: &Elements<'_>,
    before: &[Elements<'_>],
    clock: u32,
    lines: Lines<'_>,
) {
    let mut lines = Entered::new(lines, knowledge);
    // What the others have read of lines without any of the last one's.
    let (start, end) = (elements.first & !(LINE - 1), elements.end().next_multiple_of(LINE));
    for other in before {
        for (first, end) in [(other.first, other.end().min(start)), (other.first.max(end), other.end())] {
            if first < end {
                let part = Elements { first, count: (end - first) / other.size, ..*other };
                look_at_elements(knowledge, &part, &[], clock, lines.again());
            }
        }
    }
    elements.each_line(|line, ahead| {
        let &(base, words, ref written) = line;
        lines.expect(ahead, elements.values.is_some());
        let row = elements.row(written, (base, words));
        let view = View::new(knowledge, &row, clock);
        let others = before.iter().map(|other| (other, other.words_of(base)));
        // Whoever reads the same again takes the place of who has read it, if nobody races with that.
        let again = others.clone().all(|(_, other)| other & !words == 0);
        if again && !before.is_empty() && view.read_words_of_line((base, words), &mut lines) {
            return;
        }
        for (other, words) in others.filter(|&(_, words)| words != 0) {
            let row = other.row(written, (base, words));
            View::new(knowledge, &row, clock).words_of_line((base, words), &mut lines);
        }
        view.words_of_line((base, words), &mut lines);
    });
}

impl Elements<'_> {
    /// Where those end that follow each other.
    fn end(&self) -> u64 {
        self.first + self.count * self.size
    }

    /// The words of a line that they are, if they follow each other.
    fn words_of(&self, base: u64) -> u32 {
        let (start, end) = (self.first.max(base), self.end().min(base + LINE));
        if start < end { between(start - base, end - base) } else { 0 }
    }

    /// What they are of a line.
    fn row<'r>(&self, written: &'r [u32; WORDS], (line, words): (u64, u32)) -> Row<'r> {
        let &Elements { warp, lanes, shared, site, values, .. } = self;
        Row {
            warp,
            lanes,
            places: Places::Words { line, words },
            size: LINE,
            shared,
            write: values.is_some(),
            strong: false,
            narrow: false,
            values: values.map(|_| Values::Words(written)),
            site,
        }
    }

    /// The lines that they are in, and an address that comes later.
    fn each_line(&self, mut each: impl FnMut(&Of, u64)) {
        let Elements { first, step, count, size, values, .. } = *self;
        let mut line: Of = (0, 0, [0; WORDS]);
        if step == size as i64 {
            let end = self.end();
            for base in (first & !(LINE - 1)..end).step_by(LINE as usize) {
                let (start, end) = (first.max(base), end.min(base + LINE));
                (line.0, line.1) = (base, between(start - base, end - base));
                if let Some(values) = values {
                    let own = &values[(start - first) as usize..(end - first) as usize];
                    put(&mut line.2, (start - base) as usize, own);
                }
                each(&line, base + AHEAD * LINE);
            }
            return;
        }
        for number in 0..count {
            let place = first.wrapping_add_signed(step.wrapping_mul(number as i64));
            let (base, within) = (place & !(LINE - 1), place % LINE);
            if base != line.0 {
                if line.1 != 0 {
                    each(&line, place.wrapping_add_signed(step.wrapping_mul(AHEAD as i64)));
                }
                (line.0, line.1) = (base, 0);
            }
            line.1 |= between(within, within + size);
            if let Some(values) = values {
                let own = &values[(number * size) as usize..][..size as usize];
                put(&mut line.2, within as usize, own);
            }
        }
        if line.1 != 0 {
            each(&line, line.0);
        }
    }
}

/// Puts bytes of whole words where they are in a line.
fn put(written: &mut [u32; WORDS], at: usize, bytes: &[u8]) {
    let (words, _) = bytes.as_chunks::<{ WORD as usize }>();
    for (to, word) in written[at / WORD as usize..].iter_mut().zip(words) {
        *to = u32::from_le_bytes(*word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(first: u64, step: i64, count: u64, size: u64, values: Option<&[u8]>) -> Vec<Of> {
        let elements =
            Elements { warp: 0, lanes: 1, first, step, count, size, shared: false, values, site: 0 };
        let mut lines = Vec::new();
        elements.each_line(|line, _| lines.push(*line));
        lines
    }

    fn words(first: u64, step: i64, count: u64, size: u64) -> Vec<(u64, u32)> {
        lines(first, step, count, size, None).into_iter().map(|(base, words, _)| (base, words)).collect()
    }

    #[test]
    fn elements_are_in_lines() {
        assert_eq!(words(256, 4, 32, 4), [(256, u32::MAX)]);
        assert_eq!(words(376, 8, 3, 8), [(256, 3 << 30), (384, 15)]);
        assert_eq!(words(256, 16, 4, 4), [(256, 0x1111)]);
        assert_eq!(words(256, 0, 9, 8), [(256, 3)]);
        assert_eq!(words(384, -8, 3, 8), [(384, 3), (256, 15 << 28)]);
        assert_eq!(words(256, 1024, 2, 4), [(256, 1), (1280, 1)]);
        assert_eq!(words(256, 4, 0, 4), []);
    }

    #[test]
    fn values_go_with_their_words() {
        let bytes: Vec<u8> = (1u32..=6).flat_map(u32::to_le_bytes).collect();
        let near = lines(380, 4, 6, 4, Some(&bytes));
        assert_eq!((near[0].2[31], &near[1].2[..5]), (1, &[2, 3, 4, 5, 6][..]));
        let far = lines(256, 16, 3, 8, Some(&bytes));
        assert_eq!((far.len(), far[0].1), (1, 0x333));
        assert_eq!([0, 1, 4, 5, 8, 9].map(|word: usize| far[0].2[word]), [1, 2, 3, 4, 5, 6]);
    }
}
