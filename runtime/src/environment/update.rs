//! `target update`: moving data of present items (OpenMP 6.0 section 7.9.9).

use super::section::{DIMENSIONS, Damage, Dimension, Section};
use super::work::Work;
use crate::arguments::{Arguments, Components, Item};
use crate::error::{ErrorKind, HostRange, Result};
use crate::events;
use crate::map_type as bit;
use crate::present::Relation;

impl Work {
    /// Moves the data of all arguments.
    ///
    /// # Errors
    /// `present` and not present, or a copy failed.
    pub(crate) fn update(&mut self, arguments: &Arguments<'_>) -> Result<()> {
        for (index, item) in arguments.iter().enumerate() {
            self.check_map_type(&item, index)?;
            if item.map_type & (bit::LITERAL | bit::PRIVATE) != 0 {
                continue;
            }
            match item.mapper {
                Some(mapper) => {
                    for component in &Components::of(&item, mapper) {
                        self.update_item(component)?;
                    }
                }
                None => self.update_item(&item)?,
            }
        }
        Ok(())
    }

    fn update_item(&mut self, item: &Item) -> Result<()> {
        if item.map_type & bit::NON_CONTIGUOUS == 0 {
            return self.update_section(item, item.begin, item.size as usize);
        }
        if item.size == 0 {
            return Ok(());
        }
        // For such items the compiler passes the dimensions in place of the section and
        // their number in place of its size.
        let damaged = |reason| self.fail(ErrorKind::DamagedSection { label: item.label, reason });
        let count = usize::try_from(item.size).ok().filter(|count| DIMENSIONS.contains(count));
        let count = count.ok_or_else(|| damaged(Damage::Count(item.size)))?;
        // SAFETY: so many dimensions a section may have.
        let dimensions = unsafe { std::slice::from_raw_parts(item.begin as *const Dimension, count) };
        let section = Section::new(dimensions).map_err(damaged)?;
        let hull = section.hull();
        if item.base.checked_add(hull.end).is_none() {
            return Err(damaged(Damage::TooLarge));
        }
        let (begin, size) = (item.base + hull.start, hull.len());
        if size == 0 {
            return Ok(());
        }
        match self.recent.lookup(&self.device.table, begin, size) {
            Relation::Contained(_) => {}
            Relation::Absent => return self.nothing_to_update(item, begin, size),
            // Rows that are mapped one by one.
            Relation::Partial(_) => {
                if section.runs() > self.device.table.bytes_in(begin, begin + size) as u64 {
                    return self.nothing_to_update(item, begin, size);
                }
            }
        }
        section.each_run(&mut |offset, size| self.update_section(item, item.base + offset, size))
    }

    fn update_section(&mut self, item: &Item, host: usize, size: usize) -> Result<()> {
        let Relation::Contained(entry) = self.recent.lookup(&self.device.table, host, size) else {
            return self.nothing_to_update(item, host, size);
        };
        if !entry.wait_allocated() {
            return self.nothing_to_update(item, host, size);
        }
        self.wait_until_ready(entry)?;
        if events::observed() {
            self.tell_found(entry, host, size);
        }
        if size == 0 {
            return Ok(());
        }
        if item.map_type & bit::TO != 0 {
            self.copy_in(entry, host, size, item.label)?;
        }
        if item.map_type & bit::FROM != 0 {
            self.copy_out(entry, host, size, item.label)?;
        }
        Ok(())
    }

    /// OpenMP 5.2 section 5.9: no assignment for an item that is not present, an error
    /// with `present`.
    fn nothing_to_update(&self, item: &Item, host: usize, size: usize) -> Result<()> {
        if item.map_type & bit::PRESENT == 0 || self.unified_shared_memory {
            return Ok(());
        }
        let wanted = HostRange { begin: host, size, label: item.label };
        Err(self.fail(ErrorKind::NotPresent { wanted, near: self.device.near(host) }))
    }
}
