//! How an emulator behaves.

use std::sync::Arc;
use std::time::Duration;

use demo::Demo;

use crate::responder::Responder;
use crate::script::Script;
use crate::signature::Signatures;

/// How live frames are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Frames {
    /// As binary frames that hold JSON, as Google does.
    #[default]
    Binary,
    /// As text frames.
    Text,
}

/// Which keys are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Every key but `bad`.
    Any,
    /// These.
    Only(Vec<String>),
}

impl Keys {
    /// Whether a key is taken.
    pub(crate) fn take(&self, key: Option<&str>) -> bool {
        let Some(key) = key.filter(|key| !key.is_empty()) else {
            return false;
        };
        match self {
            Self::Any => key != "bad",
            Self::Only(keys) => keys.iter().any(|known| known == key),
        }
    }
}

/// How an emulator behaves.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) keys: Keys,
    pub(crate) responder: Responder,
    pub(crate) frames: Frames,
    pub(crate) signatures: Signatures,
    /// Whether calls have ids in generateContent; in Live they always have.
    pub(crate) call_ids: bool,
    pub(crate) script: Script,
    /// How long a live connection lasts.
    pub(crate) lifetime: Duration,
}

impl Options {
    /// The demo, with this pause between its words.
    pub(crate) fn demo(pace: Duration) -> Responder {
        Responder {
            parallel: Arc::new(Demo::new().with_pace(pace)),
            one_by_one: Arc::new(Demo::live().with_pace(pace)),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            keys: Keys::Any,
            responder: Self::demo(Duration::ZERO),
            frames: Frames::default(),
            signatures: Signatures::default(),
            call_ids: true,
            script: Script::default(),
            lifetime: Duration::from_secs(600),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_key_is_taken_but_a_bad_one() {
        assert!(Keys::Any.take(Some("x")));
        for key in [None, Some(""), Some("bad")] {
            assert!(!Keys::Any.take(key));
        }
        let only = Keys::Only(vec!["bad".to_owned()]);
        assert!(only.take(Some("bad")));
        assert!(!only.take(Some("x")));
    }
}
