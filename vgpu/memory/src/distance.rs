//! How far an address is from a piece of memory, in words.

/// So many bytes.
pub(crate) fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

/// Where an address is as seen from a piece of memory: text to go before that memory's description.
#[must_use]
pub fn distance(address: u64, start: u64, size: u64) -> String {
    let end = start + size;
    if address < start {
        format!("{} before ", bytes(start - address))
    } else if address == end && size > 0 {
        "just after the end of ".to_owned()
    } else if address >= end {
        format!("{} after the end of ", bytes(address - end))
    } else if address == start {
        String::new()
    } else {
        format!("{} into ", bytes(address - start))
    }
}
