//! Every kind of image that the driver may be given, by slice and by pointer.

use std::ffi::c_void;

use gangway_linker::{Code, Image, Input, LoadError, container, link, load, pointer, read, recognise};

const TEXT: &str =
    "// made by hand\n.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

/// What the header of a record says about its content.
#[derive(Clone, Copy, PartialEq)]
enum Packing {
    None,
    Lz4,
    Zstd,
}

struct Record<'a> {
    kind: u16,
    processor: u32,
    content: &'a [u8],
    packing: Packing,
}

fn ptx(processor: u32, content: &str) -> Record<'_> {
    Record { kind: 1, processor, content: content.as_bytes(), packing: Packing::None }
}

/// A fat binary: 16 bytes of header, then 64 bytes of header for each content.
fn fat_binary(records: &[Record]) -> Vec<u8> {
    let mut body = Vec::new();
    for record in records {
        let packed = match record.packing {
            Packing::None => record.content.to_vec(),
            Packing::Lz4 => lz4_flex::block::compress(record.content),
            Packing::Zstd => {
                ruzstd::encoding::compress_to_vec(record.content, ruzstd::encoding::CompressionLevel::Fastest)
            }
        };
        let padded = packed.len().next_multiple_of(8);
        let (packed_size, flags, size) = match record.packing {
            Packing::None => (0, 0x11_u64, 0),
            Packing::Lz4 => (packed.len(), 0x2011, record.content.len()),
            Packing::Zstd => (packed.len(), 0x8011, record.content.len()),
        };
        let mut header = Vec::new();
        header.extend(record.kind.to_le_bytes());
        header.extend(0x0101_u16.to_le_bytes());
        header.extend(64_u32.to_le_bytes());
        header.extend((padded as u64).to_le_bytes());
        header.extend((packed_size as u32).to_le_bytes());
        header.extend(0_u32.to_le_bytes());
        header.extend([5, 0, 8, 0]);
        header.extend(record.processor.to_le_bytes());
        header.extend(0_u64.to_le_bytes());
        header.extend(flags.to_le_bytes());
        header.extend(0_u64.to_le_bytes());
        header.extend((size as u64).to_le_bytes());
        assert_eq!(header.len(), 64);
        body.extend(header);
        body.extend(&packed);
        body.resize(body.len() + padded - packed.len(), 0);
    }
    let mut whole = 0xba55_ed50_u32.to_le_bytes().to_vec();
    whole.extend([1, 0, 16, 0]);
    whole.extend((body.len() as u64).to_le_bytes());
    whole.extend(body);
    whole
}

fn text_of(bytes: &[u8], capability: u16) -> String {
    match recognise(bytes, capability) {
        Ok(Image::Ptx(text)) => String::from_utf8(text.into_owned()).expect("text"),
        other => panic!("not PTX: {other:?}"),
    }
}

fn refusal(bytes: &[u8]) -> (Code, String) {
    let error = recognise(bytes, 90).expect_err("this is no image that can be run");
    (error.code, error.message)
}

#[test]
fn text_ends_at_the_first_zero_byte() {
    assert_eq!(text_of(TEXT.as_bytes(), 90), TEXT);
    assert_eq!(text_of(format!("{TEXT}\0 rubbish").as_bytes(), 90), TEXT);
    assert_eq!(text_of(b"\n /* a\n */ // b\n\t.version 7", 90), "\n /* a\n */ // b\n\t.version 7");
}

#[test]
fn a_fat_binary_gives_the_newest_text_that_fits() {
    let [old, middle, new] = [50, 80, 100].map(|processor| TEXT.replace("sm_80", &format!("sm_{processor}")));
    let cubin = Record { kind: 2, ..ptx(90, "machine code") };
    let bytes = fat_binary(&[ptx(50, &old), cubin, ptx(100, &new), ptx(80, &middle)]);
    assert_eq!(text_of(&bytes, 90), middle);
    assert_eq!(text_of(&bytes, 75), old);
    assert_eq!(text_of(&bytes, 120), new);
    let error = recognise(&bytes, 35).expect_err("nothing for sm_35");
    assert_eq!(error.code, Code::NoBinaryForGpu);
    assert!(error.message.contains("PTX for sm_50, machine code for sm_90"), "{error}");
}

#[test]
fn compressed_texts_are_unpacked() {
    // Long enough to be worth it, and with padding and a zero byte at its end.
    let text = format!("{TEXT}{}\0\0", ".visible .global .align 4 .u32 x[4];\n".repeat(100));
    for packing in [Packing::Lz4, Packing::Zstd] {
        let bytes = fat_binary(&[Record { packing, ..ptx(80, &text) }]);
        assert!(bytes.len() < text.len());
        assert_eq!(text_of(&bytes, 90), text.trim_end_matches('\0'));
        // Damage is found, or gives other text, but never more than anything.
        for at in 80..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let _ = recognise(&damaged, 90);
        }
        for length in 4..bytes.len() {
            assert_eq!(refusal(&bytes[..length]).0, Code::InvalidImage, "{length}");
        }
    }
}

#[test]
fn a_record_cannot_claim_any_size() {
    let mut bytes = fat_binary(&[Record { packing: Packing::Lz4, ..ptx(80, TEXT) }]);
    bytes[16 + 56..16 + 64].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let (code, message) = refusal(&bytes);
    assert_eq!(code, Code::InvalidImage);
    assert!(message.contains("1099511627776 bytes"), "{message}");
}

#[test]
fn what_cannot_be_run_is_named() {
    let mut cubin = vec![0; 64];
    cubin[..4].copy_from_slice(b"\x7fELF");
    cubin[18] = 190;
    let (code, message) = refusal(&cubin);
    assert_eq!(code, Code::NoBinaryForGpu);
    assert!(message.contains("cubin"), "{message}");
    cubin[18] = 62;
    assert_eq!(refusal(&cubin).0, Code::InvalidImage);
    for bytes in [&b"BC\xc0\xde rest"[..], b"; ModuleID = 'x'", b"target triple = \"nvptx64\""] {
        let (code, message) = refusal(bytes);
        assert_eq!(code, Code::NotSupported);
        assert!(message.contains("NVVM IR"), "{message}");
    }
    for bytes in [&b""[..], b"\0", b"hello", b"#version 7.0", b"\xff\xfe\xfd"] {
        assert_eq!(refusal(bytes).0, Code::InvalidImage);
    }
    // Text that is nearly PTX is the parser's to describe.
    let error = load("a", b".version 7.8\n.target sm_80\n.visible .entry k() { rat; }", 90);
    let error = error.expect_err("no instruction is called rat");
    assert!(matches!(&error, LoadError::Ptx(..)) && error.code() == Code::InvalidPtx, "{error}");
    let error = load("a", b".version 99.0\n.target sm_80\n", 90).expect_err("a version of the future");
    assert_eq!(error.code(), Code::UnsupportedPtxVersion);
    let undefined =
        TEXT.replace("{ ret; }", "{ call f; ret; }").replace(".visible", ".extern .func f();\n.visible");
    let error = load("a", undefined.as_bytes(), 90).expect_err("nothing defines f");
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        (Code::InvalidImage, "undefined reference to 'f' in 'a'")
    );
}

#[test]
fn archives_give_their_members() {
    let caller =
        TEXT.replace("{ ret; }", "{ call f; ret; }").replace(".visible", ".extern .func f();\n.visible");
    let callee = TEXT.replace(".entry k", ".func f");
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in
        [("f.o/", callee.as_bytes()), ("cubin.o/", b"\x7fELF something"), ("k.o/", caller.as_bytes())]
    {
        archive
            .extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len()).bytes());
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    let inputs = read("lib.a", &archive, 90).expect("an archive");
    let names: Vec<&str> = inputs.iter().map(|input| &*input.name).collect();
    assert_eq!(names, ["lib.a(f.o)", "lib.a(k.o)"]);
    assert!(inputs.iter().all(Input::is_on_demand));
    let mut inputs = read("a", caller.as_bytes(), 90).expect("a module");
    inputs.extend(read("lib.a", &archive, 90).expect("an archive"));
    assert_eq!(link(inputs).expect("a module").functions.len(), 2);
    assert_eq!(refusal(&archive[..archive.len() / 2]).0, Code::InvalidImage);
}

#[test]
fn a_linked_image_is_loaded_as_it_is() {
    let module = load("a", TEXT.as_bytes(), 90).expect("a module");
    let image = container::pack(module.clone());
    // The first time as it was packed, later from its text.
    for _ in 0..3 {
        assert_eq!(load("image", &image, 90).expect("what was packed"), module);
    }
    let other =
        container::pack(load("b", TEXT.replace("entry k", "entry l").as_bytes(), 90).expect("a module"));
    assert_eq!(load("image", &image, 90).expect("what was packed before"), module);
    assert_ne!(load("image", &other, 90).expect("what was packed"), module);
    for length in 8..image.len() - 1 {
        assert_eq!(refusal(&image[..length]).0, Code::InvalidImage, "{length}");
    }
    for at in 8..image.len() - 1 {
        let mut damaged = image.clone();
        damaged[at] ^= 1;
        // Bytes 12 to 16 mean nothing yet.
        assert_eq!(recognise(&damaged, 90).is_err(), !(12..16).contains(&at), "{at}");
    }
}

fn by_pointer(image: *const c_void) -> Result<Vec<u8>, Code> {
    // SAFETY: every caller passes a whole image, which lives until the test ends.
    unsafe { pointer::bytes(image) }.map(<[u8]>::to_vec).map_err(|error| error.code)
}

#[test]
fn images_come_without_a_length() {
    let text = format!("{TEXT}\0");
    assert_eq!(by_pointer(text.as_ptr().cast()), Ok(TEXT.as_bytes().to_vec()));
    assert_eq!(by_pointer(c"".as_ptr().cast()), Ok(Vec::new()));
    assert_eq!(by_pointer(c"\x7fE".as_ptr().cast()), Ok(b"\x7fE".to_vec()));
    let binary = fat_binary(&[ptx(80, TEXT)]);
    assert_eq!(by_pointer(binary.as_ptr().cast()), Ok(binary.clone()));
    let module = load("a", TEXT.as_bytes(), 90).expect("a module");
    let image = container::pack(module);
    assert_eq!(by_pointer(image.as_ptr().cast()), Ok(image.clone()));
    let mut wrapper = 0x4662_43b1_u32.to_le_bytes().to_vec();
    wrapper.extend(1_u32.to_le_bytes());
    wrapper.extend((binary.as_ptr().expose_provenance() as u64).to_le_bytes());
    wrapper.extend([0; 8]);
    assert_eq!(by_pointer(wrapper.as_ptr().cast()), Ok(binary.clone()));
    wrapper[8..16].copy_from_slice(&(text.as_ptr().expose_provenance() as u64).to_le_bytes());
    assert_eq!(by_pointer(wrapper.as_ptr().cast()), Err(Code::InvalidImage));
    assert_eq!(by_pointer(std::ptr::null()), Err(Code::InvalidImage));
}

#[test]
fn what_is_not_supported_is_told_once_and_counted() {
    let product = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f}, {%f}, {%f}, {%f};\n";
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n.reg .f32 %f; .reg .b32 %r;\n\
         {product}{product}tex.1d.v4.f32.f32 {{%f}}, [t, {{%f}}];\nwgmma.fence.sync.aligned;\n\
         {product}suld.b.1d.b32.trap %r, [t];\nsust.b.1d.b32.trap [t], %r;\nret;\n}}\n"
    );
    let told = load("image", text.as_bytes(), 80).expect_err("nothing of it is supported").to_string();
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("supported")).collect();
    assert_eq!(
        lines,
        [
            "image: CUDA_ERROR_NOT_SUPPORTED: 'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32': these tensor core \
         instructions are not supported",
            "CUDA_ERROR_NOT_SUPPORTED: 'tex.1d.v4.f32.f32': textures are not supported",
            "CUDA_ERROR_NOT_SUPPORTED: 'suld.b.1d.b32.trap': surfaces are not supported",
            "these tensor core instructions are not supported: 3 times more in this module",
            "surfaces are not supported: once more in this module",
        ]
    );
    assert_eq!(told.matches("-->").count(), 3, "{told}");
    // What is wrong otherwise is told each time.
    let wrong = format!("{TEXT}.visible .entry l() {{ nothing; nothing; ret; }}\n");
    let told = load("image", wrong.as_bytes(), 80).expect_err("there is no such instruction").to_string();
    assert_eq!(told.matches("no instruction is called 'nothing'").count(), 2, "{told}");
}
