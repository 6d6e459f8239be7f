//! Linking: several images become one.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use crate::entry::Call;
use crate::entry::entries;
use crate::error::{Result, Status};
use crate::handle::Object;
use crate::jit::Options;
use crate::link::Link;
use crate::pointer::{In, Memory, Out, Text};
use crate::types::CUlinkState;

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

entries! {
    fn cuLinkCreate(call, count: u32, options: In<u32>, values: In<usize>, out: Out<CUlinkState>) {
        create(call, Options::read(count, options, values)?, out)
    }

    fn cuLinkCreate_v2(call, count: u32, options: In<u32>, values: In<usize>, out: Out<CUlinkState>) {
        create(call, Options::read(count, options, values)?, out)
    }

    fn cuLinkAddData(
        _, link: CUlinkState, kind: u32, data: Memory, size: usize, name: Text,
        _count: u32, _options: In<u32>, _values: In<usize>,
    ) {
        add_data(link, kind, data, size, name)
    }

    fn cuLinkAddData_v2(
        _, link: CUlinkState, kind: u32, data: Memory, size: usize, name: Text,
        _count: u32, _options: In<u32>, _values: In<usize>,
    ) {
        add_data(link, kind, data, size, name)
    }

    fn cuLinkAddFile(
        _, link: CUlinkState, kind: u32, path: Text,
        _count: u32, _options: In<u32>, _values: In<usize>,
    ) {
        add_file(link, kind, path)
    }

    fn cuLinkAddFile_v2(
        _, link: CUlinkState, kind: u32, path: Text,
        _count: u32, _options: In<u32>, _values: In<usize>,
    ) {
        add_file(link, kind, path)
    }

    fn cuLinkComplete(_, link: CUlinkState, image: Out<*mut u8>, size: Out<usize>) {
        image.check()?;
        let (address, length) = link.get()?.complete()?;
        image.set(address)?;
        size.set_if_wanted(length);
        Ok(())
    }

    fn cuLinkDestroy(_, link: CUlinkState) {
        link.remove().map(drop)
    }
}
