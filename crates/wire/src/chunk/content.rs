//! Chunks with the model's output: text, reasoning, files, sources, data.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::BlockId;
use crate::decode::{DecodeError, Fields, record};
use crate::metadata::{Citation, ProviderMetadata};

record! {
    /// Opens a block of text or of reasoning.
    BlockStart {
        /// The block's id.
        id: String = "id",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// More of an open block.
    BlockDelta {
        /// The block's id.
        id: BlockId = "id",
        /// The text.
        delta: Box<str> = "delta",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// Closes a block of text.
    TextEnd {
        /// The block's id.
        id: String = "id",
        /// What supports the text (7 only).
        citations: Option<Vec<Citation>> = "citations",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// Closes a block of reasoning.
    ReasoningEnd {
        /// The block's id.
        id: String = "id",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// A file that the model made; also the shape of a reasoning file.
    File {
        /// Where it is, often a data URL.
        url: String = "url",
        /// What it is.
        media_type: String = "mediaType",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// Content that only its provider understands (7 only).
    Custom {
        /// `provider.type`.
        kind: String = "kind",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// A page that the answer rests on.
    SourceUrl {
        /// The source's id.
        source_id: String = "sourceId",
        /// Its address.
        url: String = "url",
        /// Its title.
        title: Option<String> = "title",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// A document that the answer rests on.
    SourceDocument {
        /// The source's id.
        source_id: String = "sourceId",
        /// Its media type.
        media_type: String = "mediaType",
        /// Its title.
        title: String = "title",
        /// Its file name.
        filename: Option<String> = "filename",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

/// `data-NAME`: data for the page, kept in the message unless it is transient.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Data {
    /// What follows `data-` in the type.
    pub name: String,
    /// A later chunk with the same name and id replaces the data.
    pub id: Option<String>,
    /// The data.
    pub data: Value,
    /// Whether the page sees it and the message does not keep it.
    pub transient: Option<bool>,
    /// More fields, which the newest clients keep in the message and the strict ones refuse.
    pub extra: Map<String, Value>,
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &format_args!("data-{}", self.name))?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("data", &self.data)?;
        if let Some(transient) = &self.transient {
            map.serialize_entry("transient", transient)?;
        }
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Data {
    pub(super) fn take(name: &str, fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            name: name.to_owned(),
            id: fields.take("id")?,
            data: fields.take("data")?,
            transient: fields.take("transient")?,
            extra: fields.take_rest(),
        })
    }
}
