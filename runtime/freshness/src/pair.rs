//! A range of the host and its storage, byte by byte.

use std::ops::Range;

/// Who has the newest value of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Newest {
    /// Both sides have the same.
    Both,
    /// The host has written, and the device has an older value.
    Host,
    /// The device has written, and the host has an older value.
    Device,
    /// The device has never been given a value.
    Unset,
    /// Both may have written last.
    Unsure,
    /// Each side has a value of its own, as an attached pointer.
    Apart,
}

/// Who wrote: the caller's number for a place, 0 where none is known.
pub type Origin = u32;

/// Bytes of a pair that one side has read, or is about to lose, and that are not the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The first of them, counted from the beginning of the pair.
    pub offset: usize,
    /// How many there are in the range that was looked at.
    pub bytes: usize,
    /// Who wrote the newest value of the first.
    pub origin: Origin,
}

/// What a copy to the device has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyTo {
    /// The device had all of it already.
    pub in_vain: bool,
}

/// What a copy back is going to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyBack {
    /// The host has all of it already.
    pub in_vain: bool,
    /// What the host has written since, and loses.
    pub lost: Option<Stale>,
}

/// A range of the host and its storage on a device.
#[derive(Debug)]
pub struct Pair {
    pub(crate) host: usize,
    pub(crate) storage: usize,
    /// The caller's number for the variable.
    pub name: u32,
    /// It is still mapped.
    pub(crate) present: bool,
    newest: Box<[Newest]>,
    /// Of each word, which has been written last as a whole most likely.
    origins: Box<[Origin]>,
    /// What the host had when it was last looked at.
    host_seen: Box<[u8]>,
    /// What the device had, as far as it has been given values. Empty once it is gone.
    device_seen: Box<[u8]>,
    /// How many bytes the host, or the device, has newer.
    pub(crate) host_newer: usize,
    pub(crate) device_newer: usize,
    /// The same of the device, for each page of the host's.
    device_newer_in: Box<[u16]>,
}

/// A page of the host's.
pub const PAGE: usize = 4096;

/// Bytes that have one origin.
const WORD: usize = 4;

/// Bytes that are compared at once.
const PART: usize = 256;

/// The words that a range touches.
fn words(range: &Range<usize>) -> Range<usize> {
    range.start / WORD..range.end.div_ceil(WORD)
}

/// What is at an offset, in parts.
fn parts(offset: usize, now: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    now.chunks(PART).enumerate().map(move |(number, part)| (offset + number * PART, part))
}

/// Counts in single bytes, of which many are added at once: so many of them at most.
const COUNTED: usize = 128;

/// How many bytes the host, and the device, has newer.
fn newer(all: &[Newest]) -> [usize; 2] {
    [Newest::Host, Newest::Device].map(|of| {
        let count = |part: &[Newest]| part.iter().map(|newest| u8::from(*newest == of)).sum::<u8>();
        all.chunks(COUNTED).map(|part| usize::from(count(part))).sum()
    })
}

/// Who has the newest value of a byte that the device has written. What is the same on both sides misleads nobody.
fn written_by_device(before: Newest, same: bool) -> Newest {
    match before {
        Newest::Apart => before,
        _ if same => Newest::Both,
        _ => Newest::Device,
    }
}

impl Pair {
    pub(crate) fn new(host: usize, storage: usize, name: u32, now: Box<[u8]>) -> Self {
        let size = now.len();
        Self {
            host,
            storage,
            name,
            present: true,
            newest: vec![Newest::Unset; size].into(),
            origins: vec![0; size.div_ceil(WORD)].into(),
            host_seen: now,
            device_seen: vec![0; size].into(),
            host_newer: 0,
            device_newer: 0,
            device_newer_in: vec![0; (host + size).div_ceil(PAGE) - host / PAGE].into(),
        }
    }

    /// What its storage has from an offset on when it is mapped: nobody's value yet, such as poison or what another
    /// variable has left.
    pub fn begins_with(&mut self, offset: usize, there: &[u8]) {
        self.device_seen[offset..offset + there.len()].copy_from_slice(there);
    }

    /// Whether it is still mapped.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// The first byte of the host's.
    #[must_use]
    pub fn host(&self) -> usize {
        self.host
    }

    /// The first byte of the device's.
    #[must_use]
    pub fn storage(&self) -> usize {
        self.storage
    }

    #[must_use]
    pub fn size(&self) -> usize {
        self.newest.len()
    }

    /// Whether the host has values that the device has not.
    #[must_use]
    pub fn has_newer_on_host(&self) -> bool {
        self.host_newer != 0
    }

    /// The pages of the host of which the device has something newer, by their addresses.
    pub fn stale_pages(&self) -> impl Iterator<Item = usize> {
        let first = self.host / PAGE * PAGE;
        let newer = self.device_newer_in.iter().zip((first..).step_by(PAGE));
        newer.filter(|(newer, _)| **newer != 0).map(|(_, page)| page)
    }

    /// Whether the device has something newer of a part.
    fn is_stale_on_host(&self, offset: usize, size: usize) -> bool {
        // All of them are looked at: that goes by many at a time.
        let all = &self.newest[offset..offset + size];
        self.device_newer != 0 && all.iter().filter(|newest| **newest == Newest::Device).count() != 0
    }

    /// A range in pieces, none of which goes beyond a multiple of a power of two of the host's addresses.
    fn split(&self, range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (host, mut at) = (self.host, range.start);
        std::iter::from_fn(move || {
            let begin = at;
            at = range.end.min(((host + begin) / size + 1) * size - host);
            (begin < at).then_some(begin..at)
        })
    }

    /// Whether the device has something newer of what it has in a range of the host.
    #[must_use]
    pub fn covers_stale(&self, host: usize, size: usize) -> bool {
        let (begin, end) = (host.max(self.host), (host + size).min(self.host + self.size()));
        begin < end && self.device_newer != 0 && self.is_stale_on_host(begin - self.host, end - begin)
    }

    #[inline]
    fn set(&mut self, at: usize, newest: Newest) {
        let before = std::mem::replace(&mut self.newest[at], newest);
        let (is, was) = (|of| usize::from(newest == of), |of| usize::from(before == of));
        self.host_newer = self.host_newer + is(Newest::Host) - was(Newest::Host);
        self.device_newer = self.device_newer + is(Newest::Device) - was(Newest::Device);
        let in_page = &mut self.device_newer_in[(self.host + at) / PAGE - self.host / PAGE];
        *in_page = *in_page + is(Newest::Device) as u16 - was(Newest::Device) as u16;
    }

    fn set_all(&mut self, range: Range<usize>, newest: Newest) {
        self.change(range, |_, _| newest);
    }

    /// Changes who has the newest value of each byte in a range, where `next` gets what it is, and whether both sides were
    /// last seen with the same value. Without a branch for each byte: ranges are as large as arrays.
    #[inline]
    fn change(&mut self, range: Range<usize>, next: impl Fn(Newest, bool) -> Newest) {
        for range in self.split(range, PAGE) {
            let all = &mut self.newest[range.clone()];
            let before = newer(all);
            if self.device_seen.is_empty() {
                all.iter_mut().for_each(|newest| *newest = next(*newest, true));
            } else {
                let seen = self.host_seen[range.clone()].iter().zip(&self.device_seen[range.clone()]);
                for (newest, (host, device)) in all.iter_mut().zip(seen) {
                    *newest = next(*newest, host == device);
                }
            }
            let after = newer(all);
            self.recount(range.start, before, after);
        }
    }

    /// A part of the page that a byte is in has had, and has, so many bytes that the host and the device have newer.
    fn recount(&mut self, at: usize, before: [usize; 2], after: [usize; 2]) {
        self.host_newer = self.host_newer + after[0] - before[0];
        self.device_newer = self.device_newer + after[1] - before[1];
        let in_page = &mut self.device_newer_in[(self.host + at) / PAGE - self.host / PAGE];
        *in_page = (usize::from(*in_page) + after[1] - before[1]) as u16;
    }

    /// The host has this now at an offset: what has changed it has written.
    pub fn see_host(&mut self, offset: usize, now: &[u8], origin: Origin) {
        for (offset, now) in parts(offset, now) {
            if self.host_seen[offset..offset + now.len()] == *now {
                continue;
            }
            for (at, &byte) in (offset..).zip(now) {
                if byte != self.host_seen[at] {
                    self.host_seen[at] = byte;
                    let same =
                        self.present && self.newest[at] != Newest::Unset && byte == self.device_seen[at];
                    self.host_has_newest(at, same, origin);
                }
            }
        }
    }

    fn host_has_newest(&mut self, at: usize, same: bool, origin: Origin) {
        match self.newest[at] {
            Newest::Apart => {}
            _ if same || !self.present => self.set(at, Newest::Both),
            Newest::Host if origin == 0 => {}
            _ => {
                self.set(at, Newest::Host);
                self.origins[at / WORD] = origin;
            }
        }
    }

    /// The host writes a range; its content is not there yet.
    pub(crate) fn host_writes(&mut self, range: Range<usize>, origin: Origin) {
        range.for_each(|at| self.host_has_newest(at, false, origin));
    }

    /// The device has this now at an offset, after a kernel. What has changed the kernel has written. `exact`: all
    /// that it has written is [told](Self::device_wrote), too.
    pub fn see_device(&mut self, offset: usize, now: &[u8], origin: Origin, exact: bool) {
        for range in self.split(offset..offset + now.len(), PART) {
            let now = &now[range.start - offset..range.end - offset];
            let unsure = !exact && self.host_newer != 0;
            let is_same = self.device_seen[range.clone()] == *now;
            if is_same && !unsure {
                continue;
            }
            let seen = &mut self.device_seen[range.clone()];
            for (at, _) in (range.start..).zip(seen.iter().zip(now)).filter(|(_, (seen, now))| seen != now) {
                self.origins[at / WORD] = origin;
            }
            let all = &mut self.newest[range.clone()];
            let before = newer(all);
            let sides = self.host_seen[range.clone()].iter().zip(seen.iter().zip(now));
            for (newest, (host, (seen, now))) in all.iter_mut().zip(sides) {
                *newest = if seen != now {
                    written_by_device(*newest, host == now)
                } else if unsure && *newest == Newest::Host {
                    // It may have been written with the value that was there.
                    Newest::Unsure
                } else {
                    *newest
                };
            }
            seen.copy_from_slice(now);
            let after = newer(all);
            self.recount(range.start, before, after);
        }
    }

    /// The device has this now at an offset. All of it that is not as it was has been, or will be, said to be
    /// [written](Self::device_wrote).
    pub fn device_has(&mut self, offset: usize, now: &[u8]) {
        self.device_seen[offset..offset + now.len()].copy_from_slice(now);
    }

    /// A kernel has written a range, whose content has been [seen](Self::see_device).
    pub fn device_wrote(&mut self, range: Range<usize>, origin: Origin) {
        if !range.is_empty() {
            self.origins[words(&range)].fill(origin);
            self.change(range, written_by_device);
        }
    }

    /// A kernel under way writes a range; its content is not there yet.
    pub(crate) fn device_writes(&mut self, range: Range<usize>, origin: Origin) {
        for at in range {
            if matches!(self.newest[at], Newest::Host | Newest::Unset | Newest::Unsure) {
                self.set(at, Newest::Unsure);
            }
            self.origins[at / WORD] = origin;
        }
    }

    /// The first byte of a range that the host reads and has an old value of. `now` is what it reads: what has
    /// changed since it was last seen, the host has written.
    pub(crate) fn host_reads(&self, range: Range<usize>, now: &[u8]) -> Option<Stale> {
        if self.device_newer == 0 {
            return None;
        }
        let old =
            |at: &usize| self.newest[*at] == Newest::Device && now[*at - range.start] == self.host_seen[*at];
        self.stale(range.clone(), old)
    }

    /// The first byte of a range that a kernel reads and has an old value of. What the host has has been
    /// [seen](Self::see_host).
    #[must_use]
    pub fn device_reads(&self, range: Range<usize>) -> Option<Stale> {
        if self.host_newer == 0 {
            return None;
        }
        // What the host has written again with the value that was there misleads nobody.
        self.stale(range, |at: &usize| {
            self.newest[*at] == Newest::Host && self.host_seen[*at] != self.device_seen[*at]
        })
    }

    fn stale(&self, mut range: Range<usize>, old: impl Fn(&usize) -> bool) -> Option<Stale> {
        let offset = range.by_ref().find(&old)?;
        Some(Stale { offset, bytes: 1 + range.filter(old).count(), origin: self.origins[offset / WORD] })
    }

    /// A range has been copied to the device, which had this on the host.
    pub fn copied_to(&mut self, offset: usize, now: &[u8]) -> CopyTo {
        let range = offset..offset + now.len();
        let in_vain = !now.is_empty()
            && self.device_seen[range.clone()] == *now
            && !self.newest[range.clone()].contains(&Newest::Unset);
        self.become_same(range, now);
        CopyTo { in_vain }
    }

    /// A range is about to be copied back. What the host has now has been [seen](Self::see_host).
    #[must_use]
    pub fn copies_back(&self, range: Range<usize>) -> CopyBack {
        let same = self.host_seen[range.clone()] == self.device_seen[range.clone()];
        let set = !self.newest[range.clone()].contains(&Newest::Unset);
        let lost =
            |at: &usize| self.newest[*at] == Newest::Host && self.host_seen[*at] != self.device_seen[*at];
        let lost = if same || self.host_newer == 0 { None } else { self.stale(range.clone(), lost) };
        CopyBack { in_vain: same && set && !range.is_empty(), lost }
    }

    /// A range has been copied back, and the host has this now.
    pub fn copied_back(&mut self, offset: usize, now: &[u8]) {
        self.become_same(offset..offset + now.len(), now);
    }

    fn become_same(&mut self, range: Range<usize>, now: &[u8]) {
        self.host_seen[range.clone()].copy_from_slice(now);
        self.device_seen[range.clone()].copy_from_slice(now);
        self.set_all(range, Newest::Both);
    }

    /// A copy from another device has given the host this. Who has the newest value of what differs nobody knows.
    pub fn host_is_given(&mut self, offset: usize, now: &[u8]) {
        for (at, &byte) in (offset..).zip(now) {
            if self.newest[at] == Newest::Apart || self.host_seen[at] == byte {
                continue;
            }
            self.host_seen[at] = byte;
            let newest = match self.newest[at] {
                Newest::Unset => Newest::Unset,
                _ if !self.present || byte == self.device_seen[at] => Newest::Both,
                _ => Newest::Unsure,
            };
            self.set(at, newest);
        }
    }

    /// The host's memory of a range is something else from now on.
    pub(crate) fn host_is_lost(&mut self, range: Range<usize>) {
        self.change(range, |newest, _| if newest == Newest::Device { Newest::Unsure } else { newest });
    }

    /// A range of storage is given this, by no kernel.
    pub fn device_is_given(&mut self, offset: usize, now: &[u8]) {
        for (at, &byte) in (offset..).zip(now) {
            self.device_seen[at] = byte;
            let newest = match self.newest[at] {
                Newest::Apart => Newest::Apart,
                _ if byte == self.host_seen[at] => Newest::Both,
                Newest::Unset | Newest::Unsure => Newest::Unsure,
                _ => Newest::Device,
            };
            self.set(at, newest);
        }
    }

    /// The runtime has written something of the device's own to a range of its storage.
    pub fn set_apart(&mut self, range: Range<usize>, now: Option<&[u8]>) {
        if let Some(now) = now {
            self.device_seen[range.clone()].copy_from_slice(now);
        }
        self.set_all(range, Newest::Apart);
    }

    /// It is not mapped any more: what is left is what the host has old values of.
    pub(crate) fn leave(&mut self) {
        self.present = false;
        self.change(0..self.size(), |newest, _| if newest == Newest::Device { newest } else { Newest::Both });
        self.device_seen = Box::default();
    }
}
