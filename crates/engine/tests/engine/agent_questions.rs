//! Data that an agent asks for, about a call that it runs by itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use adk_stream_engine::{Engine, EngineError, Tools};
use agents::{Agent, AgentStream};
use serde_json::{Value, json};
use turn::agent::{AgentEvent, Asking, StepRequest};
use turn::call::{Outcome, Place};
use turn::event::{End, Finish};
use turn::gate::Decision;
use turn::{At, Event, Status};

use crate::fixture::{Fixture, text};

/// Makes a call of its own and asks about it; once it is asked again, it says what it was sent.
#[derive(Clone)]
struct Asker {
    asking: Asking,
    answers: Arc<Mutex<Vec<Option<Decision>>>>,
}

impl Asker {
    fn new(schema: Value) -> Self {
        Self {
            asking: Asking {
                question: "For how many?".to_owned(),
                token: Some(json!("i1")),
                schema: Some(schema),
                expires: None,
            },
            answers: Arc::default(),
        }
    }
}

impl Agent for Asker {
    fn name(&self) -> &str {
        "asker"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let provider_id = "fc-1".to_owned();
        let asked = request.own.iter().find_map(|own| own.asked.clone());
        let events = match asked {
            None => vec![
                AgentEvent::OwnCall {
                    provider_id: provider_id.clone(),
                    tool: "book".to_owned(),
                    input: json!({}),
                    provider_metadata: None,
                    place: Place::Agent,
                    asks: None,
                },
                AgentEvent::Ended(Finish::Stop),
                AgentEvent::Asks {
                    provider_id,
                    asking: self.asking.clone(),
                },
            ],
            Some(asked) => {
                self.answers.lock().unwrap().push(asked.decision);
                let output = json!("booked");
                vec![
                    AgentEvent::Settled {
                        provider_id,
                        outcome: Outcome::Output { output },
                    },
                    text("Booked."),
                    AgentEvent::Ended(Finish::Stop),
                ]
            }
        };
        Box::pin(ScriptedStream(events.into()))
    }
}

/// Events; then nothing, for ever.
struct ScriptedStream(VecDeque<AgentEvent>);

impl futures_core::Stream for ScriptedStream {
    type Item = AgentEvent;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> Poll<Option<AgentEvent>> {
        let next = self.0.pop_front();
        next.map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"people": {"type": "integer", "minimum": 1}},
        "required": ["people"],
    })
}

fn served(agent: &Asker, timeout: Option<Duration>) -> Fixture {
    let mut fixture = Fixture::new(Tools::new(), |_| Vec::new());
    let journal = fixture.journal.clone();
    let builder = Engine::builder(journal, Arc::new(agent.clone()), Tools::new());
    fixture.engine = builder.approval_timeout(timeout).build();
    fixture
}

#[tokio::test]
async fn answer_is_checked_and_reaches_the_agent_once() {
    let agent = Asker::new(schema());
    let fixture = served(&agent, None);
    fixture.say("book").await;
    fixture.until(Status::Parked).await;
    let open = fixture.engine.approvals(&fixture.ann).await.unwrap();
    let [open] = &open[..] else {
        panic!("{open:?}")
    };
    let answer = async |output| {
        let decision = Decision::Output { output };
        let answered = fixture.engine.answer(&fixture.ann, &open.gate.id, decision);
        answered.await
    };
    let wrong = answer(json!({"people": 0, "pets": 1})).await;
    let Err(EngineError::InvalidAnswer(errors)) = wrong else {
        panic!("{wrong:?}")
    };
    let mut paths: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/people", "/pets"]);
    assert!(answer(json!({"people": 4})).await.unwrap().agrees);
    fixture.until(Status::Finished).await;
    assert!(!answer(json!({"people": 5})).await.unwrap().agrees);
    let output = json!({"people": 4});
    let answers = agent.answers.lock().unwrap().clone();
    assert_eq!(answers, [Some(Decision::Output { output })]);
}

#[tokio::test]
async fn schema_that_nobody_can_be_asked_by_fails_the_turn_and_the_call_did_not_run() {
    for schema in [
        json!({"type": "nonsense"}),
        json!({"$ref": "https://elsewhere.example/schema.json"}),
        json!(7),
    ] {
        let agent = Asker::new(schema);
        let fixture = served(&agent, None);
        fixture.say("book").await;
        fixture.until(Status::Failed).await;
        fixture
            .until_event(|event| match event {
                Event::TurnEnded {
                    end: End::Failed { code, .. },
                    ..
                } => code == "agent_question_unsupported",
                _ => false,
            })
            .await;
        let did_not_run = fixture.count(|event| match event {
            Event::CallSettled {
                outcome: Outcome::Error { error },
                ..
            } => error.starts_with("It did not run: "),
            _ => false,
        });
        assert_eq!(did_not_run.await, 1);
        let gates = fixture.count(|event| matches!(event, Event::GateOpened { .. }));
        assert_eq!(gates.await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn question_expires_by_the_shorter_of_both_limits() {
    let never = At(u64::MAX / 2);
    for (expires, timeout) in [
        // It is over already.
        (Some(At(1)), None),
        (Some(At(1)), Some(Duration::from_secs(3600))),
        (Some(never), Some(Duration::from_secs(60))),
    ] {
        let mut agent = Asker::new(schema());
        agent.asking.expires = expires;
        let fixture = served(&agent, timeout);
        fixture.say("book").await;
        let is_closed = |event: &Event| {
            matches!(
                event,
                Event::GateClosed {
                    decision: Decision::TimedOut,
                    ..
                }
            )
        };
        fixture.until_event(is_closed).await;
        fixture.until(Status::Finished).await;
        let answers = agent.answers.lock().unwrap().clone();
        assert_eq!(answers, [Some(Decision::TimedOut)]);
    }
}
