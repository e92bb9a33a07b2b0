//! An agent of your own behind any page built on `useChat`, with a model that streams words:
//! `cargo run -p adk-stream --example own_agent`.

use std::sync::Arc;

use adk_stream::Api;
use adk_stream::agents::{Agent, AgentStream};
use adk_stream::engine::{Engine, Tools};
use adk_stream::store::{self, Location};
use adk_stream::turn::agent::{AgentEvent, HistoryItem, StepRequest};
use adk_stream::turn::event::Finish;
use futures_util::{Stream, StreamExt, stream};

/// What your model is: here it repeats the question, word by word, and fails on an empty one.
fn model(prompt: &str) -> impl Stream<Item = Result<String, String>> + Send + use<> {
    let words: Vec<_> = prompt.split_inclusive(' ').map(str::to_owned).collect();
    let nothing = words
        .is_empty()
        .then(|| Err("nothing was asked".to_owned()));
    stream::iter(words.into_iter().map(Ok).chain(nothing))
}

/// The agent: it asks the model once a turn, and calls no tools.
pub(crate) struct Echo;

impl Agent for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let prompt = match request.history.last() {
            Some(HistoryItem::Message(message)) => message.text(),
            _ => String::new(),
        };
        let words = model(&prompt).map(|word| match word {
            Ok(delta) => AgentEvent::Text {
                delta,
                provider_metadata: None,
            },
            Err(message) => AgentEvent::Failed {
                code: "agent_failed",
                message,
                retry_after_ms: None,
            },
        });
        let end = stream::iter([AgentEvent::Ended(Finish::Stop)]);
        Box::pin(words.chain(end))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stores = store::open(Location::Memory).await?;
    let engine = Engine::builder(stores.journal, Arc::new(Echo), Tools::new())
        .start()
        .await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(Api::new(engine).serve(listener).await?)
}
