//! A chat whose owner can't be reached is read from its entries.

use std::sync::Arc;
use std::time::Duration;

use adk_stream_engine::{Dialect, Engine, EngineError, WindowStream};
use agents::{Agent, AgentStream};
use futures_util::{StreamExt, stream};
use serde_json::json;
use testkit::Checker;
use tokio::sync::watch;
use turn::agent::{AgentEvent, StepRequest};
use turn::event::Finish;
use turn::{Principal, Status};
use wire::assembler::Sdk;
use wire::{Chunk, Message, Part, Profile, Role};

use crate::fixture::{call, results, text};
use crate::replicas::Cluster;

/// Pays, with some words before; each step ends on a signal. The first asks for a tool that
/// there is not, so that another follows.
struct Patient {
    ended: watch::Receiver<usize>,
}

impl Agent for Patient {
    fn name(&self) -> &str {
        "patient"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let step = results(&request);
        let mut ended = self.ended.clone();
        let said = match step {
            0 => vec![text("One."), call("nothing", json!({}))],
            _ => vec![text("Two."), call("pay", json!({}))],
        };
        let end = stream::once(async move {
            // The test may be over.
            let _ = ended.wait_for(|ended| *ended > step).await;
            AgentEvent::Ended(Finish::Stop)
        });
        Box::pin(stream::iter(said).chain(end))
    }
}

struct Scene {
    cluster: Cluster,
    steps: watch::Sender<usize>,
    a: Engine,
    b: Engine,
}

const SPEECH: Dialect = Dialect::Sdk(Profile::Shared);

impl Scene {
    /// A turn at server A, in the middle of its step of this number. B does not reach A.
    async fn new(step: usize) -> Self {
        let (steps, ended) = watch::channel(step);
        let mut cluster = Cluster::new().await;
        cluster.lease = Duration::from_millis(400);
        cluster.agent = Arc::new(Patient { ended });
        let [a, b] = ["a", "b"].map(|name| cluster.server(name));
        let mut window = cluster.begin(&a).await;
        let words = ["One.", "Two."][step];
        let is_said = |chunk: &Arc<Chunk>| matches!(&**chunk, Chunk::TextDelta(text) if *text.delta == *words);
        while !window.next().await.unwrap().iter().any(is_said) {}
        let cut = cluster.cut("a");
        drop(cut);
        Self {
            cluster,
            steps,
            a,
            b,
        }
    }

    async fn resume(&self) -> WindowStream {
        let Cluster { ann, chat, .. } = &self.cluster;
        self.b.resume(ann, chat, SPEECH).await.unwrap().unwrap()
    }
}

async fn rest(window: &mut WindowStream) -> Vec<Arc<Chunk>> {
    let mut all = Vec::new();
    while let Some(chunks) = window.next().await {
        all.extend(chunks);
    }
    all
}

/// What a page that resumes has to complain about.
fn complaints(chunks: &[Arc<Chunk>]) -> Vec<testkit::checker::Finding> {
    let message = Message::new("u1", Role::User, vec![Part::text("pay")]);
    let mut checker = Checker::new(Sdk::V6).strict().holding(vec![message]);
    checker.resume();
    chunks.iter().for_each(|chunk| checker.feed(chunk));
    checker.close();
    checker.verdict()
}

#[tokio::test]
async fn window_follows_the_journal_until_the_turn_parks() {
    let scene = Scene::new(0).await;
    let mut window = scene.resume().await;
    let mut received = window.next().await.unwrap();
    assert!(
        matches!(&*received[0], Chunk::Start(_)) && received.len() == 1,
        "{received:?}"
    );
    scene.steps.send_replace(2);
    received.extend(rest(&mut window).await);
    assert_eq!(complaints(&received), []);
    let names: Vec<_> = received
        .iter()
        .map(|chunk| chunk.type_name().into_owned())
        .collect();
    assert!(
        names.iter().any(|name| name == "tool-approval-request"),
        "{names:?}"
    );
    assert_eq!(names.last().unwrap(), "finish", "{names:?}");
}

#[tokio::test]
async fn page_is_shown_what_is_known_and_only_to_its_owner() {
    let scene = Scene::new(1).await;
    let Cluster { ann, chat, .. } = &scene.cluster;
    let view = scene.b.view(ann, chat).await.unwrap();
    assert_eq!(view.status, Status::Running);
    assert_eq!(view.messages[1].text(), "One.");
    let eve = Principal::from("eve");
    let refused = scene.b.view(&eve, chat).await;
    assert!(matches!(refused, Err(EngineError::UnknownChat)));
    assert!(scene.b.resume(&eve, chat, SPEECH).await.unwrap().is_none());
}

#[tokio::test]
async fn window_that_has_sent_nothing_continues_with_the_owners_stream() {
    let scene = Scene::new(0).await;
    let mut window = scene.resume().await;
    let mut received = window.next().await.unwrap();
    scene.cluster.heal("a", scene.a.clone());
    // A's step has not ended, so this is not from the journal.
    while !received
        .iter()
        .any(|chunk| matches!(&**chunk, Chunk::TextDelta(_)))
    {
        received.extend(window.next().await.unwrap());
    }
    scene.steps.send_replace(2);
    received.extend(rest(&mut window).await);
    assert_eq!(complaints(&received), []);
}

#[tokio::test]
async fn window_that_has_sent_something_refers_its_client_to_the_owner() {
    let scene = Scene::new(1).await;
    let mut window = scene.resume().await;
    scene.cluster.heal("a", scene.a.clone());
    let received = rest(&mut window).await;
    let is_one =
        |chunk: &Arc<Chunk>| matches!(&**chunk, Chunk::TextDelta(text) if &*text.delta == "One.");
    assert!(received.iter().any(is_one), "{received:?}");
    let Some(Chunk::Error(error)) = received.last().map(|chunk| &**chunk) else {
        panic!("{received:?}")
    };
    assert!(error.error_text.starts_with("handed_over: "), "{error:?}");
    let mut window = scene.resume().await;
    scene.steps.send_replace(2);
    assert_eq!(complaints(&rest(&mut window).await), []);
}

#[tokio::test]
async fn turn_that_ended_without_a_window_is_read_from_the_journal() {
    let mut cluster = Cluster::new().await;
    cluster.lease = Duration::from_millis(400);
    let [a, b] = ["a", "b"].map(|name| cluster.server(name));
    cluster.say(&a).await;
    let Cluster { ann, chat, .. } = &cluster;
    let seen = a.view(ann, chat).await.unwrap().seq;
    assert!(cluster.approve(&a).await);
    cluster.until_finished(&a).await;
    drop(cluster.cut("a"));
    let resume = |after| b.resume_after(ann, chat, SPEECH, after);
    let received = rest(&mut resume(Some(seen)).await.unwrap().unwrap()).await;
    assert_eq!(complaints(&received), []);
    let is_paid =
        |chunk: &Arc<Chunk>| matches!(&**chunk, Chunk::TextDelta(text) if &*text.delta == "Paid.");
    assert!(received.iter().any(is_paid), "{received:?}");
    // A client that has seen its end gets nothing, and nobody else does.
    let end = a.view(ann, chat).await.unwrap().seq;
    assert!(resume(Some(end)).await.unwrap().is_none());
    assert!(resume(None).await.unwrap().is_none());
    let eve = Principal::from("eve");
    let foreign = b.resume_after(&eve, chat, SPEECH, Some(seen)).await;
    assert!(foreign.unwrap().is_none());
}
