//! The host's pages behind mapped variables, out of reach while a kernel runs.
//!
//! A kernel of a CPU device that follows a pointer of the host finds the host's copy of the
//! data, and nothing fails. Here the pages fail: they are protected while kernels run, for the
//! whole process, as the workers of a region are threads of libomp's that the back end does
//! not know. (Protection keys would be a thread's own, and need each worker to set them.)
//!
//! Only whole pages inside of a variable are taken, so its neighbours on the heap and on the
//! stack stay usable. A thread of the program that touches such a page and is in no kernel gets
//! the variable's pages back, for as long as kernels run: the signal handler [lifts](Pages::lift)
//! the protection. A system call cannot be helped in this way; it fails with `EFAULT`.

use super::maps;
use std::ops::Range;
use std::ptr;

const PAGE: usize = 4096;

/// What is protected.
#[derive(Debug)]
pub(super) struct Pages {
    /// Kernels that run.
    running: usize,
    /// Of the last time that kernels began to run.
    spans: Vec<Span>,
}

#[derive(Debug)]
struct Span {
    pages: Range<usize>,
    /// What may be done with them otherwise.
    protection: i32,
    /// They cannot be touched now.
    protected: bool,
}

/// The pages that lie wholly inside.
fn whole_pages(begin: usize, size: usize) -> Option<Range<usize>> {
    let (start, end) = (begin.checked_next_multiple_of(PAGE)?, begin.checked_add(size)? / PAGE * PAGE);
    (start < end).then_some(start..end)
}

impl Pages {
    pub const fn new() -> Self {
        Self { running: 0, spans: Vec::new() }
    }

    /// Kernels begin to run. Takes the pages of variables away, which come in the order of their
    /// beginnings, unless other kernels run.
    pub fn begin(&mut self, variables: impl Iterator<Item = (usize, usize)>) {
        if self.running == 0 {
            self.take_away(variables.filter_map(|(begin, size)| whole_pages(begin, size)));
        }
        self.running += 1;
    }

    /// They are done. Gives the pages back when none run any more.
    pub fn end(&mut self) {
        self.running -= 1;
        if self.running == 0 {
            self.give_back();
        }
    }

    /// Protects ranges, which come in the order of their beginnings and may overlap.
    fn take_away(&mut self, ranges: impl Iterator<Item = Range<usize>>) {
        self.spans.clear();
        let readable = maps::readable();
        let mut taken = 0;
        for range in ranges {
            let start = range.start.max(taken);
            taken = taken.max(range.end);
            for (there, protection) in &readable {
                let pages = start.max(there.start)..range.end.min(there.end);
                if pages.start < pages.end {
                    self.spans.push(Span { pages, protection: *protection, protected: false });
                }
            }
        }
        // Only now, as the list may have had to grow.
        for span in &mut self.spans {
            span.protected = span.set(libc::PROT_NONE);
        }
    }

    fn give_back(&mut self) {
        for span in self.spans.iter_mut().filter(|span| span.protected) {
            span.protected = !span.set(span.protection);
        }
    }

    /// In a forked child, where no kernel runs.
    pub fn after_fork(&mut self) {
        self.running = 0;
        self.give_back();
    }

    /// Whether an address lies in a page that cannot be touched now.
    pub fn protects(&mut self, address: usize) -> bool {
        self.span(address).is_some_and(|span| span.protected)
    }

    /// Gives the pages of an address's variable back. Whether they allow the access now.
    pub fn lift(&mut self, address: usize, writes: bool) -> bool {
        let Some(span) = self.span(address) else { return false };
        if span.protected {
            span.protected = !span.set(span.protection);
        }
        let needed = if writes { libc::PROT_WRITE } else { libc::PROT_READ };
        !span.protected && span.protection & needed != 0
    }

    fn span(&mut self, address: usize) -> Option<&mut Span> {
        self.spans.iter_mut().find(|span| span.pages.contains(&address))
    }
}

impl Span {
    /// What cannot be protected (too many mappings) stays as it is.
    fn set(&self, protection: i32) -> bool {
        let start: *mut libc::c_void = ptr::with_exposed_provenance_mut(self.pages.start);
        // SAFETY: pages of a variable that is mapped; they get back what they had.
        unsafe { libc::mprotect(start, self.pages.len(), protection) == 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_whole() {
        assert_eq!(whole_pages(PAGE, PAGE), Some(PAGE..2 * PAGE));
        assert_eq!(whole_pages(PAGE + 1, 2 * PAGE), Some(2 * PAGE..3 * PAGE));
        assert_eq!(whole_pages(PAGE + 1, 2 * PAGE - 2), None);
        assert_eq!(whole_pages(usize::MAX - 5, 5), None);
    }

    #[test]
    fn pages_come_back_as_they_were() {
        let memory = vec![7_u8; 5 * PAGE];
        let begin = memory.as_ptr().addr();
        let whole = whole_pages(begin, memory.len()).unwrap();
        let mut pages = Pages::new();
        pages.take_away([whole.clone(), whole.start + PAGE..whole.end].into_iter());
        let protected: usize = pages.spans.iter().map(|span| span.pages.len()).sum();
        assert_eq!(protected, whole.len(), "each page once");
        assert!(!maps::readable().iter().any(|(range, _)| range.contains(&whole.start)));
        assert_eq!((memory[0], memory[5 * PAGE - 1]), (7, 7), "the ends are not taken");
        pages.give_back();
        assert!(memory.iter().all(|byte| *byte == 7));
    }
}
