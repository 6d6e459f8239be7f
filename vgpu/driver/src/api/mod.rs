//! The exported functions, a module for each family of them.
//!
//! They are thin: what they do is in the modules that they call.

use crate::entry::Export;

mod capture;
mod context;
mod copy;
mod device;
mod driver;
mod event;
mod fill;
mod function;
mod graph;
mod graph_exec;
mod graph_memory;
mod graph_node;
mod launch;
mod library;
mod link;
mod memory;
mod module;
mod peer;
mod pointer;
mod pool;
mod primary;
mod stream;
mod unsupported;

/// Every exported function.
pub(crate) fn exports() -> impl Iterator<Item = &'static Export> {
    supported().chain(unsupported::EXPORTS)
}

/// Those that something stands behind.
pub(crate) fn supported() -> impl Iterator<Item = &'static Export> {
    let families = [
        capture::EXPORTS,
        context::EXPORTS,
        copy::EXPORTS,
        device::EXPORTS,
        driver::EXPORTS,
        event::EXPORTS,
        fill::EXPORTS,
        function::EXPORTS,
        graph::EXPORTS,
        graph_exec::EXPORTS,
        graph_memory::EXPORTS,
        graph_node::EXPORTS,
        launch::EXPORTS,
        library::EXPORTS,
        link::EXPORTS,
        memory::EXPORTS,
        module::EXPORTS,
        peer::EXPORTS,
        pointer::EXPORTS,
        pool::EXPORTS,
        primary::EXPORTS,
        stream::EXPORTS,
    ];
    families.into_iter().flatten()
}
