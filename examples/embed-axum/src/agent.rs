//! An agent in forty lines. It answers "refund 25 for order 7" with a call, and then reports the outcome.

use adk_stream::agents::{Agent, AgentStream};
use adk_stream::turn::agent::{AgentEvent, HistoryItem, StepRequest};
use adk_stream::turn::event::Finish;
use futures_util::stream;
use serde_json::json;

pub struct ShopAgent;

impl Agent for ShopAgent {
    fn name(&self) -> &str {
        "shop"
    }

    /// One step: what to say, given all that was said before. When a step makes calls, the engine has
    /// them approved and run, and asks for the next step with their results at the end of the history.
    fn step(&self, request: StepRequest) -> AgentStream {
        let answer = match request.history.last() {
            Some(HistoryItem::Message(message)) => answer(&message.text()),
            Some(HistoryItem::Step { results, .. }) => {
                let outcomes = results.iter().map(|result| &result.outcome);
                say(format!(
                    "The result: {}",
                    json!(outcomes.collect::<Vec<_>>())
                ))
            }
            _ => say("There is nothing to answer.".to_owned()),
        };
        Box::pin(stream::iter([answer, AgentEvent::Ended(Finish::Stop)]))
    }
}

fn answer(text: &str) -> AgentEvent {
    let words: Vec<_> = text.split_whitespace().collect();
    let ["refund", amount, "for", "order", order] = words[..] else {
        return say("Say: refund AMOUNT for order NUMBER.".to_owned());
    };
    AgentEvent::Call {
        provider_id: None,
        tool: "refund".to_owned(),
        // Whether the numbers are numbers is checked against the tool's schema.
        input: json!({"amount": amount.parse::<f64>().ok(), "order": order.parse::<u32>().ok()}),
        provider_metadata: None,
    }
}

fn say(delta: String) -> AgentEvent {
    AgentEvent::Text {
        delta,
        provider_metadata: None,
    }
}
