//! What a tool asks that the agent runs by itself.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use adk_stream_engine::Question;
use adk_stream_engine::{Ask, Engine, Tools};
use agents::{Agent, AgentStream};
use serde_json::json;
use turn::agent::{AgentEvent, StepRequest};
use turn::call::Place;
use turn::event::Finish;
use turn::gate::Decision;

use crate::fixture::Fixture;

/// Runs a call by itself, and says nothing of it.
struct Busy;

impl Agent for Busy {
    fn name(&self) -> &str {
        "busy"
    }

    fn step(&self, _: StepRequest) -> AgentStream {
        Box::pin(ScriptedStream(vec![
            AgentEvent::Ended(Finish::Stop),
            AgentEvent::OwnCall {
                provider_id: "fc-1".to_owned(),
                tool: "pay".to_owned(),
                input: json!({}),
                provider_metadata: None,
                place: Place::Agent,
                asks: None,
            },
        ]))
    }
}

/// Events, the last first; then nothing, for ever.
struct ScriptedStream(Vec<AgentEvent>);

impl futures_core::Stream for ScriptedStream {
    type Item = AgentEvent;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> Poll<Option<AgentEvent>> {
        self.0
            .pop()
            .map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}

#[tokio::test]
async fn answer_does_not_count_for_another_question_under_the_same_number() {
    let mut fixture = Fixture::new(Tools::new(), |_| Vec::new());
    let journal = fixture.journal.clone();
    fixture.engine = Engine::builder(journal, Arc::new(Busy), Tools::new()).build();
    fixture.say("pay").await;
    let ask = async |question: &str| {
        let question = Question {
            call: "fc-1".to_owned(),
            nth: 0,
            ask: Ask::Approval {
                question: question.to_owned(),
                timeout: None,
            },
        };
        let asked = fixture.engine.ask_for_agent(&fixture.chat, question, WAIT);
        asked.await.unwrap()
    };
    let yes = Decision::Approved {
        reason: None,
        input: None,
    };
    let answer = async || {
        loop {
            let open = fixture.engine.approvals(&fixture.ann).await.unwrap();
            if let [open] = &open[..] {
                let answered = fixture
                    .engine
                    .answer(&fixture.ann, &open.gate.id, yes.clone());
                assert!(answered.await.unwrap().agrees);
                return open.gate.kind.question().unwrap().to_owned();
            }
            tokio::task::yield_now().await;
        }
    };
    let (decided, asked) = tokio::join!(ask("Pay 5?"), answer());
    assert_eq!((decided, asked.as_str()), (Some(yes.clone()), "Pay 5?"));
    // The same question again is answered; another is asked.
    assert_eq!(ask("Pay 5?").await, Some(yes.clone()));
    let (decided, asked) = tokio::join!(ask("Pay 500?"), answer());
    assert_eq!((decided, asked.as_str()), (Some(yes.clone()), "Pay 500?"));
}

/// Longer than any machine takes.
const WAIT: Duration = Duration::from_secs(60);
