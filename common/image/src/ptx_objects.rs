//! Several PTX texts that are to be linked, in one piece: the device code of a program of
//! GCC, as the front end gives it to the runtime.
//!
//! GCC leaves a table of pointers in the program, with a text for each object of its device
//! libraries. A device image is one range of bytes here, so the front end puts the texts
//! behind a header with their places. The format is Gangway's own and never in a file.

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::ptx;

const MAGIC: [u8; 8] = *b"\x93GW-PTX\n";
/// The magic and the number of texts.
const HEADER: u64 = 16;
/// Offset and size of a text.
const PLACE: u64 = 16;

/// Whether `bytes` start like such an image.
pub fn is_ptx_objects(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// One image of several texts. A driver wants a zero byte behind each, so each gets one
/// unless it has one.
pub fn joined(texts: &[&[u8]]) -> Vec<u8> {
    let places = HEADER as usize + texts.len() * PLACE as usize;
    let mut image = Vec::with_capacity(places + texts.iter().map(|text| text.len() + 1).sum::<usize>());
    image.extend(MAGIC);
    image.extend((texts.len() as u64).to_le_bytes());
    let mut offset = places as u64;
    for text in texts {
        let size = text.len() as u64 + u64::from(!text.ends_with(b"\0"));
        image.extend(offset.to_le_bytes());
        image.extend(size.to_le_bytes());
        offset += size;
    }
    for text in texts {
        image.extend_from_slice(text);
        if !text.ends_with(b"\0") {
            image.push(0);
        }
    }
    image
}

/// How many texts an image has, all of which are inside of it.
pub fn count(image: &[u8]) -> Result<u64> {
    let bytes = Bytes(image);
    let count = bytes.u64("the number of PTX texts", 8)?;
    let places = bytes.slice("the places of PTX texts", HEADER, count.saturating_mul(PLACE))?;
    for place in (0..places.len() as u64).step_by(PLACE as usize) {
        text_at(bytes, HEADER + place)?;
    }
    Ok(count)
}

/// The texts of an image, each with the zero byte behind it.
pub fn texts(image: &[u8]) -> Result<Vec<&[u8]>> {
    let count = count(image)?;
    (0..count).map(|number| text_at(Bytes(image), HEADER + number * PLACE)).collect()
}

fn text_at(bytes: Bytes<'_>, place: u64) -> Result<&[u8]> {
    let offset = bytes.u64("the place of a PTX text", place)?;
    let size = bytes.u64("the size of a PTX text", place + 8)?;
    let text = bytes.slice("a PTX text", offset, size)?;
    if text.ends_with(b"\0") {
        return Ok(text);
    }
    Err(Error::malformed("a PTX text", offset, "a text with a zero byte behind it", "none"))
}

/// The headers of an image's texts.
pub fn headers(image: &[u8]) -> Result<Vec<ptx::Header<'_>>> {
    let header = |text| {
        ptx::Header::parse(text)?
            .ok_or_else(|| Error::malformed("a PTX text", 0, "PTX, which begins with .version", "another"))
    };
    texts(image)?.into_iter().map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[u8] = b".version 6.0\n.target sm_30\n\0";
    const SECOND: &[u8] = b".version 6.3\n.target sm_53\n";

    #[test]
    fn texts_come_out_as_they_went_in() {
        let image = joined(&[FIRST, SECOND]);
        assert!(is_ptx_objects(&image));
        assert_eq!(count(&image), Ok(2));
        assert_eq!(texts(&image).unwrap(), [FIRST, &[SECOND, b"\0"].concat()]);
        let targets: Vec<_> = headers(&image).unwrap().iter().map(|header| header.target).collect();
        assert_eq!(targets, ["sm_30", "sm_53"]);
        assert_eq!(texts(&joined(&[])).unwrap(), [b""; 0]);
    }

    #[test]
    fn damage_is_named() {
        let image = joined(&[FIRST, SECOND]);
        for length in 8..image.len() {
            assert!(matches!(texts(&image[..length]), Err(Error::Truncated { .. })), "{length}");
        }
        let mut without_end = image.clone();
        *without_end.last_mut().unwrap() = b'x';
        assert!(matches!(count(&without_end), Err(Error::Malformed { .. })));
        let mut many = image.clone();
        many[8..16].fill(0xff);
        assert!(matches!(count(&many), Err(Error::Truncated { .. })));
        assert!(matches!(headers(&joined(&[b"no PTX"])), Err(Error::Malformed { .. })));
    }
}
