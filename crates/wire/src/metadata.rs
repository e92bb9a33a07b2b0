//! Provider metadata and citations: what a model's provider adds to its content.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::decode::{DecodeError, Field, Fields, Nulls, Path};

/// Metadata by provider, such as `{"google": {"thoughtSignature": "…"}}`: a record of records.
///
/// The client refuses any other shape, so none can be made. What is in a record is kept as it
/// came. Boxed, since nearly every chunk has a place for it and few have it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct ProviderMetadata(Box<Map<String, Value>>);

impl ProviderMetadata {
    /// Metadata of one provider.
    pub fn of(provider: impl Into<String>, record: Map<String, Value>) -> Self {
        Self::default().and(provider, record)
    }

    /// The same with the record of one more provider.
    #[must_use]
    pub fn and(mut self, provider: impl Into<String>, record: Map<String, Value>) -> Self {
        self.0.insert(provider.into(), Value::Object(record));
        self
    }

    /// The record of one provider.
    pub fn provider(&self, provider: &str) -> Option<&Map<String, Value>> {
        self.0.get(provider).and_then(Value::as_object)
    }
}

impl Field for ProviderMetadata {
    const EXPECTED: &'static str = "an object of objects";

    fn from_value(value: Value, path: Path<'_>, _: Nulls) -> Result<Self, DecodeError> {
        let Value::Object(map) = value else {
            return Err(path.expected(Self::EXPECTED));
        };
        match map.iter().find(|(_, record)| !record.is_object()) {
            Some((provider, _)) => Err(path.key(provider).expected("an object")),
            None => Ok(Self(Box::new(map))),
        }
    }
}

/// A reference that supports a piece of text (AI SDK 7).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// What is cited.
    pub source: CitationSource,
    /// Where the supported text starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_index: Option<u64>,
    /// Where the supported text ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_index: Option<u64>,
    /// The cited text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited_text: Option<String>,
}

/// What a [`Citation`] cites.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "sourceType", rename_all = "camelCase")]
pub enum CitationSource {
    /// A page.
    Url(CitedUrl),
    /// A document.
    Document(CitedDocument),
}

/// A page that is cited.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename = "source", rename_all = "camelCase")]
pub struct CitedUrl {
    /// The source's id.
    pub id: String,
    /// Its address.
    pub url: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The provider's metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A document that is cited.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename = "source", rename_all = "camelCase")]
pub struct CitedDocument {
    /// The source's id.
    pub id: String,
    /// Its media type.
    pub media_type: String,
    /// Its title.
    pub title: String,
    /// Its file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The provider's metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

impl Field for Citation {
    const EXPECTED: &'static str = "a citation";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, path, nulls)?;
        Ok(Self {
            source: fields.take("source")?,
            start_index: fields.take("startIndex")?,
            end_index: fields.take("endIndex")?,
            cited_text: fields.take("citedText")?,
        })
    }
}

impl Field for CitationSource {
    const EXPECTED: &'static str = "a citation's source";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, path, nulls)?;
        if fields.take::<String>("type")? != "source" {
            return Err(path.key("type").expected("\"source\""));
        }
        match fields.take::<String>("sourceType")?.as_str() {
            "url" => Ok(Self::Url(CitedUrl {
                id: fields.take("id")?,
                url: fields.take("url")?,
                title: fields.take("title")?,
                provider_metadata: fields.take("providerMetadata")?,
            })),
            "document" => Ok(Self::Document(CitedDocument {
                id: fields.take("id")?,
                media_type: fields.take("mediaType")?,
                title: fields.take("title")?,
                filename: fields.take("filename")?,
                provider_metadata: fields.take("providerMetadata")?,
            })),
            other => Err(path
                .key("sourceType")
                .unknown(other, "\"url\" or \"document\"")),
        }
    }
}
