//! Speech on a socket, in either dialect.
//!
//! A page that uses the AI SDK's frames sends a user message with a part `data-speech` as it sends
//! any other, and then names the chat in every frame of sound. Pages of the legacy bridge name none: opening
//! the microphone opens the turn.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::AudioInput;
use engine::Request;
use serde_json::json;
use turn::ChatId;
use turn::message::SPEECH;
use wire::legacy::AudioAction;
use wire::{Message, Part, Role, Trigger, part};

use super::frame_error::FrameError;
use super::legacy;
use super::socket::Socket;

/// What browsers give, and models take.
const SAMPLE_RATE: u32 = 16_000;

/// The microphone was opened or closed.
pub(super) async fn control(socket: &mut Socket, id: Option<String>, action: AudioAction) {
    let is_named = id.is_some();
    match action {
        AudioAction::Start => {
            if !socket.api.engine.supports_audio() {
                return refuse(socket, is_named, &engine::EngineError::AudioUnsupported).await;
            }
            let chat = legacy::chat(socket, id);
            socket.microphone = Some(chat.clone());
            if !is_named {
                legacy::send(socket, spoken(chat)).await;
            }
        }
        AudioAction::Stop => {
            push_audio(socket, id, Ok(AudioInput::End)).await;
            socket.microphone = None;
        }
    }
}

/// A message whose text is yet to be spoken.
fn spoken(chat: ChatId) -> Request {
    let speech = Part::Data(part::Data {
        name: SPEECH.to_owned(),
        data: json!({"sampleRate": SAMPLE_RATE}),
        ..part::Data::default()
    });
    let id = crate::random_id::random_id("message_");
    Request {
        chat,
        trigger: Trigger::SubmitMessage,
        message_id: None,
        messages: vec![Message::new(&id, Role::User, vec![speech])],
    }
}

/// Sound as it comes in binary frames.
pub(super) fn sound(pcm: Vec<u8>) -> AudioInput {
    let sample_rate = SAMPLE_RATE;
    AudioInput::Sound { pcm, sample_rate }
}

/// Sound as it comes in text.
pub(super) fn decode(
    chunk: &str,
    sample_rate: u64,
    channels: u64,
    bit_depth: u64,
) -> Result<AudioInput, &'static str> {
    if (channels, bit_depth) != (1, 16) {
        return Err("sound has one channel and 16 bits a sample");
    }
    let sample_rate = u32::try_from(sample_rate).ok();
    let sample_rate = sample_rate.filter(|rate| (8_000..=48_000).contains(rate));
    let sample_rate = sample_rate.ok_or("sound has 8000 to 48000 samples a second")?;
    let pcm = STANDARD.decode(chunk).map_err(|_| "sound is in base64")?;
    if pcm.len() % 2 == 1 {
        return Err("a sample has two bytes");
    }
    Ok(AudioInput::Sound { pcm, sample_rate })
}

/// Audio for the chat that is named, or for the one whose microphone is open.
pub(super) async fn push_audio(
    socket: &mut Socket,
    id: Option<String>,
    audio: Result<AudioInput, &'static str>,
) {
    let is_named = id.is_some();
    let chat = id.map(ChatId::from).or_else(|| socket.microphone.clone());
    let Some(chat) = chat else { return };
    match audio {
        Ok(audio) => {
            let engine = &socket.api.engine;
            if let Err(error) = engine.push_audio(&socket.principal, &chat, audio).await {
                refuse(socket, is_named, &error).await;
            }
        }
        Err(problem) if !is_named => {
            legacy::fail(socket, FrameError::bad_request(problem)).await;
        }
        Err(problem) => tracing::debug!(%chat, problem, "invalid audio frame"),
    }
}

/// Reports an error to the legacy bridge. The official client has no frame for it, and would fail all of
/// its requests.
async fn refuse(socket: &Socket, is_named: bool, error: &engine::EngineError) {
    match is_named {
        false => legacy::fail(socket, error).await,
        true => tracing::debug!(%error, "audio input refused"),
    }
}
