//! The device data environment of OpenMP, written down as simply as possible:
//! a list of ranges, no address arithmetic on devices, no streams, no threads.
//!
//! OpenMP 6.0 section 7.9.6 (map clause), 7.9.9 (motion clauses), 15.8 (target),
//! and for the list's form clang's argument arrays. The model answers what the
//! host's and the device's memory, the reference counts and the outcome have to be.

use super::construct::{Access, FROM_THE_FUTURE, ListItem};
use super::memory::new_memory;
use gangway_runtime::MapKind;

/// Why a construct is in error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    PartlyPresent,
    NotPresent,
    UnknownKind,
}

/// A range with storage on the device.
#[derive(Debug, Clone)]
pub struct Range {
    id: usize,
    pub begin: usize,
    pub end: usize,
    base: usize,
    pub dynamic: u32,
    pub hold: u32,
    /// Contents of the storage.
    pub data: Vec<u8>,
    /// Host addresses of the attached pointers in it.
    pub pointers: Vec<usize>,
}

/// The host's memory and the device data environment.
#[derive(Debug, Clone)]
pub struct Model {
    /// Address of the host's memory.
    pub host_begin: usize,
    pub host: Vec<u8>,
    pub ranges: Vec<Range>,
    next_id: usize,
}

/// List items with those that have a mapper expanded.
fn expanded(items: &[ListItem]) -> Vec<ListItem> {
    items.iter().flat_map(|item| item.components()).collect()
}

const POINTER: usize = size_of::<usize>();

impl Range {
    fn total(&self) -> u32 {
        self.dynamic + self.hold
    }

    /// Gives up a reference.
    fn release(&mut self, kind: MapKind) {
        if kind.has(MapKind::HOLD) {
            self.hold = self.hold.saturating_sub(1);
        } else if kind.has(MapKind::DELETE) {
            self.dynamic = 0;
        } else {
            self.dynamic = self.dynamic.saturating_sub(1);
        }
    }

    /// The part of a section that is in the range and no attached pointer, byte by byte.
    fn plain_bytes(&self, begin: usize, size: usize) -> impl Iterator<Item = usize> {
        (begin..begin + size).filter(|&byte| {
            let pointer = self.pointers.iter().any(|&pointer| (pointer..pointer + POINTER).contains(&byte));
            (self.begin..self.end).contains(&byte) && !pointer
        })
    }
}

impl Model {
    pub fn new(host: &[u8]) -> Self {
        Self { host_begin: host.as_ptr().addr(), host: host.to_vec(), ranges: Vec::new(), next_id: 0 }
    }

    /// Index of the range a section is in; `Err`: it is only partly in one.
    fn find(&self, begin: usize, size: usize) -> Result<Option<usize>, usize> {
        for (index, range) in self.ranges.iter().enumerate() {
            if size == 0 && (range.begin..range.end).contains(&begin) {
                return Ok(Some(index));
            }
            if size != 0 && begin < range.end && begin + size > range.begin {
                let inside = begin >= range.begin && begin + size <= range.end;
                // The first in address order that it touches.
                let first = self
                    .ranges
                    .iter()
                    .enumerate()
                    .filter(|(_, other)| begin < other.end && begin + size > other.begin);
                let first = first.min_by_key(|(_, other)| other.begin).unwrap().0;
                return if inside { Ok(Some(index)) } else { Err(first) };
            }
        }
        if size == 0 {
            // It may be in front of the mapped section of the same array.
            let next = (0..self.ranges.len()).filter(|&i| self.ranges[i].begin > begin);
            let next = next.min_by_key(|&i| self.ranges[i].begin);
            return Ok(next.filter(|&i| self.ranges[i].base <= begin));
        }
        Ok(None)
    }

    fn word(&self, address: usize) -> usize {
        let offset = address - self.host_begin;
        usize::from_ne_bytes(self.host[offset..offset + POINTER].try_into().unwrap())
    }

    fn copy_in(&mut self, index: usize, begin: usize, size: usize) {
        let range = &mut self.ranges[index];
        for byte in range.plain_bytes(begin, size).collect::<Vec<_>>() {
            range.data[byte - range.begin] = self.host[byte - self.host_begin];
        }
    }

    fn copy_out(&mut self, index: usize, begin: usize, size: usize) {
        let range = &self.ranges[index];
        for byte in range.plain_bytes(begin, size) {
            self.host[byte - self.host_begin] = range.data[byte - range.begin];
        }
    }

    fn create(&mut self, begin: usize, size: usize, base: usize, kind: MapKind) -> usize {
        let held = u32::from(kind.has(MapKind::HOLD));
        self.next_id += 1;
        self.ranges.push(Range {
            id: self.next_id,
            begin,
            end: begin + size,
            base,
            dynamic: 1 - held,
            hold: held,
            data: new_memory(size),
            pointers: Vec::new(),
        });
        self.ranges.len() - 1
    }

    /// `target enter data`, the beginning of `target data`. Answers per item the
    /// identity of its range.
    pub fn enter(&mut self, items: &[ListItem]) -> Result<Vec<Option<usize>>, Failure> {
        let items = &expanded(items);
        let before = self.ranges.clone();
        let entered = self.enter_items(items);
        if entered.is_err() {
            // Nothing stays mapped, no count changes. What has been assigned
            // to storage that was there before stays assigned.
            self.ranges.retain_mut(|range| {
                let Some(old) = before.iter().find(|old| old.id == range.id) else { return false };
                (range.dynamic, range.hold) = (old.dynamic, old.hold);
                true
            });
        }
        entered
    }

    fn enter_items(&mut self, items: &[ListItem]) -> Result<Vec<Option<usize>>, Failure> {
        let first_new = self.next_id + 1;
        let mut found = Vec::new();
        for item in items {
            if item.kind.has(FROM_THE_FUTURE) {
                return Err(Failure::UnknownKind);
            }
            let entered =
                if item.kind.has(MapKind::ATTACH) { None } else { self.enter_item(item, first_new)? };
            found.push(entered.map(|index| self.ranges[index].id));
        }
        for item in items.iter().filter(|item| item.kind.has(MapKind::ATTACH)) {
            let (Ok(Some(pointer)), Ok(Some(pointee))) =
                (self.find(item.base, POINTER), self.find(item.begin, 0))
            else {
                continue;
            };
            let new = |index: usize| self.ranges[index].id >= first_new;
            // A zero-length pointee in front of a section is not part of what is new.
            let pointee_new = new(pointee) && self.ranges[pointee].begin <= item.begin;
            if item.kind.has(MapKind::ALWAYS) || new(pointer) || pointee_new {
                self.attach(pointer, item.base);
            }
        }
        Ok(found)
    }

    fn attach(&mut self, index: usize, pointer: usize) {
        if !self.ranges[index].pointers.contains(&pointer) {
            self.ranges[index].pointers.push(pointer);
        }
    }

    fn enter_item(&mut self, item: &ListItem, first_new: usize) -> Result<Option<usize>, Failure> {
        let has = |bits| item.kind.has(bits);
        let pointer = has(MapKind::POINTER_AND_POINTEE);
        let base = if pointer { self.word(item.base) } else { item.base };
        let counted = pointer || item.kind.parent().is_none();
        let index = match self.find(item.begin, item.size) {
            Err(index) if has(MapKind::IMPLICIT) => Some(index),
            Err(_) => return Err(Failure::PartlyPresent),
            Ok(found) => found,
        };
        let index = match index {
            Some(index) => {
                if counted && has(MapKind::HOLD) {
                    self.ranges[index].hold += 1;
                } else if counted {
                    self.ranges[index].dynamic += 1;
                }
                if has(MapKind::TO) && (has(MapKind::ALWAYS) || self.ranges[index].id >= first_new) {
                    self.copy_in(index, item.begin, item.size);
                }
                index
            }
            None if has(MapKind::PRESENT) => return Err(Failure::NotPresent),
            None if item.size == 0 => return Ok(None),
            None => {
                let index = self.create(item.begin, item.size, base, item.kind);
                if has(MapKind::TO) {
                    self.copy_in(index, item.begin, item.size);
                }
                index
            }
        };
        if pointer && let Ok(Some(holder)) = self.find(item.base, POINTER) {
            self.attach(holder, item.base);
        }
        Ok(Some(index))
    }

    /// `target exit data`, the end of `target data`; of a target region if
    /// `entered` says what its beginning found.
    pub fn exit(&mut self, items: &[ListItem], entered: Option<&[Option<usize>]>) -> Result<(), Failure> {
        let items = &expanded(items);
        let mut result = Ok(());
        // To be copied back when all items have been seen, whichever of them takes the
        // last reference.
        let mut wanted = Vec::new();
        for (number, item) in items.iter().enumerate().rev() {
            let has = |bits| item.kind.has(bits);
            if has(FROM_THE_FUTURE) {
                result = result.and(Err(Failure::UnknownKind));
                continue;
            }
            if has(MapKind::ATTACH) {
                continue;
            }
            let found = match entered {
                Some(entered) => self.ranges.iter().position(|range| Some(range.id) == entered[number]),
                None => match self.find(item.begin, item.size) {
                    Ok(found) => found,
                    Err(index) => has(MapKind::IMPLICIT).then_some(index),
                },
            };
            let Some(index) = found else {
                if entered.is_none() && has(MapKind::PRESENT) {
                    result = result.and(Err(Failure::NotPresent));
                }
                continue;
            };
            let counted = has(MapKind::POINTER_AND_POINTEE) || item.kind.parent().is_none();
            if counted {
                self.ranges[index].release(item.kind);
            }
            if has(MapKind::FROM) {
                wanted.push((index, item));
            }
        }
        for (index, item) in wanted {
            if self.ranges[index].total() == 0 || item.kind.has(MapKind::ALWAYS) {
                self.copy_out(index, item.begin, item.size);
            }
        }
        self.ranges.retain(|range| range.total() > 0);
        result
    }

    /// `target update`.
    pub fn update(&mut self, items: &[ListItem]) -> Result<(), Failure> {
        for item in &expanded(items) {
            if item.kind.has(FROM_THE_FUTURE) {
                return Err(Failure::UnknownKind);
            }
            match self.find(item.begin, item.size) {
                Ok(Some(index)) => {
                    if item.kind.has(MapKind::TO) {
                        self.copy_in(index, item.begin, item.size);
                    }
                    if item.kind.has(MapKind::FROM) {
                        self.copy_out(index, item.begin, item.size);
                    }
                }
                Ok(None) | Err(_) if item.kind.has(MapKind::PRESENT) => return Err(Failure::NotPresent),
                Ok(None) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// `target` with a kernel that adds one to each byte of its parameters.
    pub fn launch(&mut self, items: &[ListItem]) -> Result<(), Failure> {
        let entered = self.enter(items)?;
        for (item, id) in expanded(items).iter().zip(&entered) {
            if item.access == Access::Increment
                && let Some(range) = self.ranges.iter_mut().find(|range| Some(range.id) == *id)
            {
                for byte in item.begin..item.begin + item.size {
                    let byte = &mut range.data[byte - range.begin];
                    *byte = byte.wrapping_add(1);
                }
            }
        }
        self.exit(items, Some(&entered))
    }

    /// As `World::mapped`.
    pub fn mapped(&self) -> Vec<(usize, usize, u32, u32)> {
        let mut mapped: Vec<_> = self.ranges.iter().map(|r| (r.begin, r.end, r.dynamic, r.hold)).collect();
        mapped.sort_unstable();
        mapped
    }
}
