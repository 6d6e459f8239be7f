//! Objects of the program that graphs keep alive.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::{CUhostFn, CUuserObject, Result, Status, kind};
use crate::objects::table::backed;
use crate::objects::work::host_function::UserData;

/// The objects that a graph holds, each with how often. A program may hold one millions of times.
#[derive(Clone, Debug, Default)]
pub struct HeldObjects(Vec<(Arc<UserObject>, u32)>);

impl HeldObjects {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn retain(&mut self, object: &Arc<UserObject>, count: u32) -> Result {
        match self.0.iter_mut().find(|(held, _)| Arc::ptr_eq(held, object)) {
            Some((_, times)) => *times = times.checked_add(count).ok_or(Status::INVALID_VALUE)?,
            None => self.0.push((Arc::clone(object), count)),
        }
        Ok(())
    }

    /// Lets go of an object `count` times. The caller drops what is returned where nothing is
    /// locked: it may be the last reference.
    pub(super) fn release(&mut self, object: CUuserObject, count: u32) -> Result<Option<Arc<UserObject>>> {
        let place = self.0.iter().position(|(held, _)| held.handle == object);
        let place = place.ok_or(Status::INVALID_VALUE)?;
        let times = &mut self.0[place].1;
        *times = times.checked_sub(count).ok_or(Status::INVALID_VALUE)?;
        Ok(if *times == 0 { Some(self.0.swap_remove(place).0) } else { None })
    }
}

/// Something of the program that graphs keep alive, and how it is told that none does any more.
#[derive(Debug)]
pub struct UserObject {
    pub handle: CUuserObject,
    object: UserData,
    destroy: CUhostFn,
    /// References that the program itself holds; without any the handle is gone.
    held: AtomicU32,
}

backed!(kind::UserObject, UserObject);

impl UserObject {
    pub fn create(object: *mut c_void, destroy: CUhostFn, held: u32) -> Result<Arc<Self>> {
        let (object, held) = (UserData(object), AtomicU32::new(held));
        CUuserObject::insert_with(|handle| Arc::new(Self { handle, object, destroy, held }))
    }

    /// Gives the program more references. It must have one, and cannot have more than 32 bits
    /// count.
    pub fn retain(&self, count: u32) -> Result {
        let retain = |held: u32| held.checked_add(count).filter(|_| held > 0);
        let before = self.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, retain);
        before.map(drop).map_err(|_| Status::INVALID_VALUE)
    }

    /// Takes back references of the program.
    pub fn release(&self, count: u32) -> Result {
        let release = |held: u32| held.checked_sub(count);
        let before = self.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, release);
        if before.map_err(|_| Status::INVALID_VALUE)? == count {
            self.handle.remove()?;
        }
        Ok(())
    }
}

impl Drop for UserObject {
    fn drop(&mut self) {
        // SAFETY: the program passed the function to be called with its object, once, when nothing
        // refers to it any more.
        unsafe { (self.destroy)(self.object.0) };
    }
}
