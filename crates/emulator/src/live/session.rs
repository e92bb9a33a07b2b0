//! A socket from its setup to its end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::WebSocket;
use gemini::Content;
use gemini::live::{ServerMessage, Setup, SetupComplete};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::time::Instant;

use super::answer::{Answer, Next};
use super::conversation::Conversation;
use super::session_config::SessionConfig;
use super::session_end::SessionEnd;
use super::speech_detector::SpeechDetector;
use super::wire::Wire;
use crate::command::Command;
use crate::core::{Core, Exchange};
use crate::script::{GoAway, Moment};
use crate::{models, validation};

/// How long before its end a connection gets `goAway`.
const WARNING: Duration = Duration::from_secs(60);

/// A live session on its socket.
pub(super) struct Session {
    pub(super) core: Arc<Core>,
    pub(super) config: SessionConfig,
    pub(super) conversation: Conversation,
    /// The system's instruction, for what it counts.
    pub(super) system: Option<Content>,
    pub(super) speaking: Option<Answer>,
    /// Whether the client is still sending the history, which is not answered.
    pub(super) takes_history: bool,
    /// Whether the model answers again when the current answer is complete.
    pub(super) speaks_next: bool,
    /// Input that came while the model could not be interrupted.
    pub(super) queued: VecDeque<Content>,
    pub(super) speech: SpeechDetector,
    /// Whether sound came since the client marked the start of speech.
    pub(super) activity: Option<bool>,
    pub(super) alarms: Alarms,
    wire: Wire,
}

/// When something is due.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    pub(super) go_away: Option<(Instant, Duration)>,
    pub(super) close: Option<Instant>,
    pub(super) cancel: Option<Instant>,
}

/// What is due.
enum Alarm {
    GoAway(Duration),
    Close,
    Cancel,
}

/// Runs a socket to its end.
pub(super) async fn run(
    core: &Arc<Core>,
    exchange: &Exchange,
    socket: WebSocket,
    version: &str,
    is_admitted: bool,
) {
    let mut wire = Wire::new(socket, exchange, core.options.frames);
    let mut closing = core.closing.clone();
    let commands = core.commands.subscribe();
    let set_up = tokio::select! {
        set_up = Session::set_up(core, &mut wire, version, is_admitted) => set_up,
        () = closing.requested() => Err(SessionEnd::close(1001, "The emulator ends.")),
    };
    let end = match set_up {
        Ok((setup, conversation, go_away)) => {
            let mut session = Session::new(core, wire, &setup, conversation);
            let end = session.converse(commands, go_away).await;
            wire = session.wire;
            end
        }
        Err(end) => end,
    };
    wire.end(end).await;
}

impl Session {
    /// Reads and checks the setup.
    async fn set_up(
        core: &Core,
        wire: &mut Wire,
        version: &str,
        is_admitted: bool,
    ) -> Result<(Setup, Conversation, Option<GoAway>), SessionEnd> {
        let message = wire.receive().await?;
        if !is_admitted {
            return Err(SessionEnd::key());
        }
        let Some(setup) = message.setup else {
            return Err(SessionEnd::invalid(
                "setup must be the first message and only the first message",
            ));
        };
        let rule = core
            .playbook
            .follow(Moment::Connect, setup.model.as_deref().unwrap_or_default());
        if let Some(delay) = rule.delay_ms {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if rule.cut.is_some() {
            return Err(SessionEnd::Cut);
        }
        if let Some(close) = rule.close {
            return Err(SessionEnd::close(close.code, close.reason));
        }
        check(&setup, version)?;
        let handle = setup.session_resumption.as_ref();
        let handle = handle.and_then(|resumption| resumption.handle.as_deref());
        let conversation = match handle.filter(|handle| !handle.is_empty()) {
            None => Conversation::default(),
            Some(handle) => core
                .handles
                .find(handle)
                .filter(|_| !rule.refuse_handle)
                .ok_or_else(|| SessionEnd::close(1008, "BidiGenerateContent session not found"))?,
        };
        match rule.respond {
            Some(frames) => {
                for frame in frames {
                    wire.send(frame).await?;
                }
            }
            None => {
                let complete = SetupComplete {
                    session_id: Some(core.name("session")),
                    ..SetupComplete::default()
                };
                let complete = ServerMessage {
                    setup_complete: Some(complete),
                    ..ServerMessage::default()
                };
                wire.send(json!(complete)).await?;
            }
        }
        Ok((setup, conversation, rule.go_away))
    }

    fn new(core: &Arc<Core>, wire: Wire, setup: &Setup, conversation: Conversation) -> Self {
        let config = SessionConfig::new(setup);
        let lifetime = core.options.lifetime;
        let warning = WARNING.min(lifetime / 2);
        let now = Instant::now();
        Self {
            core: core.clone(),
            speech: SpeechDetector::new(config.silence_ms),
            takes_history: config.takes_history,
            config,
            conversation,
            system: setup.system_instruction.clone(),
            speaking: None,
            speaks_next: false,
            queued: VecDeque::new(),
            activity: None,
            alarms: Alarms {
                go_away: now.checked_add(lifetime - warning).map(|at| (at, warning)),
                close: now.checked_add(lifetime),
                cancel: None,
            },
            wire,
        }
    }

    /// The conversation, until it ends.
    async fn converse(
        &mut self,
        mut commands: broadcast::Receiver<Command>,
        go_away: Option<GoAway>,
    ) -> SessionEnd {
        let mut closing = self.core.closing.clone();
        if let Err(end) = self.begin(go_away).await {
            return end;
        }
        loop {
            let done = tokio::select! {
                biased;
                () = closing.requested() => Err(SessionEnd::close(1001, "The emulator ends.")),
                command = commands.recv() => match command {
                    Ok(command) => self.command(command).await,
                    Err(_) => Ok(()),
                },
                message = self.wire.receive() => match message {
                    Ok(message) => self.take_in(message).await,
                    Err(end) => Err(end),
                },
                alarm = ring(&self.alarms) => self.alarm(alarm).await,
                next = next(&mut self.speaking, &self.config) => self.speak(next).await,
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn begin(&mut self, go_away: Option<GoAway>) -> Result<(), SessionEnd> {
        self.give_handle().await?;
        match go_away {
            Some(go_away) => self.warn(go_away).await,
            None => Ok(()),
        }
    }

    async fn command(&mut self, command: Command) -> Result<(), SessionEnd> {
        match command {
            Command::GoAway(go_away) => self.warn(go_away).await,
            Command::Close(close) => Err(SessionEnd::close(close.code, close.reason)),
            Command::Cut {} => Err(SessionEnd::Cut),
            Command::Interrupt {} => self.interrupt().await,
            Command::CancelCalls {} => self.cancel(false).await,
        }
    }

    async fn alarm(&mut self, alarm: Alarm) -> Result<(), SessionEnd> {
        match alarm {
            Alarm::GoAway(time_left) => {
                self.alarms.go_away = None;
                self.wire.go_away(time_left).await
            }
            Alarm::Close => Err(SessionEnd::close(1008, "The operation was aborted.")),
            Alarm::Cancel => {
                self.alarms.cancel = None;
                self.cancel(false).await
            }
        }
    }

    /// Announces that the connection will be closed, and schedules the close, if there is one.
    pub(super) async fn warn(&mut self, go_away: GoAway) -> Result<(), SessionEnd> {
        if let Some(wait) = go_away.close_after_ms {
            self.alarms.close = Some(Instant::now() + Duration::from_millis(wait));
        }
        let time_left = Duration::from_secs(go_away.time_left_seconds);
        self.wire.go_away(time_left).await
    }

    pub(super) async fn send(&mut self, message: ServerMessage) -> Result<(), SessionEnd> {
        self.wire.send(json!(message)).await
    }

    pub(super) async fn send_frame(&mut self, frame: Value) -> Result<(), SessionEnd> {
        self.wire.send(frame).await
    }
}

/// Refuses a setup that Google would refuse.
fn check(setup: &Setup, version: &str) -> Result<(), SessionEnd> {
    let model = setup.model.as_deref().unwrap_or_default();
    let name = model.strip_prefix("models/").unwrap_or(model);
    if !models::exists(name) {
        return Err(SessionEnd::no_model(name, version));
    }
    let config = setup.generation_config.as_ref();
    let modalities = config.map_or(&[][..], |config| &config.response_modalities);
    if modalities.len() > 1 {
        return Err(SessionEnd::invalid(
            "At most one response modality can be specified in the setup request.",
        ));
    }
    if let Some(stranger) = modalities
        .iter()
        .find(|it| !["TEXT", "AUDIO"].contains(&it.as_str()))
    {
        return Err(SessionEnd::invalid(format!(
            "The response modality {stranger} is not supported."
        )));
    }
    validation::check_tools(&setup.tools).map_err(|refusal| SessionEnd::refused(&refusal))
}

/// The next piece of the answer; pending while there is none.
async fn next(speaking: &mut Option<Answer>, config: &SessionConfig) -> Next {
    match speaking {
        Some(speaking) => speaking.next(config).await,
        None => std::future::pending().await,
    }
}

/// Waits until something is due.
async fn ring(alarms: &Alarms) -> Alarm {
    let go_away = alarms.go_away.map(|(at, left)| (at, Alarm::GoAway(left)));
    let close = alarms.close.map(|at| (at, Alarm::Close));
    let cancel = alarms.cancel.map(|at| (at, Alarm::Cancel));
    let due = [cancel, go_away, close].into_iter().flatten();
    match due.min_by_key(|(at, _)| *at) {
        Some((at, alarm)) => {
            tokio::time::sleep_until(at).await;
            alarm
        }
        None => std::future::pending().await,
    }
}
