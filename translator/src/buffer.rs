//! A file with parts of it replaced: what libclang reads, and where that is in the file.
//!
//! Each replacement keeps the number of lines, so that what clang says has the user's lines.

use std::ops::Range;

/// A file's text with parts replaced.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    pub text: Vec<u8>,
    /// Bytes of the file, and what stands for them, in order.
    replaced: Vec<(Range<usize>, Range<usize>)>,
}

impl Buffer {
    /// The file with each range replaced; the ranges are in order and apart.
    #[must_use]
    pub fn new(source: &[u8], parts: impl IntoIterator<Item = (Range<usize>, String)>) -> Self {
        let mut buffer = Self::default();
        let mut from = 0;
        for (range, text) in parts {
            buffer.text.extend_from_slice(&source[from..range.start]);
            let begin = buffer.text.len();
            buffer.text.extend_from_slice(text.as_bytes());
            let wanted = lines(&source[range.clone()]);
            let there = lines(text.as_bytes());
            buffer.text.extend(std::iter::repeat_n(b'\n', wanted.saturating_sub(there)));
            from = range.end;
            buffer.replaced.push((range, begin..buffer.text.len()));
        }
        buffer.text.extend_from_slice(&source[from..]);
        buffer
    }

    /// Where the replacement of a range begins.
    #[must_use]
    pub fn place_of(&self, range: &Range<usize>) -> Option<usize> {
        self.replaced.iter().find(|(original, _)| original == range).map(|(_, new)| new.start)
    }

    /// Where the replacement that begins at a byte ends.
    #[must_use]
    pub fn end_of(&self, place: usize) -> Option<usize> {
        self.replaced.iter().find(|(_, new)| new.start == place).map(|(_, new)| new.end)
    }

    /// The byte of the file that a byte of the text comes from: of a replacement, its begin.
    #[must_use]
    pub fn original(&self, at: usize) -> usize {
        let Some((original, new)) = self.replaced.iter().rev().find(|(_, new)| new.start <= at) else {
            return at;
        };
        if at < new.end { original.start } else { original.end + (at - new.end) }
    }
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_lines_are_kept() {
        let buffer = Buffer::new(b"ab\ncd\nef", [(1..4, "XYZ".to_owned()), (6..7, String::new())]);
        assert_eq!(buffer.text, b"aXYZ\nd\nf");
        assert_eq!(buffer.place_of(&(1..4)), Some(1));
        assert_eq!([0, 1, 3, 5, 7].map(|at| buffer.original(at)), [0, 1, 1, 4, 7]);
    }
}
