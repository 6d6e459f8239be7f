//! Reading and changing the values of signals (HSA runtime 1.2, 2.4.1.4 to 2.4.1.18).
//!
//! The order of memory is never weaker than a function's name says. Those names with `sc` and those
//! without are the same functions: the latter are older.

use std::sync::atomic::Ordering;

use super::entry::value;
use super::exports::entry as entries;
use crate::abi::handle::Handle;
use crate::objects::signal::Signal;

macro_rules! loads {
    ($($name:ident)+) => {
        $(
            /// The value of a signal.
            ///
            /// # Safety
            ///
            /// None needed: no pointer is passed.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(signal: Handle) -> i64 {
                value(&entries::$name, signal.0, || Ok(Signal::get(signal)?.load()))
            }
        )+
    };
}

loads! { hsa_signal_load_relaxed hsa_signal_load_scacquire hsa_signal_load_acquire }

/// Functions that take one number, and answer nothing.
macro_rules! changes {
    ($($operation:ident: $($name:ident = $order:ident)+;)+) => {
        $($(
            /// Changes the value of a signal.
            ///
            /// # Safety
            ///
            /// None needed: no pointer is passed.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(signal: Handle, number: i64) {
                value(&entries::$name, signal.0, || {
                    let _ = Signal::get(signal)?.change(|value| value.$operation(number, Ordering::$order));
                    Ok(())
                })
            }
        )+)+
    };
}

changes! {
    store:
        hsa_signal_store_relaxed = Relaxed
        hsa_signal_store_screlease = SeqCst
        hsa_signal_store_release = Release;
    fetch_add:
        hsa_signal_add_relaxed = Relaxed
        hsa_signal_add_scacquire = SeqCst
        hsa_signal_add_acquire = Acquire
        hsa_signal_add_screlease = SeqCst
        hsa_signal_add_release = Release
        hsa_signal_add_scacq_screl = SeqCst
        hsa_signal_add_acq_rel = AcqRel;
    fetch_sub:
        hsa_signal_subtract_relaxed = Relaxed
        hsa_signal_subtract_scacquire = SeqCst
        hsa_signal_subtract_acquire = Acquire
        hsa_signal_subtract_screlease = SeqCst
        hsa_signal_subtract_release = Release
        hsa_signal_subtract_scacq_screl = SeqCst
        hsa_signal_subtract_acq_rel = AcqRel;
    fetch_and:
        hsa_signal_and_relaxed = Relaxed
        hsa_signal_and_scacquire = SeqCst
        hsa_signal_and_acquire = Acquire
        hsa_signal_and_screlease = SeqCst
        hsa_signal_and_release = Release
        hsa_signal_and_scacq_screl = SeqCst
        hsa_signal_and_acq_rel = AcqRel;
    fetch_or:
        hsa_signal_or_relaxed = Relaxed
        hsa_signal_or_scacquire = SeqCst
        hsa_signal_or_acquire = Acquire
        hsa_signal_or_screlease = SeqCst
        hsa_signal_or_release = Release
        hsa_signal_or_scacq_screl = SeqCst
        hsa_signal_or_acq_rel = AcqRel;
    fetch_xor:
        hsa_signal_xor_relaxed = Relaxed
        hsa_signal_xor_scacquire = SeqCst
        hsa_signal_xor_acquire = Acquire
        hsa_signal_xor_screlease = SeqCst
        hsa_signal_xor_release = Release
        hsa_signal_xor_scacq_screl = SeqCst
        hsa_signal_xor_acq_rel = AcqRel;
}

macro_rules! swaps {
    ($($name:ident = $order:ident)+) => {
        $(
            /// Sets the value of a signal, and answers what it was.
            ///
            /// # Safety
            ///
            /// None needed: no pointer is passed.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(signal: Handle, number: i64) -> i64 {
                value(&entries::$name, signal.0, || {
                    Ok(Signal::get(signal)?.change(|value| value.swap(number, Ordering::$order)))
                })
            }
        )+
    };
}

swaps! {
    hsa_signal_exchange_relaxed = Relaxed
    hsa_signal_exchange_scacquire = SeqCst
    hsa_signal_exchange_acquire = Acquire
    hsa_signal_exchange_screlease = SeqCst
    hsa_signal_exchange_release = Release
    hsa_signal_exchange_scacq_screl = SeqCst
    hsa_signal_exchange_acq_rel = AcqRel
}

/// Stores that wake nobody.
macro_rules! silent_stores {
    ($($name:ident = $order:ident)+) => {
        $(
            /// Sets the value of a signal; whoever waits for it need not see that.
            ///
            /// # Safety
            ///
            /// None needed: no pointer is passed.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(signal: Handle, number: i64) {
                value(&entries::$name, signal.0, || {
                    Signal::get(signal)?.change_silently(|value| value.store(number, Ordering::$order));
                    Ok(())
                })
            }
        )+
    };
}

silent_stores! {
    hsa_signal_silent_store_relaxed = Relaxed
    hsa_signal_silent_store_screlease = SeqCst
}

macro_rules! exchanges {
    ($($name:ident = $order:ident)+) => {
        $(
            /// Sets the value of a signal if it is as expected, and answers what it was.
            ///
            /// # Safety
            ///
            /// None needed: no pointer is passed.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(signal: Handle, expected: i64, number: i64) -> i64 {
                value(&entries::$name, signal.0, || {
                    let changed = Signal::get(signal)?.change(|value| {
                        value.compare_exchange(expected, number, Ordering::$order, Ordering::SeqCst)
                    });
                    Ok(changed.unwrap_or_else(|old| old))
                })
            }
        )+
    };
}

exchanges! {
    hsa_signal_cas_relaxed = Relaxed
    hsa_signal_cas_scacquire = SeqCst
    hsa_signal_cas_acquire = Acquire
    hsa_signal_cas_screlease = SeqCst
    hsa_signal_cas_release = Release
    hsa_signal_cas_scacq_screl = SeqCst
    hsa_signal_cas_acq_rel = AcqRel
}
