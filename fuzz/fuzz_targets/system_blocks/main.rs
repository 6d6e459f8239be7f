//! A device that sends anything as blocks of the C library's and Fortran's functions: the host
//! answers each, changes nothing of a block but what is the answer's, and calls Fortran's library
//! only as that expects ([`library`]).
//!
//! An input is a row of blocks, each behind two bytes with its length.
#![no_main]

mod library;

use gangway_runtime::host_calls::HostCall;
use gangway_runtime::host_calls::system::{answer, forget};
use gangway_system::fortran::end;
use gangway_system::{HEADER, Operation};
use libfuzzer_sys::fuzz_target;
use std::sync::Once;

/// The device that calls. Another one has begun nothing.
const DEVICE: i32 = 0;

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    static mut stderr: *mut libc::FILE;
}

/// What the host writes goes nowhere.
fn be_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: both texts end with a null byte. Nobody else uses the C library's variables: the
        // fuzzer has a copy.
        unsafe {
            let nowhere = libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr());
            assert!(!nowhere.is_null());
            (stdout, stderr) = (nowhere, nowhere);
        }
    });
}

fn word(block: &[u8], at: usize) -> u64 {
    block.get(at..at + 8).map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().unwrap()))
}

/// Whether a block ends the process.
fn ends(block: &[u8]) -> bool {
    match Operation::of(word(block, 0)) {
        Some(Operation::Exit) => true,
        Some(Operation::FortranEnd) => word(block, 16) & !(end::IS_ERROR | end::IS_QUIET) <= end::ERROR,
        _ => false,
    }
}

/// Where an operation may change a block, besides the word for its answer.
fn answered(block: &[u8]) -> std::ops::Range<usize> {
    let length = word(block, 24) as usize;
    match Operation::of(word(block, 0)) {
        Some(Operation::FormatHere | Operation::FortranRun | Operation::FortranResult)
            if block.len() >= HEADER && length <= block.len() - HEADER =>
        {
            HEADER..HEADER + length
        }
        _ => 0..0,
    }
}

fuzz_target!(|data: &[u8]| {
    be_quiet();
    // The numbers that the host has given to statements: blocks name them from 1 on.
    let mut numbers = Vec::new();
    let mut rest = data;
    while let Some((length, after)) = rest.split_first_chunk() {
        let (bytes, after) = after.split_at(usize::from(u16::from_le_bytes(*length)).min(after.len()));
        rest = after;
        let mut block = bytes.to_vec();
        if ends(&block) {
            continue;
        }
        let operation = Operation::of(word(&block, 0));
        let parts = [Operation::FortranPart, Operation::FortranRun, Operation::FortranResult];
        if operation.is_some_and(|operation| parts.contains(&operation))
            && let Some(number) = word(&block, 8).checked_sub(1).and_then(|at| numbers.get(at as usize))
        {
            block[8..16].copy_from_slice(&u64::to_ne_bytes(*number));
        }
        let sent = block.clone();
        answer(&mut HostCall { device: DEVICE, block: &mut block });
        library::check_that_none_is_under_way();
        let answer = word(&block, 8);
        let changed = answered(&sent);
        for (at, (now, before)) in block.iter().zip(&sent).enumerate() {
            let may_change = (8..16).contains(&at) || changed.contains(&at);
            assert!(now == before || may_change, "byte {at} of {operation:?} has changed");
        }
        if operation == Some(Operation::FortranPart) && answer != u64::MAX && block.len() >= 16 {
            if word(&sent, 8) == 0 {
                assert!(!numbers.contains(&answer));
                numbers.push(answer);
            } else {
                assert_eq!(answer, word(&sent, 8));
            }
        }
        if operation.is_none() && block.len() >= 16 {
            assert_eq!(answer, u64::MAX);
        }
    }
    forget(DEVICE);
});
