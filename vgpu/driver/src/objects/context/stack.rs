//! The contexts of each thread: the last one pushed is current.
//!
//! Only exported functions come here, on the thread that called them.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::{Context, is_scheduling};
use crate::abi::number::context_flags;
use crate::abi::{CUcontext, Result, Status};
use crate::objects::device::Device;

/// The contexts of a thread; the last is current.
type Stack = Vec<Arc<Context>>;

thread_local! {
    /// Without a destructor: `exit` runs those of the calling thread first. What libraries do
    /// after that still needs the contexts; libgomp shuts its device down then.
    static STACK: RefCell<ManuallyDrop<Stack>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
    static END: End = const { End };
}

/// Lets go of a thread's contexts when it ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        // SAFETY: these have no preconditions.
        let is_main = unsafe { libc::gettid() == libc::getpid() };
        if !is_main {
            drop(stack(std::mem::take));
        }
    }
}

fn stack<T>(work: impl FnOnce(&mut Stack) -> T) -> T {
    STACK.with(|stack| work(&mut stack.borrow_mut()))
}

/// Puts a context on top of the thread's stack.
fn put(context: Arc<Context>) {
    // Has the end of the thread noticed; if it has come already there is nothing to notice.
    let _ = END.try_with(|_| ());
    stack(|stack| stack.push(context));
}

/// The calling thread's current context, whatever state it is in.
#[inline]
#[must_use]
pub fn current() -> Option<Arc<Context>> {
    let context = STACK.with(|stack| stack.borrow().last().cloned())?;
    if context.primary && context.is_destroyed() { Some(renewed(context)) } else { Some(context) }
}

/// A primary context stays current while it is destroyed and made again.
#[cold]
fn renewed(old: Arc<Context>) -> Arc<Context> {
    let Ok(context) = old.handle.get() else { return old };
    stack(|stack| {
        if let Some(top) = stack.last_mut() {
            *top = Arc::clone(&context);
        }
    });
    context
}

/// The context of a handle, unless it is a primary one that is destroyed at the moment.
pub fn find(handle: CUcontext) -> Result<Arc<Context>> {
    let context = handle.get()?;
    if context.is_destroyed() { Err(Status::CONTEXT_IS_DESTROYED) } else { Ok(context) }
}

/// Puts another context in the place of the current one; null takes the current one away.
pub fn set_current(handle: CUcontext) -> Result {
    let context = if handle.is_null() { None } else { Some(find(handle)?) };
    let replaced = stack(Vec::pop);
    if let Some(context) = context {
        put(context);
    }
    drop(replaced);
    Ok(())
}

pub fn push(handle: CUcontext) -> Result {
    put(find(handle)?);
    Ok(())
}

/// Takes the current context off the stack.
pub fn pop() -> Result<CUcontext> {
    let context = stack(Vec::pop).ok_or(Status::INVALID_CONTEXT)?;
    Ok(context.handle)
}

/// `cuCtxCreate`: a new context that is current.
pub fn create_current(device: &'static Device, flags: u32, api_version: u32) -> Result<CUcontext> {
    if flags & !context_flags::ALL != 0 || !is_scheduling(flags) {
        return Err(Status::INVALID_VALUE);
    }
    let context = Context::create(device, flags, false, api_version)?;
    put(Arc::clone(&context));
    Ok(context.handle)
}

/// `cuCtxDestroy`: also takes it off this thread's stack if it is current.
pub fn destroy(handle: CUcontext) -> Result {
    let context = handle.get()?;
    if context.primary {
        return Err(Status::INVALID_CONTEXT);
    }
    context.destroy();
    stack(|stack| {
        if stack.last().is_some_and(|top| Arc::ptr_eq(top, &context)) {
            stack.pop();
        }
    });
    Ok(())
}
