//! The read and write indexes of queues (HSA runtime 1.2, 2.5.1.6 to 2.5.1.11).
//!
//! The order of memory is never weaker than a function's name says.

use std::sync::atomic::Ordering;

use super::entry::value;
use super::exports::entry as entries;
use crate::abi::pointer::Opaque;
use crate::objects::queue::memory_of;

macro_rules! loads {
    ($($index:ident: $($name:ident = $order:ident)+;)+) => {
        $($(
            /// An index of a queue.
            ///
            /// # Safety
            ///
            /// None needed: the pointer is checked to be a queue's.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(queue: Opaque) -> u64 {
                let address = queue.address();
                value(&entries::$name, address, || Ok(memory_of(address)?.$index.load(Ordering::$order)))
            }
        )+)+
    };
}

loads! {
    read_dispatch_id:
        hsa_queue_load_read_index_relaxed = Relaxed
        hsa_queue_load_read_index_scacquire = SeqCst
        hsa_queue_load_read_index_acquire = Acquire;
    write_dispatch_id:
        hsa_queue_load_write_index_relaxed = Relaxed
        hsa_queue_load_write_index_scacquire = SeqCst
        hsa_queue_load_write_index_acquire = Acquire;
}

macro_rules! stores {
    ($($index:ident: $($name:ident = $order:ident)+;)+) => {
        $($(
            /// Sets an index of a queue.
            ///
            /// # Safety
            ///
            /// None needed: the pointer is checked to be a queue's.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(queue: Opaque, index: u64) {
                let address = queue.address();
                value(&entries::$name, address, || {
                    memory_of(address)?.$index.store(index, Ordering::$order);
                    Ok(())
                })
            }
        )+)+
    };
}

stores! {
    write_dispatch_id:
        hsa_queue_store_write_index_relaxed = Relaxed
        hsa_queue_store_write_index_screlease = SeqCst
        hsa_queue_store_write_index_release = Release;
    read_dispatch_id:
        hsa_queue_store_read_index_relaxed = Relaxed
        hsa_queue_store_read_index_screlease = SeqCst
        hsa_queue_store_read_index_release = Release;
}

macro_rules! adds {
    ($($name:ident = $order:ident)+) => {
        $(
            /// Adds to the write index of a queue, and answers what it was.
            ///
            /// # Safety
            ///
            /// None needed: the pointer is checked to be a queue's.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(queue: Opaque, number: u64) -> u64 {
                let address = queue.address();
                value(&entries::$name, address, || {
                    Ok(memory_of(address)?.write_dispatch_id.fetch_add(number, Ordering::$order))
                })
            }
        )+
    };
}

adds! {
    hsa_queue_add_write_index_relaxed = Relaxed
    hsa_queue_add_write_index_scacquire = SeqCst
    hsa_queue_add_write_index_acquire = Acquire
    hsa_queue_add_write_index_screlease = SeqCst
    hsa_queue_add_write_index_release = Release
    hsa_queue_add_write_index_scacq_screl = SeqCst
    hsa_queue_add_write_index_acq_rel = AcqRel
}

macro_rules! exchanges {
    ($($name:ident = $order:ident)+) => {
        $(
            /// Sets the write index of a queue if it is as expected, and answers what it was.
            ///
            /// # Safety
            ///
            /// None needed: the pointer is checked to be a queue's.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(queue: Opaque, expected: u64, index: u64) -> u64 {
                let address = queue.address();
                value(&entries::$name, address, || {
                    let memory = memory_of(address)?;
                    let order = (Ordering::$order, Ordering::SeqCst);
                    let changed = memory.write_dispatch_id.compare_exchange(expected, index, order.0, order.1);
                    Ok(changed.unwrap_or_else(|old| old))
                })
            }
        )+
    };
}

exchanges! {
    hsa_queue_cas_write_index_relaxed = Relaxed
    hsa_queue_cas_write_index_scacquire = SeqCst
    hsa_queue_cas_write_index_acquire = Acquire
    hsa_queue_cas_write_index_screlease = SeqCst
    hsa_queue_cas_write_index_release = Release
    hsa_queue_cas_write_index_scacq_screl = SeqCst
    hsa_queue_cas_write_index_acq_rel = AcqRel
}
