//! What an operator may say of Gemini Live.

use turn::agent::Behavior;

use crate::gemini;

/// Google's name for the newest model with native audio.
pub const DEFAULT_MODEL: &str = "gemini-2.5-flash-native-audio-latest";

/// The model, the key, and the form of its answers.
#[derive(Debug, Clone)]
pub struct Config {
    /// What it has in common with the other API: key, address, model, temperature and so on. Live
    /// has no safety settings of its own.
    pub common: gemini::Config,
    /// In what to answer.
    pub modality: Modality,
    /// With which voice.
    pub voice: Option<String>,
    /// Whether the model waits for calls, whatever their tools say.
    pub behavior: Option<Behavior>,
}

impl Config {
    /// The default live model with this key, with audio output.
    pub fn new(key: gemini::Key) -> Self {
        let common = gemini::Config {
            model: DEFAULT_MODEL.to_owned(),
            thinking: None,
            ..gemini::Config::new(key)
        };
        Self {
            common,
            modality: Modality::Audio,
            voice: None,
            behavior: None,
        }
    }
}

/// In what to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modality {
    /// In sound, with a transcript.
    #[default]
    Audio,
    /// In text. Models with native audio can't.
    Text,
}

impl std::str::FromStr for Modality {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "audio" => Ok(Self::Audio),
            "text" => Ok(Self::Text),
            _ => Err(format!("`{text}` is neither audio nor text")),
        }
    }
}
