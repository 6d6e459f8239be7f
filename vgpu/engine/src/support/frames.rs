//! The functions that lanes of a warp are in, when lanes that have called one may wait there for
//! others.
//!
//! Each of these functions has a frame with all that is known of its lanes. The youngest one with
//! lanes that can go on runs. Masked code of a function ends when it has called another one, or
//! when its lanes have to wait ([`SWITCH`]). If no lane can go on, or those that can only spin,
//! lanes that have returned from a function go on behind the call, without those that are still in
//! it. So a lane can take what another one waits for, or give it back, wherever it is.
//!
//! Converged code has its registers elsewhere. It puts them into its frame before it calls such a
//! function. Its frame is *claimed* when lanes come back before the others; from then on masked
//! code has it, and the converged code does so too when the others come back.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

use gangway_interpreter::FaultKind;

use super::helper::{fault, run};
use super::waiting::{is_released, wait_for_barriers};
use crate::abi::{Flavour, Masked, Warp};
use crate::frame::{Frame, SWITCH, behind, chosen};

/// So many times do lanes that spin have their turn, before those that have returned from the
/// function leave the others behind in it. It takes them apart for long.
const PATIENCE: u32 = 2;

/// A function's masked code.
fn code(warp: &mut Warp, function: u32, lanes: u32) -> Masked {
    // SAFETY: the table has two entries for each function; what is in it is code of that kind.
    unsafe {
        let entry = &*warp.functions.add(2 * function as usize + 1);
        let mut code = entry.load(Ordering::Acquire).cast_const();
        if code.is_null() {
            code = warp.host().code(warp, function, Flavour::Masked, lanes);
        }
        transmute::<*const c_void, Masked>(code)
    }
}

/// A new frame for lanes that call a function, and `extra` bytes behind it.
///
/// # Safety
///
/// The warp runs, and the function is one in which lanes may wait.
unsafe fn allocate(warp: *mut Warp, function: u32, lanes: u32, extra: usize) -> *mut Frame {
    // SAFETY: by the caller. Without a frame, the code tells how large one is.
    unsafe {
        let size = code(&mut *warp, function, lanes)(warp, ptr::null(), ptr::null_mut(), 0) as usize;
        let warp = &mut *warp;
        let Some(memory) = warp.host().allocate(size + extra) else {
            fault(warp, lanes, FaultKind::StackOverflow)
        };
        let frame: *mut Frame = memory.as_ptr().cast();
        frame.write(Frame {
            parent: warp.frame,
            next: ptr::null_mut(),
            arguments: memory.as_ptr().add(size).cast(),
            results: ptr::null(),
            top: warp.local_top,
            entering: 0,
            function,
            site: 0,
            calls: 0,
            blocks: 0,
            converges: 0,
            claimed: 0,
            rests: 0,
            waiting: 0,
            held: 0,
            parked: 0,
            children: 0,
            returned: 0,
            lanes,
            local_base: 0,
            saved_top: 0,
            called_from: 0,
        });
        frame
    }
}

fn release(warp: &mut Warp, frame: *mut Frame) {
    if let Some(memory) = NonNull::new(frame.cast()) {
        // SAFETY: the warp runs.
        unsafe { warp.host() }.release(memory);
    }
}

/// The frames of a warp, the youngest first.
fn all(warp: &Warp) -> impl Iterator<Item = *mut Frame> + use<> {
    // SAFETY: frames are linked as long as they live.
    let next = |&frame: &*mut Frame| Some(unsafe { (*frame).next }).filter(|next| !next.is_null());
    std::iter::successors(Some(warp.frames).filter(|first| !first.is_null()), next)
}

/// Links a frame in front of all others.
unsafe fn link(warp: &mut Warp, frame: *mut Frame) {
    // SAFETY: by the caller: it is a frame that is not linked.
    unsafe { (*frame).next = warp.frames };
    warp.frames = frame;
}

unsafe fn unlink(warp: &mut Warp, frame: *mut Frame) {
    let mut at: *mut *mut Frame = &raw mut warp.frames;
    // SAFETY: frames are linked as long as they live, and this one is.
    unsafe {
        while *at != frame && !(*at).is_null() {
            at = &raw mut (**at).next;
        }
        if !(*at).is_null() {
            *at = (*frame).next;
        }
    }
}

/// Whether no lane of the warp is in a function that has a frame, but in this one.
pub(super) fn is_alone(warp: &Warp, frame: *mut Frame) -> bool {
    // SAFETY: it is the frame of the running function.
    unsafe { ptr::eq(warp.frames, frame) && (*frame).next.is_null() && !comes_back(frame) }
}

/// Whether lanes have returned that could go on behind the call.
fn comes_back(frame: *mut Frame) -> bool {
    // SAFETY: a frame that is linked.
    unsafe { (*frame).returned != 0 && !(*frame).parent.is_null() }
}

/// Lanes of the function that runs have had their turn, and may be waiting for others. Whether
/// those outside of it have theirs now.
pub(super) unsafe fn rest(warp: &mut Warp, frame: *mut Frame) -> bool {
    if !ptr::eq(warp.frame, frame) || is_alone(warp, frame) {
        return false;
    }
    warp.turns += 1;
    if warp.turns < PATIENCE {
        return false;
    }
    warp.turns = 0;
    // SAFETY: it is the frame of the running function.
    unsafe { (*frame).rests = 1 };
    true
}

/// Whether lanes in a frame can go on, or it can end.
fn can_run(warp: &mut Warp, frame: *mut Frame) -> bool {
    // SAFETY: a frame that is linked.
    let frame = unsafe { &*frame };
    frame.blocks == 0
        || frame.waiting | frame.held != 0
        || frame.parked == 0 && frame.children == 0
        || is_released(warp, frame.parked)
}

/// The frame that runs next.
fn pick(warp: &mut Warp) -> *mut Frame {
    loop {
        // SAFETY: frames that are linked live.
        let rests = |frame: *mut Frame| unsafe { (*frame).rests != 0 };
        if let Some(frame) = all(warp).find(|&frame| !rests(frame) && can_run(warp, frame)) {
            return frame;
        }
        if let Some(frame) = all(warp).find(|&frame| comes_back(frame)) {
            // SAFETY: as above.
            return unsafe { come_back(warp, frame) };
        }
        let mut rested = false;
        for frame in all(warp) {
            // SAFETY: as above.
            rested |= unsafe { std::mem::take(&mut (*frame).rests) } != 0;
        }
        if rested {
            continue;
        }
        // SAFETY: as above.
        let parked = all(warp).fold(0, |parked, frame| parked | unsafe { (*frame).parked });
        wait_for_barriers(warp, parked);
    }
}

/// Lets lanes that have returned go on behind the call, while others are still in the function. The
/// frame of the caller.
unsafe fn come_back(warp: &mut Warp, frame: *mut Frame) -> *mut Frame {
    // SAFETY: by the caller the frame is linked; its parent lives as long as it does.
    unsafe {
        let parent = (*frame).parent;
        if !all(warp).any(|linked| ptr::eq(linked, parent)) {
            claim(frame, parent);
        }
        let lanes = std::mem::take(&mut (*frame).returned);
        (*frame).lanes &= !lanes;
        go_behind(frame, parent, lanes);
        parent
    }
}

/// Lets lanes that come from a function go on behind its call.
unsafe fn go_behind(frame: *mut Frame, parent: *mut Frame, lanes: u32) {
    // SAFETY: by the caller both frames live.
    unsafe {
        let place = behind((*parent).blocks, (*frame).site);
        (*parent).entering = if lanes == 0 { 0 } else { chosen(place, lanes) };
        (*parent).results = (*frame).arguments;
    }
}

/// Takes the frame of converged code that waits for a call, `frame` being of what it has called.
unsafe fn claim(frame: *mut Frame, parent: *mut Frame) {
    // SAFETY: by the caller both frames live. The converged code has put its registers there.
    unsafe {
        Frame::empty(parent, (*parent).blocks);
        (*parent).claimed = 1 | (*parent).converges << 1;
        (*parent).converges = 0;
        (*parent).children = 1;
        (*parent).top = (*frame).saved_top;
        set_site(parent);
        ((*parent).next, (*frame).next) = ((*frame).next, parent);
    }
}

/// Notes in a frame of converged code where that was called.
unsafe fn set_site(frame: *mut Frame) {
    // SAFETY: by the caller the frame lives; its parent lives as long as it does.
    unsafe {
        if let Some(parent) = (*frame).parent.as_ref() {
            (*frame).site = parent.calls;
        }
    }
}

/// Runs all functions in which lanes are, until the one of `base` ends, or until all lanes have met
/// in it and converged code can go on.
///
/// # Safety
///
/// The warp runs, and the frame is linked.
unsafe fn go_on(warp: *mut Warp, base: *mut Frame) -> u64 {
    let mut current = base;
    // The function has ended that lanes of the current one come from.
    let mut ended: *mut Frame = ptr::null_mut();
    // SAFETY: frames that are linked live. Nothing refers to the warp while compiled code runs.
    unsafe {
        loop {
            (*warp).frame = current;
            (*warp).local_top = (*current).top;
            let (lanes, arguments) = ((*current).lanes, (*current).arguments);
            let run = code(&mut *warp, (*current).function, lanes);
            let outcome = run(warp, arguments, current.cast(), lanes);
            let warp = &mut *warp;
            release(warp, ended);
            ended = ptr::null_mut();
            if outcome == SWITCH {
                (*current).top = warp.local_top;
                current = pick(warp);
            } else if ptr::eq(current, base) {
                unlink(warp, base);
                warp.frame = (*base).parent;
                return outcome;
            } else {
                let parent = (*current).parent;
                (*parent).children -= 1;
                go_behind(current, parent, outcome as u32);
                unlink(warp, current);
                (ended, current) = (current, parent);
            }
        }
    }
}

/// Calls a function for some lanes, which may wait in it for others; those that come back.
///
/// # Safety
///
/// The warp runs, and the function is one in which lanes may wait.
pub(crate) unsafe fn start(warp: *mut Warp, function: u32, arguments: *const *mut c_void, lanes: u32) -> u64 {
    // SAFETY: by the caller.
    unsafe {
        let frame = allocate(warp, function, lanes, 0);
        (*frame).arguments = arguments;
        set_site(frame);
        link(&mut *warp, frame);
        let back = go_on(warp, frame);
        release(&mut *warp, frame);
        back
    }
}

/// The same, for compiled code.
pub(super) unsafe extern "C" fn start_frame(
    warp: *mut Warp,
    function: u64,
    arguments: *const *mut c_void,
    lanes: u64,
) -> u64 {
    // SAFETY: compiled code passes its warp.
    unsafe { start(warp, function as u32, arguments, lanes as u32) }
}

/// Runs masked code at the blocks that lanes of converged code wait for, until they meet or end.
pub(super) unsafe extern "C" fn run_frame(
    warp: *mut Warp,
    frame: *mut Frame,
    arguments: *const *mut c_void,
    function: u64,
) -> u64 {
    // SAFETY: compiled code passes its warp and its own frame.
    unsafe {
        if (*frame).claimed != 0 {
            (*frame).converges = (*frame).claimed >> 1;
            (*frame).claimed = 0;
            (*frame).top = (*frame).top.max((*warp).local_top);
        } else {
            (*frame).arguments = arguments;
            (*frame).function = function as u32;
            (*frame).top = (*warp).local_top;
            // Behind the saved frame pointer is where the function returns to.
            (*frame).called_from = *ptr::with_exposed_provenance::<u64>((*warp).called_in as usize + 8);
            set_site(frame);
            link(&mut *warp, frame);
        }
        go_on(warp, frame)
    }
}

/// Lanes come back to converged code from a call, behind which others have gone on already; `place`
/// has the block of the call and the lanes.
pub(super) unsafe extern "C" fn deliver(
    _warp: *mut Warp,
    frame: *mut Frame,
    place: u64,
    results: *const *mut c_void,
) {
    // SAFETY: compiled code passes its own frame.
    unsafe {
        let (block, lanes) = ((place >> 32) as u32, place as u32);
        (*frame).children -= 1;
        (*frame).entering = if lanes == 0 { 0 } else { chosen(behind((*frame).blocks, block), lanes) };
        (*frame).results = results;
    }
}

/// Makes a frame for a function that some lanes call; `place` has the block of the call and the
/// lanes. What is passed is copied from `area`: the lower half of `sizes` is how long that is, the
/// upper half how much of it is to be copied.
pub(super) unsafe extern "C" fn enter(
    warp: *mut Warp,
    frame: *mut Frame,
    place: u64,
    function: u64,
    area: *const u8,
    sizes: u64,
) {
    // SAFETY: compiled code passes its warp, its own frame and its area for calls, at whose
    // beginning there are pointers into it, one for each parameter and result.
    unsafe {
        let (block, lanes) = ((place >> 32) as u32, place as u32);
        let new = allocate(warp, function as u32, lanes, sizes as u32 as usize);
        run(warp, |warp| {
            (*new).site = block;
            (*new).called_from = warp.called_from;
            let copy = (*new).arguments.cast_mut().cast::<u8>();
            ptr::copy_nonoverlapping(area, copy, (sizes >> 32) as usize);
            let callee = &warp.host().module().functions[function as usize];
            let pointers = copy.cast::<*mut u8>();
            for index in 0..callee.parameters.len() + callee.returns.len() {
                let pointer = pointers.add(index);
                *pointer = copy.add((*pointer).addr() - area.addr());
            }
            (*frame).children += 1;
            link(warp, new);
        });
    }
}
