//! How many tokens something is: an estimate that always counts alike.

use gemini::{Blob, Content, Data, ModalityTokenCount, Part};

/// What Google counts for an image.
const IMAGE: u64 = 258;

/// Tokens, by what they are of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) text: u64,
    pub(crate) image: u64,
    pub(crate) audio: u64,
}

impl Tokens {
    /// What contents count.
    pub(crate) fn of<'c>(contents: impl IntoIterator<Item = &'c Content>) -> Self {
        let mut tokens = Self::default();
        let parts = contents.into_iter().flat_map(|content| &content.parts);
        parts.for_each(|part| tokens.add(part));
        tokens
    }

    pub(crate) fn total(self) -> u64 {
        self.text + self.image + self.audio
    }

    fn add(&mut self, part: &Part) {
        match &part.data {
            Data::Text(text) => self.text += of_text(text),
            Data::FunctionCall(call) => {
                let args = serde_json::to_string(&call.args).unwrap_or_default();
                self.text += of_text(call.name.as_deref().unwrap_or_default()) + of_text(&args);
            }
            Data::FunctionResponse(response) => {
                let brought = serde_json::to_string(&response.response).unwrap_or_default();
                self.text += of_text(&brought);
            }
            Data::InlineData(blob) if is_audio(blob) => {
                // Google counts 32 a second; base64 of 16 kHz, two bytes each, is 42,667 characters.
                let data = blob.data.as_ref().map_or(0, String::len);
                self.audio += (data as u64).div_ceil(1_333);
            }
            Data::InlineData(_) | Data::FileData(_) => self.image += IMAGE,
            _ => {}
        }
    }

    /// The counts by modality, in Google's form.
    pub(crate) fn details(self) -> Vec<ModalityTokenCount> {
        let modalities = [
            ("TEXT", self.text),
            ("IMAGE", self.image),
            ("AUDIO", self.audio),
        ];
        let counted = modalities.into_iter().filter(|(_, count)| *count > 0);
        let counted = counted.map(|(modality, count)| ModalityTokenCount {
            modality: Some(modality.to_owned()),
            token_count: Some(count),
            ..ModalityTokenCount::default()
        });
        counted.collect()
    }
}

/// About four letters a token.
pub(crate) fn of_text(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

fn is_audio(blob: &Blob) -> bool {
    let kind = blob.mime_type.as_deref().unwrap_or_default();
    kind.starts_with("audio/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_by_modality() {
        let image = Data::InlineData(Blob::new("image/png", "AAAA"));
        let content = Content::user(vec![Part::text("eight ch"), image.into()]);
        let tokens = Tokens::of([&content]);
        assert_eq!((tokens.text, tokens.image, tokens.total()), (2, 258, 260));
        let details = serde_json::to_string(&tokens.details()).unwrap();
        assert_eq!(
            details,
            r#"[{"modality":"TEXT","tokenCount":2},{"modality":"IMAGE","tokenCount":258}]"#
        );
    }
}
