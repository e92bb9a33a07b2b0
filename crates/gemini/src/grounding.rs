//! What an answer rests on: searches and citations.

use serde_json::Value;

use crate::record::record;

record! {
    /// What an answer rests on.
    pub struct GroundingMetadata {
        /// The sources.
        grounding_chunks: Vec<GroundingChunk>,
        /// Which piece of the answer rests on which source.
        grounding_supports: Vec<Value>,
        /// What was searched for.
        web_search_queries: Vec<String>,
        /// What a page must show beside a search.
        search_entry_point: Option<Value>,
    }

    /// A source.
    pub struct GroundingChunk {
        /// A page.
        web: Option<Source>,
        /// A document that was looked up.
        retrieved_context: Option<Source>,
        /// A place.
        maps: Option<Source>,
    }

    /// A page, a document or a place.
    pub struct Source {
        /// Its address.
        uri: Option<String>,
        /// Its title.
        title: Option<String>,
    }

    /// Where an answer was taken from.
    pub struct CitationMetadata {
        /// The sources.
        citation_sources: Vec<CitationSource>,
        /// The same, under the other name that Google has for it.
        citations: Vec<CitationSource>,
    }

    /// A source that is cited.
    pub struct CitationSource {
        /// Where the cited piece begins in the answer, in bytes.
        start_index: Option<u64>,
        /// Where it ends.
        end_index: Option<u64>,
        /// Its address.
        uri: Option<String>,
        /// Its title.
        title: Option<String>,
        /// Its licence.
        license: Option<String>,
    }
}
