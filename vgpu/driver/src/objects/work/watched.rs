//! Who looks for races hears of what copies and fills do, and in which order streams do all.

use std::sync::Arc;

use gangway_device_memory::is_device_address;
use gangway_engine::{By, Origin, Past, Transfer};
use gangway_private_table::Obtained;

use crate::abi::Result;
use crate::objects::device::Device;
use crate::objects::device::host::{self, After};
use crate::objects::memory;
use crate::objects::stream::StreamRef;

/// What the operation that the calling thread runs comes after, where that is kept.
#[must_use]
pub fn past() -> Option<Arc<dyn Past>> {
    gangway_streams::running_after().map(|clock| Arc::new(After(clock)) as Arc<dyn Past>)
}

/// So many bytes are about to be written by a copy or a fill: who notes what kernels do hears of it.
pub fn changes(address: u64, size: u64) {
    if Device::notes_changes() && is_device_address(address) {
        Device::all().iter().for_each(|device| device.note_change(address, size));
    }
}

/// Memory is about to be copied or filled. `what`: `a copy to the device`. What is the host's is looked at with what is a
/// device's, or with the first device.
pub fn transfer(what: &'static str, accesses: &[Transfer]) {
    let past = past();
    let owner = |access: &Transfer| memory::on_device(access.address).map(|(number, _)| number);
    let owners: Vec<Option<i32>> = accesses.iter().map(owner).collect();
    let of_host = owners.iter().flatten().next().copied().unwrap_or(0);
    let origin = Origin { by: By::Copy { what, mapped: false }, function: String::new(), source: None };
    for device in Device::all() {
        let is_own = |owner: Option<i32>| owner.unwrap_or(of_host) == device.number();
        let own = accesses.iter().zip(&owners).filter(|(_, owner)| is_own(**owner));
        let own: Vec<Transfer> = own.map(|(access, _)| *access).collect();
        if !own.is_empty() {
            device.engine().transfer(&origin, &own, past.clone());
        }
    }
}

/// Gangway's runtime has put a copy into a stream that reads or writes memory of the program: when it is done does not
/// show in what the driver copies.
pub fn copy_of_host(stream: &StreamRef, origin: Origin, access: Transfer) -> Result {
    if stream.queue.is_capturing() {
        return Ok(());
    }
    host::watch(access.address, access.size);
    let device = stream.context.device;
    Ok(stream.queue.submit(move || {
        device.engine().transfer(&origin, &[access], past());
        Ok(())
    })?)
}

/// The program gives memory of a device up, which kernels may use still: by a routine at an address of its code, or by a
/// construct in the source, in the order of its stream.
pub fn given_up(stream: Option<&StreamRef>, address: u64, size: u64, by: &Obtained<'_>) -> Result {
    let found = memory::space().ok().and_then(|space| space.find(address));
    let Some(found) = found.filter(|_| Device::looks_for_races()) else { return Ok(()) };
    let device = Device::get(found.device as i32)?;
    let (mut function, mut source) = (String::new(), by.source.copy());
    if source.is_none() && by.code != 0 {
        let (at, place) = host::place(by.find, by.code);
        (function, source) = (at, place.map(|place| (place.file, place.line, place.column)));
    }
    let what = if by.maps { "its end by `delete`" } else { "its end, as the program frees it" };
    let origin = Origin { by: By::Release { what }, function, source };
    let all = found.address + found.size - address;
    let access = Transfer { address, size: if size == 0 { all } else { size }, write: true };
    let Some(stream) = stream.filter(|stream| !stream.queue.is_capturing()) else {
        device.engine().transfer(&origin, &[access], Some(host::now()));
        return Ok(());
    };
    Ok(stream.queue.submit(move || {
        device.engine().transfer(&origin, &[access], past());
        Ok(())
    })?)
}
