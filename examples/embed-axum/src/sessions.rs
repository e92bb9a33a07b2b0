//! Who is signed in: a table of users and one of sessions, as an application has them.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use adk_stream::turn::Principal;
use adk_stream::{Identity, Unidentified};
use axum::Form;
use axum::extract::State;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};

/// The users of the shop. A real one keeps them in a database, with passwords.
const USERS: [&str; 2] = ["ann", "ben"];

/// Session ids, each with the name of its user.
#[derive(Clone, Default)]
pub struct Sessions(Arc<RwLock<HashMap<String, String>>>);

impl Identity for Sessions {
    async fn identify(&self, request: &Parts) -> Result<Principal, Unidentified> {
        let cookies = request.headers.get(COOKIE).and_then(|it| it.to_str().ok());
        let session = cookies
            .unwrap_or_default()
            .split("; ")
            .find_map(|cookie| cookie.strip_prefix("session="));
        let sessions = self.0.read().map_err(|_| Unidentified::unavailable())?;
        let user = session.and_then(|session| sessions.get(session));
        match user {
            Some(user) => Ok(Principal::from(user.as_str())),
            None => Err(Unidentified::unauthorized()),
        }
    }
}

#[derive(serde::Deserialize)]
pub struct SignIn {
    name: String,
}

pub async fn sign_in(
    State(Sessions(sessions)): State<Sessions>,
    Form(SignIn { name }): Form<SignIn>,
) -> Result<[(HeaderName, String); 1], StatusCode> {
    if !USERS.contains(&name.as_str()) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    let session = uuid::Uuid::new_v4().to_string();
    let cookie = format!("session={session}; HttpOnly; SameSite=Strict; Path=/");
    let mut sessions = sessions
        .write()
        .map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    sessions.insert(session, name);
    Ok([(SET_COOKIE, cookie)])
}
