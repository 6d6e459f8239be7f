//! Linking: several images become one.

use std::sync::Arc;

use super::entry::{Call, entry};
use super::{image, jit};
use crate::abi::{CUlinkState, In, Out, Result, Status, Text, Untyped};
use crate::objects::program::jit::JitOptions;
use crate::objects::program::link::Link;

fn create(call: &Call, options: JitOptions, out: Out<CUlinkState>) -> Result {
    out.check()?;
    let link = Arc::new(Link::new(&*call.context()?, options));
    out.set(CUlinkState::insert(link)?)
}

fn add_data(link: CUlinkState, kind: u32, data: Untyped, size: usize, name: Text) -> Result {
    let link = link.get()?;
    if data.is_null() || size == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let name = if name.is_null() { "<unnamed>".into() } else { String::from_utf8_lossy(name.bytes()?) };
    link.add(kind, data.bytes(size)?, &name)
}

fn add_file(link: CUlinkState, kind: u32, path: Text) -> Result {
    link.get()?.add_file(kind, image::path(&path)?)
}

#[entry]
fn cuLinkCreate(
    call: &Call,
    count: u32,
    options: In<u32>,
    values: In<Untyped>,
    out: Out<CUlinkState>,
) -> Result {
    create(call, jit::options(count, options, values)?, out)
}

#[entry]
fn cuLinkCreate_v2(
    call: &Call,
    count: u32,
    options: In<u32>,
    values: In<Untyped>,
    out: Out<CUlinkState>,
) -> Result {
    create(call, jit::options(count, options, values)?, out)
}

#[entry]
fn cuLinkAddData(
    _: &Call,
    link: CUlinkState,
    kind: u32,
    data: Untyped,
    size: usize,
    name: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<Untyped>,
) -> Result {
    add_data(link, kind, data, size, name)
}

#[entry]
fn cuLinkAddData_v2(
    _: &Call,
    link: CUlinkState,
    kind: u32,
    data: Untyped,
    size: usize,
    name: Text,
    _count: u32,
    _options: In<u32>,
    _values: In<Untyped>,
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
    _values: In<Untyped>,
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
    _values: In<Untyped>,
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
