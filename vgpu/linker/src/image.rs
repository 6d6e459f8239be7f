//! Recognises images: what a program may hand to the driver as code.
//!
//! PTX is taken from text, fat binaries and archives, as is our own linked image.
//! Machine code and NVVM IR are refused by name: there is no processor here that could
//! run the one, and no compiler for the other.

use std::borrow::Cow;

use gangway_image::fatbin::{self, Compression, Record, RecordKind};
use object::read::archive::ArchiveFile;

use crate::container;
use crate::error::{Code, ImageError};

/// The largest content that a compressed record may claim to have.
const LARGEST_TEXT: u64 = 256 << 20;

/// What is to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image<'a> {
    /// PTX text.
    Ptx(Cow<'a, [u8]>),
    /// The text of a linked image, which fits together already.
    Linked(&'a str),
    /// The members of an archive that hold PTX.
    Archive(Vec<Member<'a>>),
}

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    pub name: Box<str>,
    pub text: Cow<'a, [u8]>,
}

/// Says what an image is, and takes out what suits a device: `capability` is 90 for 9.0.
pub fn recognise(bytes: &[u8], capability: u16) -> Result<Image<'_>, ImageError> {
    match bytes {
        [] => Err(ImageError::invalid("the image is empty")),
        _ if container::is_linked(bytes) => container::unpack(bytes).map(Image::Linked),
        [0x7f, b'E', b'L', b'F', ..] => Err(machine_code(bytes)),
        [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => Err(intermediate()),
        _ if bytes.starts_with(b"!<arch>\n") => archive(bytes, capability).map(Image::Archive),
        _ if fatbin::is_fatbin(bytes) => from_fatbin(bytes, capability).map(Image::Ptx),
        _ => text(bytes).map(|text| Image::Ptx(Cow::Borrowed(text))),
    }
}

fn machine_code(bytes: &[u8]) -> ImageError {
    /// `EM_CUDA`
    const CUDA: [u8; 2] = [190, 0];
    if bytes.get(18..20) == Some(&CUDA) {
        let message = "this is machine code of a real GPU (a cubin); \
                       the virtual GPU needs PTX, which `-gencode arch=compute_XX,code=compute_XX` keeps";
        ImageError::new(Code::NoBinaryForGpu, message)
    } else {
        ImageError::invalid("this is an ELF file, but not one for a GPU of NVIDIA")
    }
}

fn intermediate() -> ImageError {
    let message = "NVVM IR and LTO objects are not supported: the virtual GPU has no compiler for them, \
                   only for PTX";
    ImageError::new(Code::NotSupported, message)
}

/// Text ends at the first zero byte. It has to begin like PTX: anything else is no
/// image, while text with mistakes is for the parser to describe.
fn text(bytes: &[u8]) -> Result<&[u8], ImageError> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let text = &bytes[..end];
    let mut rest = text.trim_ascii_start();
    loop {
        rest = if let Some(comment) = rest.strip_prefix(b"//") {
            let end = comment.iter().position(|&byte| byte == b'\n').unwrap_or(comment.len());
            &comment[end..]
        } else if let Some(comment) = rest.strip_prefix(b"/*") {
            let end = comment.windows(2).position(|pair| pair == b"*/").map_or(comment.len(), |at| at + 2);
            &comment[end..]
        } else {
            break;
        }
        .trim_ascii_start();
    }
    if rest.starts_with(b".version") {
        return Ok(text);
    }
    if rest.starts_with(b"; ModuleID") || rest.starts_with(b"target ") || rest.starts_with(b"source_filename")
    {
        return Err(intermediate());
    }
    let shown: String = String::from_utf8_lossy(&bytes[..bytes.len().min(16)]).escape_debug().collect();
    Err(ImageError::invalid(format!(
        "this is neither PTX, which begins with .version, nor a fat binary: it begins with '{shown}'"
    )))
}

/// The PTX for the newest processor that the device can stand in for.
fn from_fatbin(bytes: &[u8], capability: u16) -> Result<Cow<'_, [u8]>, ImageError> {
    let records = fatbin::records(bytes)?;
    let best = records
        .iter()
        .filter(|record| record.kind == RecordKind::Ptx && record.processor <= u32::from(capability))
        .max_by_key(|record| record.processor);
    match best {
        Some(record) => unpack(record),
        None => Err(nothing_fits(&records, capability)),
    }
}

fn nothing_fits(records: &[Record], capability: u16) -> ImageError {
    let mut found: Vec<String> = records
        .iter()
        .map(|record| match record.kind {
            RecordKind::Ptx => format!("PTX for sm_{}", record.processor),
            RecordKind::Cubin => format!("machine code for sm_{}", record.processor),
            RecordKind::Other(kind) => format!("a record of kind {kind} for sm_{}", record.processor),
        })
        .collect();
    found.dedup();
    let more = found.len().saturating_sub(8);
    found.truncate(8);
    let mut listed = if found.is_empty() { "nothing".to_owned() } else { found.join(", ") };
    if more > 0 {
        listed += &format!(" and {more} more");
    }
    let message =
        format!("the fat binary has no PTX for sm_{capability} or older processors; it holds {listed}");
    ImageError::new(Code::NoBinaryForGpu, message)
}

fn unpack<'a>(record: &Record<'a>) -> Result<Cow<'a, [u8]>, ImageError> {
    let unpacked = match record.compression {
        None => return text(record.payload).map(Cow::Borrowed),
        Some(Compression::Lz4 { unpacked } | Compression::Zstd { unpacked }) => unpacked,
    };
    if unpacked > LARGEST_TEXT {
        return Err(ImageError::invalid(format!("a compressed PTX text claims to have {unpacked} bytes")));
    }
    let failed = |error: &dyn std::fmt::Display| {
        ImageError::invalid(format!("a compressed PTX text cannot be unpacked: {error}"))
    };
    let mut content = match record.compression {
        Some(Compression::Lz4 { .. }) => {
            // A block of this format grows at most 255-fold.
            let most = record.payload.len().saturating_mul(255).saturating_add(64);
            lz4_flex::block::decompress(record.payload, (unpacked as usize).min(most))
                .map_err(|error| failed(&error))?
        }
        _ => unpack_zstd(record.payload, unpacked).map_err(|error| failed(&error))?,
    };
    let length = text(&content)?.len();
    content.truncate(length);
    Ok(Cow::Owned(content))
}

/// At most as many bytes as the record claims: a small frame can name a huge content.
fn unpack_zstd(packed: &[u8], unpacked: u64) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    decoder.take(unpacked).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(content)
}

/// What of an archive is PTX. Members without are left out, as the device runtime's
/// library has many: what only they define shows as undefined.
fn archive(bytes: &[u8], capability: u16) -> Result<Vec<Member<'_>>, ImageError> {
    let damaged = |error: object::Error| ImageError::invalid(format!("the archive is damaged: {error}"));
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        let data = member.data(bytes).map_err(damaged)?;
        // An archive within an archive is no thing that tools make.
        if data.starts_with(b"!<arch>\n") {
            continue;
        }
        let name = String::from_utf8_lossy(member.name()).into_owned().into();
        match recognise(data, capability) {
            Ok(Image::Ptx(text)) => members.push(Member { name, text }),
            Ok(Image::Linked(text)) => members.push(Member { name, text: Cow::Borrowed(text.as_bytes()) }),
            Ok(Image::Archive(_)) | Err(_) => {}
        }
    }
    Ok(members)
}
