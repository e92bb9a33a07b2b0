//! The routes of an ADK server.

use std::time::Duration;

use gemini::Content;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, Url};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};
use turn::TraceContext;
use turn::agent::StepRequest;

use super::agents::Agents;
use super::config::Config;
use super::event::MARK;
use super::failure;
use super::mode::Mode;
use super::note;
use super::stream::Run;
use crate::error::Error;
use crate::gemini::{Failure, base_url, chance, is_loopback};
use crate::tls;

/// How long a server may take to be connected to.
const CONNECT: Duration = Duration::from_secs(5);

/// How long it may take to begin an answer.
const FIRST_BYTE: Duration = Duration::from_secs(60);

/// How long an unreachable server is waited for when a message is new.
pub(super) const SHORT: Duration = Duration::from_secs(5);

/// The same when the server waits for an answer: it may be about to restart.
pub(super) const LONG: Duration = Duration::from_secs(30);

/// How long the first pause between two tries is.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// How much of an answer is read that is no stream.
const BYTES: usize = 64 * 1024 * 1024;

/// The field of a run that not every server takes.
const METADATA: &str = "customMetadata";

/// How much is read of a refusal that is no JSON.
const DETAIL: usize = 300;

/// An app of an ADK server.
#[derive(Debug)]
pub(super) struct Server {
    client: Client,
    base: Url,
    app: String,
    mode: Mode,
    /// Whether its version was requested.
    detected: OnceCell<()>,
    /// The agents of the app, once the server has described them.
    agents: OnceCell<Agents>,
}

impl Server {
    pub(super) fn new(config: Config) -> Result<Self, Error> {
        let base = base_url(&config.url)?;
        if config.app.is_empty() || config.app.contains(['/', '?', '#']) {
            return Err(Error::App(config.app));
        }
        let headers = headers(&config)?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config()?)
            .user_agent(concat!("adk-stream/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            // ADK hangs up on a connection that is idle for five seconds. What is sent over it at that
            // moment is lost, and whether it was received is unknown.
            .pool_max_idle_per_host(0)
            // A tool may be silent for hours: this is how a server that is gone is noticed.
            .tcp_keepalive(Duration::from_secs(15))
            .tcp_nodelay(true);
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        let failed = |error: reqwest::Error| Error::Client(error.without_url().to_string());
        Ok(Self {
            client: builder.build().map_err(failed)?,
            base,
            app: config.app,
            mode: Mode::default(),
            detected: OnceCell::new(),
            agents: OnceCell::new(),
        })
    }

    pub(super) fn app(&self) -> &str {
        &self.app
    }

    /// In what it differs, as far as it is known.
    pub(super) fn mode(&self) -> &Mode {
        &self.mode
    }

    /// Asks it once what it is.
    pub(super) async fn detect_version(&self) {
        let detected = self.detected.get_or_try_init(|| async {
            let version = self.get(&["version"], SHORT).await?;
            let version = version.and_then(|body| serde_json::from_slice(&body).ok());
            self.mode.detect_version(version.as_ref());
            self.find_agents().await;
            Ok::<_, ()>(())
        });
        // Where the request fails it is repeated; until then the server counts as the newest version.
        let _ = detected.await;
    }

    /// Whether the server has the app, as far as it reports.
    pub(super) async fn has_app(&self) -> bool {
        let apps = self.get(&["list-apps"], SHORT).await;
        let apps = apps.ok().flatten().unwrap_or_default();
        let apps: Result<Vec<String>, _> = serde_json::from_slice(&apps);
        apps.map_or(true, |apps| apps.contains(&self.app))
    }

    /// The name of the app's first agent, if the server reports it.
    pub(super) async fn root(&self) -> Option<String> {
        self.find_agents().await?.root.clone()
    }

    /// The agents of the app, as far as they are known by now.
    pub(super) fn agents(&self) -> Agents {
        let known = self.agents.get().cloned();
        known.unwrap_or_else(|| Agents::of_app(&self.app))
    }

    /// Requests the agents of the app, until the server has described them or has refused to.
    async fn find_agents(&self) -> Option<&Agents> {
        let found = self.agents.get_or_try_init(|| async {
            let path = ["apps", &self.app, "app-info"];
            let response = self.send(Method::GET, &path, None, SHORT).await;
            let response = response.map_err(drop)?;
            match response.status().as_u16() {
                200 => {
                    let body = read(response).await.unwrap_or_default();
                    let info: Value = serde_json::from_slice(&body).map_err(drop)?;
                    Ok(Agents::of_info(&self.app, &info))
                }
                // So it answers for an app whose first agent has no model: a sequence, a loop.
                400 => Ok(Agents::of_app(&self.app)),
                _ => Err(()),
            }
        });
        found.await.ok()
    }

    /// Runs the agent for a step; nothing, if the session is not there.
    pub(super) async fn run(
        &self,
        request: &StepRequest,
        session: &str,
        message: &Content,
        time_limit: Duration,
    ) -> Result<Option<Run>, Failure> {
        let mark = note::mark(request);
        self.run_marked(request, mark, session, message, time_limit)
            .await
    }

    /// Runs the agent with what marks its events.
    pub(super) async fn run_marked(
        &self,
        request: &StepRequest,
        mark: Value,
        session: &str,
        message: &Content,
        time_limit: Duration,
    ) -> Result<Option<Run>, Failure> {
        self.detect_version().await;
        let mark = json!({MARK: mark});
        let mut body = json!({
            "appName": self.app,
            "userId": request.principal,
            "sessionId": session,
            "newMessage": message,
            "streaming": true,
            // Not every server keeps metadata of a message; all keep what it does to the state.
            "stateDelta": mark,
        });
        if !self.mode.refuses_metadata() {
            body[METADATA] = mark;
        }
        loop {
            let response = self
                .send_traced(
                    Method::POST,
                    &["run_sse"],
                    Some(&body),
                    time_limit,
                    request.trace.as_ref(),
                )
                .await?;
            if response.status().as_u16() == 200 {
                let kind = response.headers().get(CONTENT_TYPE);
                let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
                return match kind.starts_with("text/event-stream") {
                    true => Ok(Some(Run::new(response))),
                    false => Err(failure::unreadable("it is no stream")),
                };
            }
            let (status, detail) = explanation(response).await;
            let fields = body.as_object_mut();
            let is_about_metadata = status == 400 && detail.contains(METADATA);
            if is_about_metadata && fields.is_some_and(|body| body.remove(METADATA).is_some()) {
                // It was refused before it had any effect.
                self.mode.refuse_metadata();
                continue;
            }
            return match status == 404 && is_session_absent(&detail) {
                true => Ok(None),
                false => Err(failure::of_status(status, &detail)),
            };
        }
    }

    /// The resource at a path; none, if there is none.
    pub(super) async fn get(
        &self,
        path: &[&str],
        time_limit: Duration,
    ) -> Result<Option<Vec<u8>>, ()> {
        let response = self.send(Method::GET, path, None, time_limit).await;
        let response = response.map_err(drop)?;
        match response.status().as_u16() {
            200 => read(response).await.map(Some).ok_or(()),
            404 => Ok(None),
            _ => {
                let (status, detail) = explanation(response).await;
                // So Go answers for a session that it does not have.
                match status == 500 && is_session_absent(&detail) {
                    true => Ok(None),
                    false => Err(()),
                }
            }
        }
    }

    /// Sends a request, again only while no connection was made.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
        time_limit: Duration,
    ) -> Result<Response, Failure> {
        self.send_traced(method, path, body, time_limit, None).await
    }

    /// The same from within a span.
    async fn send_traced(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
        time_limit: Duration,
        trace: Option<&TraceContext>,
    ) -> Result<Response, Failure> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let mut wait = PAUSE;
        let until = Instant::now() + time_limit;
        loop {
            let mut request = self.client.request(method.clone(), url.clone());
            request = request.header(ACCEPT, "text/event-stream, application/json");
            for (name, value) in trace.iter().flat_map(|trace| trace.headers()) {
                request = request.header(name, value);
            }
            if let Some(body) = body {
                request = request
                    .header(CONTENT_TYPE, "application/json")
                    .body(body.to_string());
            }
            match timeout(FIRST_BYTE, request.send()).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) if error.is_connect() && Instant::now() < until => {
                    back_off(&mut wait).await;
                }
                Ok(Err(error)) => {
                    let is_undelivered = error.is_connect();
                    let error = error.without_url();
                    tracing::warn!(?error, "ADK request failed");
                    return Err(match is_undelivered {
                        true => failure::unreachable(),
                        false => failure::cut_off(),
                    });
                }
                Err(_) => return Err(failure::timed_out()),
            }
        }
    }
}

/// Waits, longer each time, and not just as long as everybody else.
pub(super) async fn back_off(wait: &mut Duration) {
    sleep(wait.mul_f64(0.5 + chance() / 2.0)).await;
    *wait = (*wait * 2).min(Duration::from_secs(2));
}

/// Headers for a proxy in front of the server.
pub(super) fn headers(config: &Config) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let name = HeaderName::try_from(name).map_err(|_| Error::Header)?;
        let mut value = HeaderValue::try_from(value).map_err(|_| Error::Header)?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Why it refuses, for the user and for the log.
pub(super) async fn explanation(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body = read(response).await.unwrap_or_default();
    let detail = match serde_json::from_slice::<Value>(&body) {
        // Python uses `detail`, the others `error`.
        Ok(body) => match body.get("detail").or(body.get("error")) {
            Some(Value::String(detail)) => detail.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        },
        Err(_) if body.starts_with(b"<") => String::new(),
        Err(_) => String::from_utf8_lossy(&body)
            .chars()
            .take(DETAIL)
            .collect(),
    };
    tracing::warn!(status, detail, "ADK request refused");
    (status, detail)
}

/// Whether a server refuses because it does not have the session. Go says so of its database in other
/// words than the rest: `database error while fetching session: record not found`.
fn is_session_absent(detail: &str) -> bool {
    let detail = detail.to_lowercase();
    detail.contains("session") && detail.contains("not found")
}

pub(super) async fn read(mut response: Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = timeout(FIRST_BYTE, response.chunk()).await.ok()?.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > BYTES {
            return None;
        }
    }
    Some(body)
}
