//! Sessions of an ADK server: reading them, and making them from the journal.

use std::time::Duration;

use reqwest::{Method, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use turn::agent::StepRequest;

use super::event::{MARK, Session};
use super::failure;
use super::server::{PAUSE, SHORT, Server, back_off, explanation, read};
use crate::gemini::Failure;

/// How often making a session is tried. When many chats begin at once ADK fails at it: each waits a few
/// seconds for the lock of the database, and then gives up.
const TRIES: usize = 5;

/// The result of making a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionCreation {
    /// It holds the history.
    Whole,
    /// It exists, without the history: the server takes none.
    Empty,
    /// There was one of its id. It may hold a part of the history only.
    Taken,
}

/// The server's response to making a session.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Receipt {
    id: Option<String>,
    events: Option<Vec<Value>>,
}

impl Server {
    /// What a session holds; nothing, if there is none.
    pub(super) async fn session(
        &self,
        user: &str,
        id: &str,
        time_limit: Duration,
    ) -> Result<Option<Session>, Failure> {
        let path = ["apps", self.app(), "users", user, "sessions", id];
        let Some(body) = self
            .get(&path, time_limit)
            .await
            .map_err(|()| failure::unreachable())?
        else {
            return Ok(None);
        };
        let session = serde_json::from_slice(&body);
        session
            .map(Some)
            .map_err(|_| failure::unreadable("a session is not as expected"))
    }

    /// Makes a session with a history, and with the state of one that it takes the place of.
    pub(super) async fn make_session(
        &self,
        request: &StepRequest,
        id: &str,
        events: Vec<Value>,
        mut state: Map<String, Value>,
    ) -> Result<SessionCreation, Failure> {
        self.detect_version().await;
        // State that is not the session's own exists by itself.
        state.retain(|key, _| !key.contains(':'));
        state.insert(MARK.to_owned(), json!({"chat": request.chat}));
        let sent = events.len();
        let body = json!({
            "sessionId": id,
            "state": state,
            "events": events,
        });
        let user = request.principal.as_str();
        let (mut wait, mut tries) = (PAUSE, 1);
        loop {
            let by_path = self.mode().names_by_path();
            let mut path = vec!["apps", self.app(), "users", user, "sessions"];
            path.extend(by_path.then_some(id));
            let response = self.send(Method::POST, &path, Some(&body), SHORT).await?;
            let (status, detail) = match response.status().as_u16() {
                200 | 201 => match self.receive(response, user, id, sent).await? {
                    Some(made) => return Ok(made),
                    None => continue,
                },
                _ => explanation(response).await,
            };
            match status {
                409 => return Ok(SessionCreation::Taken),
                // TypeScript, and Go.
                400 | 500 if detail.contains("already exists") => {
                    return Ok(SessionCreation::Taken);
                }
                500..=599 if tries < TRIES => {
                    tries += 1;
                    back_off(&mut wait).await;
                }
                _ => return Err(failure::of_status(status, &detail)),
            }
        }
    }

    /// The result; none, if it is not what was requested, and has to be requested in another way.
    async fn receive(
        &self,
        response: Response,
        user: &str,
        id: &str,
        sent: usize,
    ) -> Result<Option<SessionCreation>, Failure> {
        let body = read(response).await.unwrap_or_default();
        let made: Receipt = serde_json::from_slice(&body).unwrap_or_default();
        if let Some(stray) = made.id.filter(|made| made != id)
            && !self.mode().names_by_path()
        {
            self.mode().name_by_path();
            let path = ["apps", self.app(), "users", user, "sessions", &stray];
            if self.send(Method::DELETE, &path, None, SHORT).await.is_err() {
                tracing::warn!(session = stray, "could not delete an empty ADK session");
            }
            return Ok(None);
        }
        let kept = match made.events {
            Some(kept) => kept.len(),
            None if sent == 0 => 0,
            // A server may not say what it holds.
            None => {
                let session = self.session(user, id, SHORT).await?;
                session.map_or(0, |session| session.events.len())
            }
        };
        if kept >= sent {
            return Ok(Some(SessionCreation::Whole));
        }
        self.mode().drop_history();
        Ok(Some(SessionCreation::Empty))
    }
}
