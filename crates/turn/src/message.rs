//! What a user said: the message that opens a turn.
//!
//! A page may be newer than its server: parts and fields that nothing here reads are kept as JSON, and
//! go to the journal and back to the page in the order in which they came.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// The name of the part that a user message has whose words are spoken, and come while its turn
/// runs: `data-speech`.
pub const SPEECH: &str = "speech";

/// A user message.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Message {
    /// Its id. Older journals have messages without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// As the journal has it: `user`.
    role: String,
    /// What the application keeps with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// What it is made of.
    pub parts: Vec<Part>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A part of a user message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// All other fields.
        extra: Map<String, Value>,
    },
    /// A file.
    File(File),
    /// `data-NAME`: what the page has to say.
    Data {
        /// What follows `data-` in the type.
        name: String,
        /// All fields but the type.
        fields: Map<String, Value>,
    },
    /// A part that nothing here reads, whole.
    Other(Map<String, Value>),
}

/// A file that a user sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// What it is.
    pub media_type: String,
    /// Its name.
    pub filename: Option<String>,
    /// Where it is, often a data URL.
    pub url: String,
    /// All other fields.
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message of nothing but its parts.
    pub fn new(id: impl Into<String>, parts: Vec<Part>) -> Self {
        Self {
            id: Some(id.into()),
            role: "user".to_owned(),
            metadata: None,
            parts,
            extra: Map::new(),
        }
    }

    /// All its words, joined.
    pub fn text(&self) -> String {
        self.texts().collect()
    }

    /// Its words, part by part.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether its words are spoken.
    pub fn is_speech(&self) -> bool {
        let is_speech = |part: &Part| matches!(part, Part::Data { name, .. } if name == SPEECH);
        self.parts.iter().any(is_speech)
    }
}

impl Part {
    /// Words, and nothing else.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            extra: Map::new(),
        }
    }
}

impl File {
    /// The file's name at a provider that has it.
    pub fn provider_reference(&self, provider: &str) -> Option<&str> {
        self.extra.get("providerReference")?.get(provider)?.as_str()
    }

    /// Takes a file's fields, if they are one's.
    fn take(fields: &mut Map<String, Value>) -> Option<Self> {
        let is_text = |key: &str| fields.get(key).is_some_and(Value::is_string);
        let is_file = is_text("mediaType") && is_text("url");
        if !is_file || fields.contains_key("filename") && !is_text("filename") {
            return None;
        }
        Some(Self {
            media_type: take_text(fields, "mediaType")?,
            filename: take_text(fields, "filename"),
            url: take_text(fields, "url")?,
            extra: std::mem::take(fields),
        })
    }
}

/// A part is never refused: what does not read as one of a known type is kept whole.
impl From<Map<String, Value>> for Part {
    fn from(mut fields: Map<String, Value>) -> Self {
        let Some(kind) = take_text(&mut fields, "type") else {
            return Self::Other(fields);
        };
        match kind.as_str() {
            "text" => {
                if let Some(text) = take_text(&mut fields, "text") {
                    return Self::Text {
                        text,
                        extra: fields,
                    };
                }
            }
            "file" => {
                if let Some(file) = File::take(&mut fields) {
                    return Self::File(file);
                }
            }
            kind => {
                if let Some(name) = kind.strip_prefix("data-") {
                    let name = name.to_owned();
                    return Self::Data { name, fields };
                }
            }
        }
        // The type is written first, wherever it stood.
        let mut whole = Map::with_capacity(fields.len() + 1);
        whole.insert("type".to_owned(), kind.into());
        whole.extend(fields);
        Self::Other(whole)
    }
}

/// Takes a field out if it is a text, and leaves the others in their order.
fn take_text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    if !fields.get(key).is_some_and(Value::is_string) {
        return None;
    }
    match fields.shift_remove(key)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let rest = match self {
            Self::Text { text, extra } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                extra
            }
            Self::File(file) => {
                map.serialize_entry("type", "file")?;
                map.serialize_entry("mediaType", &file.media_type)?;
                if let Some(filename) = &file.filename {
                    map.serialize_entry("filename", filename)?;
                }
                map.serialize_entry("url", &file.url)?;
                &file.extra
            }
            Self::Data { name, fields } => {
                map.serialize_entry("type", &format_args!("data-{name}"))?;
                fields
            }
            Self::Other(whole) => whole,
        };
        for (key, value) in rest {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages as journals have them, byte for byte.
    const STORED: [&str; 4] = [
        r#"{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}"#,
        r#"{"role":"user","parts":[]}"#,
        r#"{"id":"u1","role":"user","metadata":{"z":1,"a":[null,1.5]},"parts":[{"type":"text","text":"","state":"done","providerMetadata":{"x":{}},"mood":{"b":1,"a":2}},{"type":"file","mediaType":"image/png","filename":"a.png","url":"data:,","providerReference":{"google":"files/1"},"shade":"blue"},{"type":"data-speech","id":"d","data":null,"z":1,"a":2},{"type":"hologram","depth":3,"a":{}},{"type":"tool-pay","toolCallId":"c","state":"output-available","input":{},"output":1}],"createdAt":"yesterday","a":1}"#,
        r#"{"id":"u1","role":"user","parts":[{"type":"text"},{"type":"file","mediaType":"a/b","url":"u","filename":1},{"kind":1},{"type":5}]}"#,
    ];

    #[test]
    fn what_is_not_read_is_written_as_it_came() {
        for stored in STORED {
            let message: Message = serde_json::from_str(stored).unwrap();
            assert_eq!(serde_json::to_string(&message).unwrap(), stored);
        }
    }

    #[test]
    fn what_turns_and_agents_read_is_typed() {
        let message: Message = serde_json::from_str(STORED[2]).unwrap();
        assert!(message.is_speech());
        assert_eq!(message.text(), "");
        let Part::File(file) = &message.parts[1] else {
            panic!("{:?} is no file", message.parts[1]);
        };
        assert_eq!(file.filename.as_deref(), Some("a.png"));
        assert_eq!(file.provider_reference("google"), Some("files/1"));
        assert_eq!(file.provider_reference("other"), None);
    }
}
