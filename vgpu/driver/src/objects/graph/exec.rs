//! Executable graphs.

use std::sync::{Arc, Mutex};

use gangway_streams::GraphExec;

use super::{Graph, HeldObjects, lock};
use crate::abi::{CUgraphExec, Result, kind};
use crate::objects::stream::StreamRef;
use crate::objects::table::backed;

/// An executable graph.
#[derive(Debug)]
pub struct Exec {
    pub handle: CUgraphExec,
    pub exec: Arc<GraphExec>,
    pub flags: u64,
    objects: Mutex<HeldObjects>,
}

backed!(kind::GraphExec, Exec);

impl Exec {
    pub fn create(graph: &Graph, flags: u64) -> Result<Arc<Self>> {
        let exec = GraphExec::new(&graph.graph)?;
        let objects = Mutex::new(graph.objects());
        CUgraphExec::insert_with(|handle| Arc::new(Self { handle, exec, flags, objects }))
    }

    pub fn launch(&self, stream: &StreamRef) -> Result {
        self.exec.launch(&stream.queue)?;
        // Objects live as long as launches do that were made while they were held.
        let objects = lock(&self.objects).clone();
        if !objects.is_empty() && !stream.queue.is_capturing() {
            stream.queue.submit_host(move || {
                drop(objects);
                Ok(())
            })?;
        }
        Ok(())
    }

    pub fn update(&self, graph: &Graph) -> Result {
        self.exec.update(&graph.graph)?;
        let objects = graph.objects();
        let before = std::mem::replace(&mut *lock(&self.objects), objects);
        drop(before);
        Ok(())
    }
}
