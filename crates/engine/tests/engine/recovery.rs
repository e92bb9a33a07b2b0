//! A chat that was let go and read again: what its tools were doing is heard once, and nothing that
//! goes on is given up.

use std::sync::Arc;

use adk_stream_engine::{Context, Later, ToolError, Tools, long_running, tool};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use turn::agent::{AgentEvent, Past, StepRequest};
use turn::call::Outcome;
use turn::event::Finish;
use turn::gate::Decision;
use turn::{Event, Status};

use crate::faulty::Faulty;
use crate::house::{self, House, call, text};
use crate::{Nothing, approved};

/// A door that stays open once it is opened, and how many stand before it.
struct Door {
    is_open: watch::Sender<bool>,
    knocked: Notify,
}

impl Door {
    fn new() -> Arc<Self> {
        let (is_open, knocked) = (watch::Sender::new(false), Notify::new());
        Arc::new(Self { is_open, knocked })
    }

    async fn pass(&self) {
        self.knocked.notify_one();
        let mut opened = self.is_open.subscribe();
        opened.wait_for(|is_open| *is_open).await.unwrap();
    }

    fn open(&self) {
        self.is_open.send_replace(true);
    }
}

#[tokio::test]
async fn what_a_tool_said_before_it_was_let_go_is_not_heard() {
    let (seat, sure) = (Door::new(), Door::new());
    let (before_seat, before_sure) = (seat.clone(), sure.clone());
    let book = tool("book", "Books", move |context: Context, _: Nothing| {
        let door = before_seat.clone();
        async move {
            door.pass().await;
            context.once("seat", async { Ok(7) }).await
        }
    });
    let ask = tool("ask", "Asks", move |context: Context, _: Nothing| {
        let door = before_sure.clone();
        async move {
            door.pass().await;
            context.approve("Sure?").await?;
            Ok::<_, ToolError>(json!("sure"))
        }
    });
    let tools = Tools::new().with(book.idempotent()).with(ask.idempotent());
    let house = House::new(tools, |request| match house::results(request) {
        0 => vec![call("book", json!({})), call("ask", json!({}))],
        _ => vec![text("Booked.")],
    });
    house.say("book").await;
    seat.knocked.notified().await;
    sure.knocked.notified().await;
    // Both say something at once. The first conflicts, the chat is let go, and both are run again.
    house.intrude().await;
    seat.open();
    sure.open();
    house.until(Status::Parked).await;
    let records = |event: &Event| matches!(event, Event::CallRecorded { .. });
    let gates = |event: &Event| matches!(event, Event::GateOpened { .. });
    assert_eq!(house.count(records).await, 1);
    assert_eq!(house.count(gates).await, 1);
    house.answer_next(approved()).await;
    house.until(Status::Finished).await;
    assert_eq!(
        house.states().await,
        ["output-available", "output-available"]
    );
}

#[tokio::test]
async fn answer_to_a_question_that_a_tool_gave_up_does_not_run_it_again() {
    let (door, runs) = (Door::new(), watch::Sender::new(0));
    let (gate, counted) = (door.clone(), runs.clone());
    let hurry = tool("hurry", "Hurries", move |context: Context, _: Nothing| {
        let door = gate.clone();
        counted.send_modify(|runs| *runs += 1);
        async move {
            // Asks, and does not wait for the answer.
            let mut asking = Box::pin(context.approve("Wait?"));
            tokio::select! {
                biased;
                _ = &mut asking => {}
                () = door.pass() => {}
            }
            drop(asking);
            door.knocked.notify_one();
            std::future::pending::<()>().await;
            Ok(Value::Null)
        }
    });
    let house = House::new(Tools::new().with(hurry), |_| vec![call("hurry", json!({}))]);
    house.say("hurry").await;
    house.until(Status::Parked).await;
    door.knocked.notified().await;
    door.open();
    door.knocked.notified().await;
    house.answer_next(approved()).await;
    assert_eq!(*runs.borrow(), 1);
}

fn report(door: &Arc<Door>) -> Tools {
    let door = door.clone();
    let report = long_running("report", "Writes", move |_: Context, _: Nothing| {
        let door = door.clone();
        Later {
            pending: json!({"status": "pending"}),
            work: async move {
                door.pass().await;
                Ok(json!({"report": "done"}))
            },
        }
    });
    Tools::new().with(report)
}

fn reporting(request: &StepRequest) -> Vec<AgentEvent> {
    let said = match request.history.last() {
        Some(Past::Result { outcome, .. }) => match outcome {
            Outcome::Output { .. } => text("It is done."),
            _ => text("Nobody knows."),
        },
        Some(Past::Message(message)) if message.text() == "report" => call("report", json!({})),
        Some(Past::Message(_)) => text("Hello."),
        _ => text("It will take a while."),
    };
    vec![said]
}

#[tokio::test]
async fn long_running_call_that_goes_on_here_is_not_called_unknown() {
    let door = Door::new();
    let house = House::new(report(&door), reporting);
    house.say("report").await;
    house.until_texts(&["It will take a while."]).await;
    door.knocked.notified().await;
    // The chat is let go, and read again.
    house.intrude().await;
    house.say_as("user-2", "hello").await;
    house
        .until_texts(&["It will take a while.", "Hello."])
        .await;
    door.open();
    let all = ["It will take a while.", "Hello.", "It is done."];
    house.until_texts(&all).await;
}

#[tokio::test]
async fn result_that_could_not_be_stored_is_stored_when_it_can_be() {
    tokio::time::pause();
    let door = Door::new();
    let journal = Faulty::over(house::memory());
    let script = |request: &StepRequest| {
        let mut events = reporting(request);
        events.push(AgentEvent::Ended(Finish::Stop));
        events
    };
    let house = House::over(report(&door), Arc::new(script), journal.clone());
    tokio::spawn(house.engine.clone().keep());
    house.say("report").await;
    house.until_texts(&["It will take a while."]).await;
    journal.fail_once();
    door.open();
    let is_result = |event: &Event| {
        use turn::event::Cause;
        let Event::TurnOpened { cause, .. } = event else {
            return false;
        };
        matches!(cause, Cause::Result { outcome, .. } if matches!(outcome, Outcome::Output { .. }))
    };
    house.until_event(is_result).await;
}

#[tokio::test]
async fn turn_that_the_store_failed_is_taken_up_by_the_only_server() {
    tokio::time::pause();
    let journal = Faulty::over(house::memory());
    let failing = journal.clone();
    // The step is said, and can't be stored.
    let script = move |request: &StepRequest| {
        if request.history.len() == 1 {
            failing.fail_once();
        }
        vec![text("Here."), AgentEvent::Ended(Finish::Stop)]
    };
    let tries = watch::Sender::new(0);
    let counted = tries.clone();
    let script = move |request: &StepRequest| {
        counted.send_modify(|tries| *tries += 1);
        match *counted.borrow() {
            1 => script(request),
            _ => vec![text("Here."), AgentEvent::Ended(Finish::Stop)],
        }
    };
    let house = House::over(Tools::new(), Arc::new(script), journal);
    tokio::spawn(house.engine.clone().keep());
    house.say("hi").await;
    house
        .until_event(|event| matches!(event, Event::TurnEnded { .. }))
        .await;
    assert_eq!(*tries.borrow(), 2);
}

#[tokio::test]
async fn gate_whose_timer_died_with_its_server_is_closed_by_the_next() {
    tokio::time::pause();
    let pay = tool("pay", "Pays", async |_: Context, _: Nothing| Ok(json!({})));
    let pay = pay.ask(|_| "Pay?".to_owned());
    let soon = pay.timeout(std::time::Duration::from_millis(1));
    let script = |request: &StepRequest| match house::results(request) {
        0 => vec![call("pay", json!({}))],
        _ => vec![text("Nobody answered.")],
    };
    let house = House::new(Tools::new().with(soon), script);
    house.say("pay").await;
    house.until(Status::Parked).await;
    let house = house.restarted();
    tokio::spawn(house.engine.clone().keep());
    let is_closed = |event: &Event| {
        let Event::GateClosed { decision, .. } = event else {
            return false;
        };
        *decision == Decision::TimedOut
    };
    house.until_event(is_closed).await;
}
