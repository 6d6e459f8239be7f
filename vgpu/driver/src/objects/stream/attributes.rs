//! The attributes of streams. All but the priority are hints, which are remembered.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::StreamRef;
use crate::abi::number::stream_attribute;
use crate::abi::{CUstreamAttrValue, Result, Status};

/// What has been set, by stream and attribute; most streams have nothing.
type Remembered = BTreeMap<(u64, u32), CUstreamAttrValue>;
static ATTRIBUTES: Mutex<Remembered> = Mutex::new(BTreeMap::new());

/// The attributes of the stream with this id.
#[derive(Debug)]
pub struct Attributes(u64);

impl Attributes {
    #[must_use]
    pub fn of(queue: &gangway_streams::Stream) -> Self {
        Self(queue.id())
    }

    fn all() -> MutexGuard<'static, Remembered> {
        ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, attribute: u32, stream: &StreamRef) -> Result<CUstreamAttrValue> {
        match attribute {
            stream_attribute::PRIORITY => {
                let mut value = CUstreamAttrValue::default();
                value.value[0] = u64::from(stream.queue.priority() as u32);
                Ok(value)
            }
            _ if Self::can_be_set(attribute) => {
                Ok(Self::all().get(&(self.0, attribute)).copied().unwrap_or_default())
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }

    pub fn set(&self, attribute: u32, value: CUstreamAttrValue) -> Result {
        if !Self::can_be_set(attribute) {
            return Err(Status::INVALID_VALUE);
        }
        Self::all().insert((self.0, attribute), value);
        Ok(())
    }

    fn can_be_set(attribute: u32) -> bool {
        matches!(
            attribute,
            stream_attribute::ACCESS_POLICY_WINDOW
                | stream_attribute::SYNCHRONIZATION_POLICY
                | stream_attribute::MEM_SYNC_DOMAIN_MAP
                | stream_attribute::MEM_SYNC_DOMAIN
        )
    }

    pub fn copy_from(&self, other: &Self) {
        let mut all = Self::all();
        let of_other = all.range((other.0, 0)..=(other.0, u32::MAX));
        let values: Vec<_> = of_other.map(|(key, value)| ((self.0, key.1), *value)).collect();
        all.extend(values);
    }

    /// The stream is gone.
    pub fn forget(&self) {
        Self::all().retain(|(stream, _), _| *stream != self.0);
    }
}
