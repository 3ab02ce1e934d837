//! A block of rows as compressed JSON, without what [`super::PackedFigures`] contains of them.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use flate2::Compression;
use flate2::write::{DeflateDecoder, DeflateEncoder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::Iteration;
use super::packed_figures;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowBlock(Box<[u8]>);

impl RowBlock {
    pub(super) fn of(mut rows: Vec<Iteration>) -> Self {
        rows.iter_mut().for_each(packed_figures::strip);
        // Neither fails: the rows are data, and the sink is memory.
        let text = serde_json::to_vec(&rows).unwrap_or_default();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(&text).and_then(|()| encoder.finish()).unwrap_or_default();
        Self(packed.into_boxed_slice())
    }

    pub(super) fn rows(&self) -> Option<Vec<Iteration>> {
        let mut decoder = DeflateDecoder::new(Vec::new());
        decoder.write_all(&self.0).ok()?;
        serde_json::from_slice(&decoder.finish().ok()?).ok()
    }
}

/// A stored state is JSON.
impl Serialize for RowBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD_NO_PAD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for RowBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let bytes = STANDARD_NO_PAD.decode(text.as_bytes()).map_err(serde::de::Error::custom)?;
        Ok(Self(bytes.into_boxed_slice()))
    }
}
