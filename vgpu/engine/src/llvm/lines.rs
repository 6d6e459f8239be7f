//! Reads the table of lines that LLVM makes (DWARF 4, section 6.2). A line is an operation's number, and one
//! more: code that belongs to no operation has line 0.

use std::slice::Iter;

/// Standard opcodes, and those that are extended.
const EXTENDED: u8 = 0;
const COPY: u8 = 1;
const ADVANCE_ADDRESS: u8 = 2;
const ADVANCE_LINE: u8 = 3;
const CONSTANT_ADDRESS: u8 = 8;
const FIXED_ADDRESS: u8 = 9;
const END_SEQUENCE: u64 = 1;
const SET_ADDRESS: u64 = 2;

struct Reader<'a>(Iter<'a, u8>);

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, String> {
        self.0.next().copied().ok_or_else(|| "a table of lines that is cut".to_owned())
    }

    fn number(&mut self, bytes: u32) -> Result<u64, String> {
        (0..bytes).try_fold(0, |number, index| Ok(number | u64::from(self.byte()?) << (8 * index)))
    }

    /// LEB128, and how many bits it has.
    fn variable(&mut self) -> Result<(u64, u32), String> {
        let (mut number, mut bits) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(bits).unwrap_or(0);
            bits += 7;
            if byte & 0x80 == 0 {
                return Ok((number, bits));
            }
        }
    }

    fn unsigned(&mut self) -> Result<u64, String> {
        Ok(self.variable()?.0)
    }

    fn signed(&mut self) -> Result<i64, String> {
        let (number, bits) = self.variable()?;
        let unused = 64u32.saturating_sub(bits);
        Ok((number << unused) as i64 >> unused)
    }

    fn skip(&mut self, bytes: usize) -> Result<(), String> {
        (0..bytes).try_for_each(|_| self.byte().map(drop))
    }
}

/// Where the code of an operation begins, and the operation's number, in order. Code of none belongs to
/// the operation before.
pub(super) fn positions(table: &[u8]) -> Result<Vec<(u32, u32)>, String> {
    let mut reader = Reader(table.iter());
    let _length = reader.number(4)?;
    let version = reader.number(2)?;
    if version != 4 {
        return Err(format!("a table of lines of version {version}"));
    }
    let rest = reader.number(4)? as usize;
    let program =
        10usize.checked_add(rest).and_then(|start| table.get(start..)).ok_or("a header that is cut")?;
    let [least, _most, _statement, base, range, first] = {
        let mut bytes = [0; 6];
        for byte in &mut bytes {
            *byte = reader.byte()?;
        }
        bytes
    };
    let (least, base, range) = (u64::from(least), i64::from(base as i8), i64::from(range.max(1)));
    let counts = (1..first).map(|_| reader.byte()).collect::<Result<Vec<u8>, String>>()?;
    let mut reader = Reader(program.iter());
    let (mut address, mut line, mut positions) = (0u64, 1i64, Vec::<(u32, u32)>::new());
    let mut row = |address: u64, line: i64| {
        let Ok(operation) = u32::try_from(line.wrapping_sub(1)) else { return };
        // The last one that is said of a place is the one that counts.
        if positions.last().is_some_and(|&(last, _)| u64::from(last) == address) {
            positions.pop();
        }
        positions.push((address as u32, operation));
    };
    while !reader.0.as_slice().is_empty() {
        match reader.byte()? {
            EXTENDED => {
                let length = reader.unsigned()? as usize;
                match reader.unsigned()? {
                    END_SEQUENCE => (address, line) = (0, 1),
                    SET_ADDRESS => address = reader.number(8)?,
                    _ => reader.skip(length.saturating_sub(1))?,
                }
            }
            COPY => row(address, line),
            ADVANCE_ADDRESS => {
                address = address.wrapping_add(least.wrapping_mul(reader.unsigned()?));
            }
            ADVANCE_LINE => line = line.wrapping_add(reader.signed()?),
            CONSTANT_ADDRESS => {
                address = address.wrapping_add(least * ((255 - i64::from(first)) / range) as u64);
            }
            FIXED_ADDRESS => address = address.wrapping_add(reader.number(2)?),
            other if other < first => {
                for _ in 0..counts[other as usize - 1] {
                    reader.unsigned()?;
                }
            }
            special => {
                let adjusted = i64::from(special - first);
                address = address.wrapping_add(least * (adjusted / range) as u64);
                line = line.wrapping_add(base + adjusted % range);
                row(address, line);
            }
        }
    }
    positions.sort_by_key(|&(start, _)| start);
    Ok(positions)
}
