//! A chat that was evicted and read again: results of its tools count once, and nothing that runs is
//! given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use adk_stream_engine::{Context, EngineError, Later, ToolError, Tools, long_running, tool};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use turn::agent::{AgentEvent, HistoryItem, StepRequest};
use turn::call::Outcome;
use turn::event::Finish;
use turn::gate::Decision;
use turn::{Event, Status};

use crate::faulty::Faulty;
use crate::fixture::{self, Fixture, call, text};
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
async fn what_a_tool_said_before_it_was_dropped_is_ignored() {
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
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("book", json!({})), call("ask", json!({}))],
        _ => vec![text("Booked.")],
    });
    fixture.say("book").await;
    seat.knocked.notified().await;
    sure.knocked.notified().await;
    // Both say something at once. The first conflicts, the chat is evicted, and both are run again.
    fixture.intrude().await;
    seat.open();
    sure.open();
    fixture.until(Status::Parked).await;
    let records = |event: &Event| matches!(event, Event::CallRecorded { .. });
    let gates = |event: &Event| matches!(event, Event::GateOpened { .. });
    assert_eq!(fixture.count(records).await, 1);
    assert_eq!(fixture.count(gates).await, 1);
    fixture.answer_next(approved()).await;
    fixture.until(Status::Finished).await;
    assert_eq!(
        fixture.states().await,
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
    let fixture = Fixture::new(Tools::new().with(hurry), |_| vec![call("hurry", json!({}))]);
    fixture.say("hurry").await;
    fixture.until(Status::Parked).await;
    door.knocked.notified().await;
    door.open();
    door.knocked.notified().await;
    fixture.answer_next(approved()).await;
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
        Some(HistoryItem::Result { outcome, .. }) => match outcome {
            Outcome::Output { .. } => text("It is done."),
            _ => text("Nobody knows."),
        },
        Some(HistoryItem::Message(message)) if message.text() == "report" => {
            call("report", json!({}))
        }
        Some(HistoryItem::Message(_)) => text("Hello."),
        _ => text("It will take a while."),
    };
    vec![said]
}

#[tokio::test]
async fn long_running_call_that_goes_on_here_is_not_called_unknown() {
    let door = Door::new();
    let fixture = Fixture::new(report(&door), reporting);
    fixture.say("report").await;
    fixture.until_texts(&["It will take a while."]).await;
    door.knocked.notified().await;
    // The chat is evicted, and read again.
    fixture.intrude().await;
    fixture.say_as("user-2", "hello").await;
    fixture
        .until_texts(&["It will take a while.", "Hello."])
        .await;
    door.open();
    let all = ["It will take a while.", "Hello.", "It is done."];
    fixture.until_texts(&all).await;
}

#[tokio::test]
async fn result_that_could_not_be_stored_is_stored_when_it_can_be() {
    tokio::time::pause();
    let door = Door::new();
    let journal = Faulty::over(fixture::memory());
    let script = |request: &StepRequest| {
        let mut events = reporting(request);
        events.push(AgentEvent::Ended(Finish::Stop));
        events
    };
    let fixture = Fixture::over(report(&door), Arc::new(script), journal.clone());
    tokio::spawn(fixture.engine.clone().keep());
    fixture.say("report").await;
    fixture.until_texts(&["It will take a while."]).await;
    journal.fail_once();
    door.open();
    let is_result = |event: &Event| {
        use turn::event::Cause;
        let Event::TurnOpened { cause, .. } = event else {
            return false;
        };
        matches!(cause, Cause::Result { outcome, .. } if matches!(outcome, Outcome::Output { .. }))
    };
    fixture.until_event(is_result).await;
}

#[tokio::test]
async fn outcome_that_could_not_be_stored_is_stored_when_it_can_be() {
    tokio::time::pause();
    let journal = Faulty::over(fixture::memory());
    let runs = Arc::new(AtomicUsize::new(0));
    let door = Door::new();
    let (failing, counted) = (journal.clone(), runs.clone());
    let pay = tool("pay", "Pays", move |_: Context, _: Nothing| {
        counted.fetch_add(1, Ordering::SeqCst);
        // The money is gone, and that can't be stored: three times, as while a disk is full.
        failing.failures.store(3, Ordering::SeqCst);
        std::future::ready(Ok(json!({"paid": 20})))
    });
    let (before, counted) = (door.clone(), runs.clone());
    let book = tool("book", "Books", move |_: Context, _: Nothing| {
        counted.fetch_add(1, Ordering::SeqCst);
        let door = before.clone();
        async move {
            door.pass().await;
            Ok(json!({"seat": 7}))
        }
    });
    let script = |request: &StepRequest| match fixture::results(request) {
        0 => {
            let (book, pay) = (call("book", json!({})), call("pay", json!({})));
            vec![book, pay, AgentEvent::Ended(Finish::Stop)]
        }
        _ => vec![text("Done."), AgentEvent::Ended(Finish::Stop)],
    };
    let tools = Tools::new().with(pay).with(book);
    let fixture = Fixture::over(tools, Arc::new(script), journal.clone());
    tokio::spawn(fixture.engine.clone().keep());
    fixture.say("pay and book").await;
    let settled = |tool: &'static str| {
        move |event: &Event| {
            let Event::CallSettled { call, outcome, .. } = event else {
                return false;
            };
            let is_it = call.as_str().ends_with(tool);
            is_it && matches!(outcome, Outcome::Output { .. })
        }
    };
    fixture.until_event(settled("1")).await;
    // What ran beside it goes on.
    assert_eq!(journal.failures.load(Ordering::SeqCst), 0);
    door.open();
    fixture.until_event(settled("0")).await;
    fixture.until(Status::Finished).await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(
        fixture.states().await,
        ["output-available", "output-available"]
    );
}

#[tokio::test]
async fn outcome_that_comes_after_another_entry_is_not_called_unknown() {
    let (door, runs) = (Door::new(), Arc::new(AtomicUsize::new(0)));
    let (before, counted) = (door.clone(), runs.clone());
    let pay = tool("pay", "Pays", move |_: Context, _: Nothing| {
        counted.fetch_add(1, Ordering::SeqCst);
        let door = before.clone();
        async move {
            door.pass().await;
            Ok(json!({"paid": 20}))
        }
    });
    let fixture = Fixture::new(Tools::new().with(pay), |request| {
        match fixture::results(request) {
            0 => vec![call("pay", json!({}))],
            _ => vec![text("Paid.")],
        }
    });
    fixture.say("pay").await;
    door.knocked.notified().await;
    fixture.intrude().await;
    door.open();
    fixture.until(Status::Finished).await;
    assert_eq!(fixture.states().await, ["output-available"]);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn server_that_leaves_stores_what_it_could_not_before() {
    tokio::time::pause();
    let journal = Faulty::over(fixture::memory());
    let failing = journal.clone();
    let pay = tool("pay", "Pays", move |_: Context, _: Nothing| {
        failing.fail_once();
        std::future::ready(Ok(json!({"paid": 20})))
    });
    let script = |_: &StepRequest| {
        let pay = call("pay", json!({}));
        vec![pay, AgentEvent::Ended(Finish::Stop)]
    };
    let fixture = Fixture::over(Tools::new().with(pay), Arc::new(script), journal);
    fixture.say("pay").await;
    while fixture.engine.load().retries == 0 {
        tokio::task::yield_now().await;
    }
    tokio::spawn(fixture.engine.clone().keep());
    assert!(fixture.engine.drain(Duration::from_secs(60)).await.unwrap());
    let is_output = |event: &Event| {
        let Event::CallSettled { outcome, .. } = event else {
            return false;
        };
        matches!(outcome, Outcome::Output { .. })
    };
    assert_eq!(fixture.count(is_output).await, 1);
}

#[tokio::test]
async fn turn_that_the_store_failed_is_taken_up_by_the_only_server() {
    tokio::time::pause();
    let journal = Faulty::over(fixture::memory());
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
    let fixture = Fixture::over(Tools::new(), Arc::new(script), journal);
    tokio::spawn(fixture.engine.clone().keep());
    fixture.say("hi").await;
    fixture
        .until_event(|event| matches!(event, Event::TurnEnded { .. }))
        .await;
    assert_eq!(*tries.borrow(), 2);
}

#[tokio::test]
async fn gate_whose_timer_died_with_its_server_is_closed_by_the_next() {
    tokio::time::pause();
    let pay = tool("pay", "Pays", async |_: Context, _: Nothing| Ok(json!({})));
    let pay = pay.ask(|_| "Pay?".to_owned());
    let soon = pay.timeout(Duration::from_millis(1));
    let script = |request: &StepRequest| match fixture::results(request) {
        0 => vec![call("pay", json!({}))],
        _ => vec![text("Nobody answered.")],
    };
    let fixture = Fixture::new(Tools::new().with(soon), script);
    fixture.say("pay").await;
    let is_open = |event: &Event| matches!(event, Event::GateOpened { .. });
    fixture.until_event(is_open).await;
    let fixture = fixture.restarted();
    tokio::spawn(fixture.engine.clone().keep());
    let is_closed = |event: &Event| {
        let Event::GateClosed { decision, .. } = event else {
            return false;
        };
        *decision == Decision::TimedOut
    };
    fixture.until_event(is_closed).await;
}

#[tokio::test]
async fn answer_does_not_count_for_a_tool_that_asks_something_else_when_it_runs_again() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let pay = tool("pay", "Pays", move |context: Context, _: Nothing| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            // The first question stays the same, the second does not.
            context.approve("Look it up?").await?;
            context.approve(format!("Pay {run}?")).await?;
            Ok::<_, ToolError>(json!({"paid": run}))
        }
    });
    let fixture = Fixture::new(Tools::new().with(pay), |request| {
        match fixture::results(request) {
            0 => vec![call("pay", json!({}))],
            _ => vec![text("Paid.")],
        }
    });
    let question = async |fixture: &Fixture| {
        fixture.until(Status::Parked).await;
        let mut open = fixture.engine.approvals(&fixture.ann).await.unwrap();
        let open = open.pop().unwrap();
        let question = open.gate.kind.question().unwrap().to_owned();
        (question, open.gate.id)
    };
    let yes = async |fixture: &Fixture, gate| {
        let answer = fixture.engine.answer(&fixture.ann, &gate, approved());
        assert!(answer.await.unwrap().agrees);
    };
    fixture.say("pay").await;
    let (asked, gate) = question(&fixture).await;
    assert_eq!(asked, "Look it up?");
    yes(&fixture, gate).await;
    let gates = |event: &Event| matches!(event, Event::GateOpened { .. });
    fixture
        .until_event(|event| gates(event) && format!("{event:?}").contains("Pay 1?"))
        .await;
    let (asked, gate) = question(&fixture).await;
    assert_eq!(asked, "Pay 1?");

    // The process ends. The answer starts the tool again, which asks for another sum by now.
    let later = fixture.restarted();
    yes(&later, gate).await;
    later
        .until_event(|event| gates(event) && format!("{event:?}").contains("Pay 2?"))
        .await;
    let (asked, gate) = question(&later).await;
    assert_eq!(asked, "Pay 2?");
    assert_eq!(later.count(gates).await, 3);
    yes(&later, gate).await;
    later.until(Status::Finished).await;
    let paid = json!({"paid": 2});
    let is_paid = |event: &Event| {
        let is =
            |outcome: &Outcome| matches!(outcome, Outcome::Output { output } if *output == paid);
        matches!(event, Event::CallSettled { outcome, .. } if is(outcome))
    };
    assert_eq!(later.count(is_paid).await, 1);
}

#[tokio::test]
async fn entries_are_signed_by_who_acted() {
    let asks = tool("pay", "Pays", |context: Context, _: Nothing| async move {
        context
            .approve_within("Sure?", Duration::from_millis(1))
            .await?;
        Ok::<_, ToolError>(json!(1))
    });
    let tools = Tools::new().with(asks.ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("pay", json!({}))],
        _ => vec![text("Done.")],
    });
    fixture.say("pay").await;
    fixture.answer_next(approved()).await;
    let later = fixture.engine.clone();
    tokio::spawn(later.keep());
    fixture.until(Status::Finished).await;
    let entries = fixture.journal.read(&fixture.chat, 0).await.unwrap();
    let signed: Vec<_> = entries
        .iter()
        .map(|entry| (turn::index::kind(&entry.events), entry.actor.to_string()))
        .collect();
    let signed: Vec<_> = signed
        .iter()
        .map(|(k, a)| (k.as_str(), a.as_str()))
        .collect();
    assert_eq!(
        signed,
        [
            ("chat-opened,turn-opened", "ann"),
            ("step-ended,gate-opened", "@agent"),
            ("gate-closed,call-started", "ann"),
            ("gate-opened", "@tool/pay"),
            ("gate-closed", "@clock"),
            ("call-settled", "@tool/pay"),
            ("step-ended,turn-ended", "@agent"),
        ]
    );
}

/// A chat as its first entries say, over a journal in which nobody can append to it; and how often the
/// agent is asked.
async fn contested(kept: usize) -> (Fixture, Arc<AtomicUsize>) {
    let pay = || {
        tool("pay", "Pays", |_: Context, _: Nothing| async {
            Ok::<_, ToolError>(1)
        })
    };
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let fixture = Fixture::new(Tools::new().with(pay()), move |request| {
        counted.fetch_add(1, Ordering::SeqCst);
        match fixture::results(request) {
            0 => vec![call("pay", json!({}))],
            _ => vec![text("Paid.")],
        }
    });
    fixture.say("pay").await;
    fixture.until(Status::Finished).await;
    let entries = fixture.journal.read(&fixture.chat, 0).await.unwrap();
    let memory = fixture::memory();
    for entry in &entries[..kept] {
        let upto = entries.iter().take_while(|other| other.seq <= entry.seq);
        let entry = store::NewEntry {
            at: entry.at,
            epoch: 0,
            actor: entry.actor.clone(),
            events: entry.events.clone(),
            open: turn::Chat::replay(upto).open_turn(),
        };
        let seq = memory.read(&fixture.chat, 0).await.unwrap().len() as u64;
        let _ = memory.append(&fixture.chat, seq, entry).await.unwrap();
    }
    let journal = Faulty::contesting(memory, &fixture.chat);
    asked.store(0, Ordering::SeqCst);
    let later = Fixture::over(Tools::new().with(pay()), fixture.script.clone(), journal);
    (later, asked)
}

#[tokio::test]
async fn journal_that_keeps_conflicting_fails_one_chat_and_nothing_else() {
    // A call was started: the server that takes the chat up has something to write.
    let (mut fixture, _) = contested(2).await;
    fixture.engine.recover().await.unwrap();
    for _ in 0..3 {
        let refused = fixture.engine.view(&fixture.ann, &fixture.chat).await;
        assert!(matches!(refused, Err(EngineError::Conflict)), "{refused:?}");
    }
    let refused = fixture.engine.stop(&fixture.ann, &fixture.chat).await;
    assert!(matches!(refused, Err(EngineError::Conflict)));
    // Others are served.
    fixture.chat = "another".into();
    fixture.say("pay").await;
    fixture.until(Status::Finished).await;
}

/// What is logged in this thread, each event as one text.
#[derive(Clone, Default)]
struct Logged(Arc<std::sync::Mutex<Vec<String>>>);

impl tracing::Subscriber for Logged {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = event.metadata().level().to_string();
        event.record(
            &mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                text.push_str(&format!(" {field}={value:?}"));
            },
        );
        self.0.lock().unwrap().push(text);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn journal_that_keeps_conflicting_is_logged_with_its_chat() {
    let (fixture, _) = contested(2).await;
    let logged = Logged::default();
    let _guard = tracing::subscriber::set_default(logged.clone());
    fixture.engine.recover().await.unwrap();
    // Commands come one after the other: once this one is refused, the chat was given up before.
    let refused = fixture.engine.view(&fixture.ann, &fixture.chat).await;
    assert!(matches!(refused, Err(EngineError::Conflict)), "{refused:?}");
    let logged = logged.0.lock().unwrap();
    let is_it = |text: &&String| text.starts_with("ERROR") && text.contains("chat actor failed");
    let failed: Vec<_> = logged.iter().filter(is_it).collect();
    let [failed] = &failed[..] else {
        panic!("{logged:?}")
    };
    assert!(
        failed.contains(&format!("chat={}", fixture.chat)),
        "{failed}"
    );
}

#[tokio::test]
async fn agent_whose_words_can_not_be_written_down_is_not_asked_for_ever() {
    let (mut fixture, asked) = contested(1).await;
    fixture.engine.recover().await.unwrap();
    while asked.load(Ordering::SeqCst) < 16 {
        tokio::task::yield_now().await;
    }
    // By then the chat is given up, and others are served.
    for n in 0..5 {
        fixture.chat = format!("another-{n}").into();
        fixture.say("pay").await;
        fixture.until(Status::Finished).await;
    }
    assert_eq!(asked.load(Ordering::SeqCst), 16 + 10);
}
