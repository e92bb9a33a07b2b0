//! adk-stream behind an agent that says what the load asks for, as a user of the library builds it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use adk_stream::agents::{Agent, AgentStream};
use adk_stream::engine::{Context, Engine, ToolError, Tools, Verdict, tool};
use adk_stream::store::{self, Location};
use adk_stream::turn::agent::{AgentEvent, HistoryItem, StepRequest};
use adk_stream::turn::event::Finish;
use adk_stream::{Api, ConnectionLimits, QuotaLimits, Quotas};
use axum::extract::State;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use futures_util::{Stream, StreamExt, stream};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Interval;

/// What every delta says: eight bytes.
pub const DELTA: &str = "8 bytes ";

/// How long a model takes for a delta, where it speaks at its own pace.
pub const PACE: Duration = Duration::from_millis(20);

/// An agent whose last message is its script: `deltas N`, `parts N`, `pay` or `wait`. It streams `paced N`
/// at the pace of a model, and `watched N` at that pace after `POST /bench/go`.
struct Script {
    /// Changes with each `POST /bench/go`.
    go: watch::Receiver<u64>,
}

impl Agent for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let Some(HistoryItem::Message(message)) = request.history.last() else {
            return said([text("Done.".to_owned())]);
        };
        let order = message.text();
        let (verb, number) = order.split_once(' ').unwrap_or((&order, ""));
        let number = number.parse().unwrap_or(0);
        match verb {
            "deltas" => said((0..number).map(|_| text(DELTA.to_owned()))),
            "parts" => {
                let parts = (0..number).flat_map(|_| [text(DELTA.to_owned()), AgentEvent::PartEnd]);
                said(parts.chain([call()]))
            }
            "pay" => said([call()]),
            "paced" => paced(number, None),
            "watched" => paced(number, Some(self.go.clone())),
            _ => {
                let mut go = self.go.clone();
                go.mark_unchanged();
                Box::pin(stream::unfold(0, move |step| {
                    let mut go = go.clone();
                    async move {
                        match step {
                            0 => {
                                let _ = go.changed().await;
                                Some((text(DELTA.to_owned()), 1))
                            }
                            1 => Some((AgentEvent::Ended(Finish::Stop), 2)),
                            _ => None,
                        }
                    }
                }))
            }
        }
    }
}

/// Deltas at the pace of a model, each when it is due, also where earlier ones were late.
fn paced(count: usize, go: Option<watch::Receiver<u64>>) -> AgentStream {
    let ticks = ticks(count, go).map(|()| text(DELTA.to_owned()));
    Box::pin(ticks.chain(stream::iter([AgentEvent::Ended(Finish::Stop)])))
}

/// `count` ticks at the pace of a model, after the signal if there is one.
pub(crate) fn ticks(count: usize, mut go: Option<watch::Receiver<u64>>) -> impl Stream<Item = ()> {
    let interval: Option<Interval> = None;
    if let Some(go) = &mut go {
        go.mark_unchanged();
    }
    stream::unfold((interval, go), async |(interval, go)| {
        let mut interval = match interval {
            Some(interval) => interval,
            None => {
                if let Some(mut go) = go {
                    let _ = go.changed().await;
                }
                tokio::time::interval(PACE)
            }
        };
        interval.tick().await;
        Some(((), (Some(interval), None)))
    })
    .take(count)
}

fn said(events: impl IntoIterator<Item = AgentEvent, IntoIter: Send + 'static>) -> AgentStream {
    let end = [AgentEvent::Ended(Finish::Stop)];
    Box::pin(stream::iter(events.into_iter().chain(end)))
}

fn text(delta: String) -> AgentEvent {
    AgentEvent::Text {
        delta,
        provider_metadata: None,
    }
}

fn call() -> AgentEvent {
    AgentEvent::Call {
        provider_id: None,
        tool: "pay".to_owned(),
        input: serde_json::json!({"cents": 100}),
        provider_metadata: None,
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Payment {
    cents: u64,
}

/// When each call was started, in nanoseconds since 1970.
type Started = Arc<Mutex<HashMap<String, u64>>>;

/// Now, as the load reads it too.
pub fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

/// The API, with quotas that are asked as always and never reached: one principal is all the load.
fn api(engine: Engine) -> Api {
    let much = NonZeroU32::new(1_000_000);
    let limits = QuotaLimits {
        open_chats: much,
        open_approvals: much,
        requests_in_flight: much,
        event_streams: much,
        requests_per_second: much,
        body_bytes_per_second: NonZeroU32::new(u32::MAX),
    };
    let api = Api::new(engine);
    let quotas = Quotas::new(limits, api.limits.bytes);
    Api { quotas, ..api }
}

/// Serves adk-stream over a store, until it fails.
pub async fn serve(
    location: Location,
    listener: TcpListener,
) -> Result<(), Box<dyn std::error::Error>> {
    let started = Started::default();
    let starts = started.clone();
    let pay = tool("pay", "Pays.", move |context: Context, payment: Payment| {
        let at = now();
        let mut started = starts.lock().unwrap_or_else(PoisonError::into_inner);
        started.insert(context.call().to_string(), at);
        async move { Ok::<_, ToolError>(serde_json::json!({"paid": payment.cents})) }
    })
    .policy(|payment, _| Verdict::Ask {
        question: format!("Pay {} cents?", payment.cents),
    });
    let (tell, go) = watch::channel(0);
    let stores = store::open(location).await?;
    let agent = Arc::new(Script { go });
    let engine = Engine::builder(stores.journal, agent, Tools::new().with(pay));
    let engine = engine.start().await?;
    let own = Router::new()
        .route("/bench/go", post(go_on).with_state(Arc::new(tell)))
        .route("/bench/started", get(all_started).with_state(started));
    let router = api(engine).router().merge(own);
    println!("listening on http://{}", listener.local_addr()?);
    let limits = ConnectionLimits::default();
    Ok(adk_stream::serve(listener, router, limits, std::future::pending()).await?)
}

async fn go_on(State(tell): State<Arc<watch::Sender<u64>>>) {
    tell.send_modify(|count| *count += 1);
}

async fn all_started(State(started): State<Started>) -> Json<HashMap<String, u64>> {
    let started = started.lock().unwrap_or_else(PoisonError::into_inner);
    Json(started.clone())
}

/// Serves routes by axum alone: what is small leaves at once, as from the product.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
) -> Result<(), Box<dyn std::error::Error>> {
    println!("listening on http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
