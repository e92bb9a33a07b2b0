//! Chats with an ADK server, which runs its tools by itself.

use serde_json::{Value, json};

use super::{
    Draft, Phase, Plan, approve, begin, chat, deny, message, output, rest, say, until_journal,
};
use crate::golden::setup::Agent;

const PAY: &str = "Pay 5?";

pub(super) fn plan() -> Plan {
    let killed = killed();
    // All of them run, and are broken off.
    let aborted = killed.len();
    let servers = vec![Phase {
        arguments: &[],
        is_replica: false,
        holds_payments: false,
        chats: [waiting(), over(), killed].into_iter().flatten().collect(),
    }];
    Plan {
        agent: Agent::Adk,
        script: "",
        servers,
        aborted,
    }
}

impl Draft {
    /// How often the ADK server is asked something once the chat is opened again, and pays.
    fn adk(mut self, runs: usize, payments: usize) -> Self {
        self.end["adkRuns"] = runs.into();
        self.end["adkPayments"] = payments.into();
        self
    }
}

fn waiting() -> Vec<Draft> {
    let city = || output("where", json!({"city": "Tokyo"}));
    let done = |tool| [tool, "output-available", "done"];
    vec![
        chat(
            "confirmation-open",
            "an open confirmation of a call that ADK runs",
        )
        .acts([say("u1", "pay")])
        .then([approve(PAY)])
        .ends("finished", "Paid.", [["pay", "output-available", "paid"]])
        .adk(1, 1),
        chat("confirmation-open-to-be-denied", "the same, to be denied")
            .acts([say("u1", "pay")])
            .then([deny(PAY, "too much")])
            .ends("finished", "", [["pay", "output-denied", ""]]),
        chat(
            "confirmation-open-to-be-typed-over",
            "the same, to be superseded by a message",
        )
        .acts([say("u1", "hi"), say("u2", "pay")])
        .then([say("u3", "hi")])
        .ends("finished", "Hello.", []),
        chat(
            "confirmations-one-answered",
            "two confirmations of one step: one answered, one open",
        )
        .acts([say("u1", "two questions"), approve("Go left?"), rest()])
        .then([approve("Go right?")])
        .ends("finished", "All done.", [done("left"), done("right")]),
        chat(
            "confirmation-beside-an-open-call",
            "a page's call that ADK has left open beside a confirmation",
        )
        .acts([say("u1", "music beside a question")])
        .then([approve("Go on?"), output("music", json!({"track": 1}))])
        .ends(
            "finished",
            "All done.",
            [done("beside"), ["music", "output-available", "1"]],
        ),
        chat("page-call-open", "a long-running call that a page runs")
            .acts([say("u1", "music")])
            .then([output("music", json!({"track": 1}))])
            .ends("finished", "It says", [["music", "output-available", "1"]]),
        chat(
            "page-call-asked",
            "a long-running call that a person is asked about first",
        )
        .acts([say("u1", "where")])
        .then([approve("Tell where you are?"), city()])
        .ends(
            "finished",
            "Tokyo",
            [["where", "output-available", "Tokyo"]],
        ),
        chat(
            "page-call-approved",
            "the same, approved, with its output outstanding",
        )
        .acts([say("u1", "where"), approve("Tell where you are?"), rest()])
        .then([city()])
        .ends(
            "finished",
            "Tokyo",
            [["where", "output-available", "Tokyo"]],
        ),
        chat(
            "report-pending",
            "a long-running call that has given a first answer",
        )
        .acts([say("u1", "report")])
        .then([output("report", json!({"pages": 3}))])
        .ends(
            "finished",
            "It says",
            [
                ["report", "output-available", "pending"],
                ["report", "output-available", "3"],
            ],
        ),
    ]
}

fn over() -> Vec<Draft> {
    let hello = || [say("u9", "hi")];
    vec![
        chat("finished", "two turns in one session")
            .acts([say("u1", "hi"), say("u2", "hi again")])
            .then(hello())
            .ends("finished", "Hello.", []),
        chat(
            "finished-with-everything",
            "thoughts, data, another agent, usage",
        )
        .acts([say("u1", "everything")])
        .then(hello())
        .ends("finished", "Hello.", []),
        chat(
            "finished-confirmations",
            "two confirmations that were answered",
        )
        .acts([
            say("u1", "two questions"),
            approve("Go right?"),
            approve("Go left?"),
            until_journal("turn-ended"),
        ])
        .then(hello())
        .ends("finished", "Hello.", []),
        chat("finished-denied", "a confirmation that was denied")
            .acts([
                say("u1", "pay"),
                deny(PAY, "too much"),
                until_journal("turn-ended"),
            ])
            .then(hello())
            .ends("finished", "Hello.", []),
        chat(
            "regenerated",
            "an answer that was given again, in another session, and waits",
        )
        .acts([
            say("u1", "hi"),
            say("u2", "pay"),
            deny(PAY, "no"),
            until_journal("denied"),
            rest(),
            json!({"do": "regenerate", "message": message("u2", "pay")}),
        ])
        .then([approve(PAY)])
        .ends("finished", "Paid.", [["pay", "output-available", "paid"]])
        .adk(1, 1),
        chat("failed-tool", "a tool at ADK that raised")
            .acts([say("u1", "raise")])
            .ends("failed", "", [["weather", "output-error", ""]]),
        chat("failed-in-the-middle", "a run that broke off")
            .acts([say("u1", "break")])
            .then(hello())
            .ends("finished", "Hello.", []),
    ]
}

/// What runs when the server is killed.
fn killed() -> Vec<Draft> {
    let unknown = ["weather", "output-error", "unknown"];
    let ask = |ask: Value| {
        let body = json!({"call": "w1", "nth": 0, "ask": ask});
        json!({"do": "have the agent's tool ask", "body": body})
    };
    let question = || ask(json!({"approval": {"question": "Look out of the window?"}}));
    let weather = || begin("weather", "tool-input-available");
    vec![
        chat("killed-in-a-call", "a call at ADK that had begun")
            .acts([weather(), until_journal("\"w1\"")])
            .ends("finished", "I see.", [unknown])
            .killed(),
        chat(
            "killed-at-a-question",
            "a tool at ADK that asks in the middle of its work",
        )
        .acts([weather(), question(), until_journal("Look out of")])
        .ends("finished", "I see.", [unknown])
        .killed(),
        chat("killed-after-a-question", "the same after the answer")
            .acts([
                weather(),
                question(),
                approve("Look out of the window?"),
                until_journal("gate-closed"),
            ])
            .ends("finished", "I see.", [unknown])
            .killed(),
        chat(
            "killed-at-a-page-call",
            "a tool at ADK that has a page run something",
        )
        .acts([
            weather(),
            ask(json!({"clientCall": {"tool": "change_bgm", "input": {"track": 2}}})),
            until_journal("call-nested"),
        ])
        .ends(
            "finished",
            "I see.",
            [unknown, ["change_bgm", "output-error", ""]],
        )
        .killed(),
        chat(
            "killed-after-an-approval",
            "a call at ADK that was approved and had begun",
        )
        .acts([say("u1", "pay"), approve(PAY), until_journal("gate-closed")])
        .ends("finished", "I see.", [["pay", "output-error", "unknown"]])
        .adk(1, 0)
        .killed(),
        chat(
            "killed-with-all-said",
            "an answer that ADK has given whole, and whose run is not over",
        )
        .acts([begin("linger", "s all.")])
        .ends("finished", "That is all.", [])
        .adk(0, 0)
        .killed(),
    ]
}
