//! Linking: several images become one.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use crate::abi::pointer::{In, Memory, Out, Text};
use crate::abi::status::{Result, Status};
use crate::abi::types::CUlinkState;
use crate::api::entry::{Call, entry};
use crate::objects::program::jit::Options;
use crate::objects::program::link::Link;
use crate::objects::table::Object;

fn create(call: &Call, options: Options, out: Out<CUlinkState>) -> Result {
    out.check()?;
    out.set(Link::table().insert(Arc::new(Link::new(&*call.context()?, options)))?)
}

fn add_data(link: CUlinkState, kind: u32, data: Memory, size: usize, name: Text) -> Result {
    let link = link.get()?;
    if data.is_null() || size == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let name = if name.is_null() { "<unnamed>".into() } else { String::from_utf8_lossy(name.bytes()?) };
    link.add(kind, data.bytes(size)?, &name)
}

fn add_file(link: CUlinkState, kind: u32, path: Text) -> Result {
    link.get()?.add_file(kind, Path::new(std::ffi::OsStr::from_bytes(path.bytes()?)))
}

#[entry]
fn cuLinkCreate(
    call: &Call,
    count: u32,
    options: In<u32>,
    values: In<usize>,
    out: Out<CUlinkState>,
) -> Result {
    create(call, Options::read(count, options, values)?, out)
}

#[entry]
fn cuLinkCreate_v2(
    call: &Call,
    count: u32,
    options: In<u32>,
    values: In<usize>,
    out: Out<CUlinkState>,
) -> Result {
    create(call, Options::read(count, options, values)?, out)
}

#[entry]
fn cuLinkAddData(
    _: &Call,
    link: CUlinkState,
    kind: u32,
    data: Memory,
    size: usize,
    name: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<usize>,
) -> Result {
    add_data(link, kind, data, size, name)
}

#[entry]
fn cuLinkAddData_v2(
    _: &Call,
    link: CUlinkState,
    kind: u32,
    data: Memory,
    size: usize,
    name: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<usize>,
) -> Result {
    add_data(link, kind, data, size, name)
}

#[entry]
fn cuLinkAddFile(
    _: &Call,
    link: CUlinkState,
    kind: u32,
    path: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<usize>,
) -> Result {
    add_file(link, kind, path)
}

#[entry]
fn cuLinkAddFile_v2(
    _: &Call,
    link: CUlinkState,
    kind: u32,
    path: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<usize>,
) -> Result {
    add_file(link, kind, path)
}

#[entry]
fn cuLinkComplete(_: &Call, link: CUlinkState, image: Out<*mut u8>, size: Out<usize>) -> Result {
    image.check()?;
    let (address, length) = link.get()?.complete()?;
    image.set(address)?;
    size.set_if_wanted(length);
    Ok(())
}

#[entry]
fn cuLinkDestroy(_: &Call, link: CUlinkState) -> Result {
    link.remove().map(drop)
}
