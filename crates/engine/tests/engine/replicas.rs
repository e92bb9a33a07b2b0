//! Several servers over one journal: what lands elsewhere is carried to the owner, what a server left
//! is taken up by another, and a tool runs once whatever happens.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adk_stream_engine::Request;
use adk_stream_engine::command::{Command, Reply};
use adk_stream_engine::replica::{NotForwarded, Peers, Replica};
use adk_stream_engine::{
    Batch, Context, Dialect, Engine, EngineError, Fence, Tools, WindowStream, tool,
};
use agents::{Agent, AgentStream};
use futures_util::StreamExt;
use serde_json::{Value, json};
use store::{Holder, Journal, Location};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use turn::agent::{AgentEvent, HistoryItem, StepRequest};
use turn::event::Finish;
use turn::gate::Decision;
use turn::{ChatId, Event, Principal, Status};
use wire::{Message, Part, Profile, Role, Trigger};

use crate::fixture::{call, text};

/// Pays once, and then says so.
struct Payer;

impl Agent for Payer {
    fn name(&self) -> &str {
        "payer"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let has_paid = matches!(request.history.last(), Some(HistoryItem::Step { .. }));
        let said = match has_paid {
            true => text("Paid."),
            false => call("pay", json!({})),
        };
        let events = vec![said, AgentEvent::Ended(Finish::Stop)];
        Box::pin(futures_util::stream::iter(events))
    }
}

/// Servers in this process, by their addresses.
#[derive(Default)]
pub(crate) struct Network {
    servers: Mutex<HashMap<String, Engine>>,
    /// Those that take commands and answer nothing, and send nothing of windows.
    frozen: Arc<Mutex<HashSet<String>>>,
    /// How many commands were sent to frozen servers.
    unanswered: AtomicUsize,
}

/// How long a frozen server is waited for by the way to it.
const SILENCE: Duration = Duration::from_secs(20);

impl Peers for Network {
    fn forward<'a>(
        &'a self,
        address: &'a str,
        command: &'a Command,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, NotForwarded>> + Send + 'a>> {
        let peer = self.servers.lock().unwrap().get(address).cloned();
        let is_frozen = self.frozen.lock().unwrap().contains(address);
        // As it travels.
        let command: Command = serde_json::from_value(json!(command)).unwrap();
        Box::pin(async move {
            if is_frozen {
                self.unanswered.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(SILENCE).await;
                return Err(NotForwarded::Silent);
            }
            let peer = peer.ok_or(NotForwarded::Nowhere)?;
            match peer.run_here(command).await {
                Ok(Reply::Window(Some(window))) => {
                    let (frozen, address) = (self.frozen.clone(), address.to_owned());
                    Ok(Reply::Window(Some(passed_on(window, frozen, address))))
                }
                Ok(reply) => Ok(reply),
                Err(EngineError::Elsewhere(_) | EngineError::Closed) => Err(NotForwarded::Nowhere),
                Err(error) => Err(NotForwarded::Refused(error)),
            }
        })
    }

    fn compare<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(std::future::ready(()))
    }
}

/// A window as it comes from another server, with signs of life, for as long as that is not frozen.
fn passed_on(
    mut window: WindowStream,
    frozen: Arc<Mutex<HashSet<String>>>,
    address: String,
) -> WindowStream {
    let (sender, batches) = mpsc::channel(16);
    let (message_id, turn) = (window.message_id().to_owned(), window.turn().cloned());
    tokio::spawn(async move {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(1), window.next_batch());
            let batch = match next.await {
                Ok(None) => return,
                Ok(Some(batch)) => batch,
                Err(_) => Batch::default(),
            };
            if frozen.lock().unwrap().contains(&address) {
                tokio::time::sleep(SILENCE).await;
                return;
            }
            if sender.send(batch).await.is_err() {
                return;
            }
        }
    });
    WindowStream::elsewhere(message_id, batches).of_turn(turn)
}

pub(crate) struct Cluster {
    network: Arc<Network>,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) journal: Arc<dyn Journal>,
    paid: Arc<AtomicUsize>,
    /// Under which claims the tool was run, and which were raised by takeovers.
    runs: watch::Sender<Vec<Fence>>,
    raised: Arc<Mutex<Vec<Fence>>>,
    /// Whether the tool never comes to its end.
    is_stuck: bool,
    keeps: Mutex<HashMap<String, AbortHandle>>,
    pub(crate) lease: Duration,
    /// How far the clocks of servers that are started next are ahead.
    pub(crate) clock_ahead: Duration,
    /// How long somebody has to answer.
    pub(crate) timeout: Option<Duration>,
    pub(crate) ann: Principal,
    pub(crate) chat: ChatId,
}

/// Longer than any test lasts.
const LONG: Duration = Duration::from_secs(3600);

impl Cluster {
    pub(crate) async fn new() -> Self {
        Self {
            agent: Arc::new(Payer),
            lease: LONG,
            clock_ahead: Duration::ZERO,
            timeout: None,
            keeps: Mutex::default(),
            network: Arc::default(),
            journal: store::open(Location::Memory).await.unwrap().journal,
            paid: Arc::default(),
            runs: watch::Sender::default(),
            raised: Arc::default(),
            is_stuck: false,
            ann: Principal::from("ann"),
            chat: ChatId::from("chat-1"),
        }
    }

    /// One more server.
    pub(crate) fn server(&self, name: &str) -> Engine {
        let (paid, runs, is_stuck) = (self.paid.clone(), self.runs.clone(), self.is_stuck);
        let pay = tool("pay", "Pays", move |context: Context, _: Value| {
            let paid = paid.clone();
            runs.send_modify(|runs| runs.push(context.fence().clone()));
            async move {
                if is_stuck {
                    std::future::pending::<()>().await;
                }
                Ok(paid.fetch_add(1, Ordering::SeqCst))
            }
        });
        let raised = self.raised.clone();
        let pay = pay.on_takeover(move |fence| {
            raised.lock().unwrap().push(fence);
            async { Ok(()) }
        });
        let tools = Tools::new().with(pay.ask(|_| "Pay?".to_owned()).timeout(self.timeout));
        let holder = Holder {
            owner: name.to_owned(),
            address: format!("{name}.example"),
        };
        let engine = Engine::builder(self.journal.clone(), self.agent.clone(), tools);
        let engine = engine.replica(Replica {
            holder: holder.clone(),
            peers: self.network.clone(),
            lease: self.lease,
        });
        let engine = engine.clock_ahead(self.clock_ahead).idle(LONG).build();
        let mut network = self.network.servers.lock().unwrap();
        network.insert(holder.address, engine.clone());
        let keep = tokio::spawn(engine.clone().keep());
        let mut keeps = self.keeps.lock().unwrap();
        keeps.insert(name.to_owned(), keep.abort_handle());
        engine
    }

    /// A server dies: nobody reaches it, and what it held runs out.
    pub(crate) fn kill(&self, name: &str) {
        let mut network = self.network.servers.lock().unwrap();
        network.remove(&format!("{name}.example"));
        self.keeps.lock().unwrap()[name].abort();
    }

    /// A server stands still: it takes commands, answers nothing, and what it held runs out.
    fn freeze(&self, name: &str) {
        let mut frozen = self.network.frozen.lock().unwrap();
        frozen.insert(format!("{name}.example"));
        self.keeps.lock().unwrap()[name].abort();
    }

    /// A server lives, and no other reaches it; what is returned is to be given back.
    pub(crate) fn cut(&self, name: &str) -> Engine {
        let mut network = self.network.servers.lock().unwrap();
        network.remove(&format!("{name}.example")).unwrap()
    }

    /// A server is reached again.
    pub(crate) fn heal(&self, name: &str, engine: Engine) {
        let mut network = self.network.servers.lock().unwrap();
        network.insert(format!("{name}.example"), engine);
    }

    pub(crate) async fn say(&self, engine: &Engine) -> Vec<wire::Chunk> {
        let mut window = self.begin(engine).await;
        let mut all = Vec::new();
        while let Some(chunks) = window.next().await {
            all.extend(chunks.iter().map(|chunk| wire::Chunk::clone(chunk)));
        }
        all
    }

    /// Says something, and returns the window.
    pub(crate) async fn begin(&self, engine: &Engine) -> WindowStream {
        let message = Message::new("u1", Role::User, vec![Part::text("pay")]);
        let request = Request {
            chat: self.chat.clone(),
            trigger: Trigger::SubmitMessage,
            message_id: None,
            messages: vec![message],
        };
        let dialect = Dialect::Sdk(Profile::Shared);
        engine.send(&self.ann, request, dialect).await.unwrap()
    }

    pub(crate) async fn approve(&self, engine: &Engine) -> bool {
        let gate = engine.approvals(&self.ann).await.unwrap()[0]
            .gate
            .id
            .clone();
        let yes = Decision::Approved {
            reason: None,
            input: None,
        };
        engine.answer(&self.ann, &gate, yes).await.unwrap().agrees
    }

    pub(crate) async fn until_finished(&self, engine: &Engine) {
        let mut tail = self.journal.tail(&self.chat, 0);
        loop {
            let view = engine.view(&self.ann, &self.chat).await.unwrap();
            if view.status == Status::Finished {
                return;
            }
            tail.next().await.unwrap();
        }
    }

    async fn events(&self) -> Vec<Event> {
        let entries = self.journal.read(&self.chat, 0).await.unwrap();
        entries.into_iter().flat_map(|entry| entry.events).collect()
    }
}

#[tokio::test]
async fn a_question_of_one_server_is_answered_at_another_and_seen_at_a_third() {
    let cluster = Cluster::new().await;
    let [a, b, c] = ["a", "b", "c"].map(|name| cluster.server(name));
    cluster.say(&a).await;
    assert!(cluster.approve(&b).await);
    cluster.until_finished(&c).await;
    assert_eq!(cluster.paid.load(Ordering::SeqCst), 1);
    // Nobody took anything over: it was carried to where the chat is.
    let claims = cluster.events().await.into_iter();
    let claims = claims.filter(|event| matches!(event, Event::TurnClaimed { .. }));
    assert_eq!(claims.count(), 0);
    let lease = cluster.journal.lease(&cluster.chat).await.unwrap().unwrap();
    assert_eq!(lease.holder.owner, "a");
}

#[tokio::test]
async fn a_parked_turn_of_a_server_that_died_goes_on_where_it_is_answered() {
    let mut cluster = Cluster::new().await;
    cluster.lease = Duration::from_millis(400);
    let [a, b] = ["a", "b"].map(|name| cluster.server(name));
    cluster.say(&a).await;
    drop(a);
    cluster.kill("a");
    // It counts as alive until its lease is over; the answer waits for that.
    assert!(cluster.approve(&b).await);
    cluster.until_finished(&b).await;
    assert_eq!(cluster.paid.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_taken_over_is_fenced_off_before_the_turn_goes_on() {
    let mut cluster = Cluster::new().await;
    cluster.lease = Duration::from_secs(10);
    cluster.is_stuck = true;
    let [a, b] = ["a", "b"].map(|name| cluster.server(name));
    cluster.say(&a).await;
    assert!(cluster.approve(&a).await);
    let mut runs = cluster.runs.subscribe();
    let run = runs.wait_for(|runs| !runs.is_empty()).await.unwrap()[0].clone();
    assert_eq!(run.epoch, 0);
    cluster.freeze("a");
    cluster.until_finished(&b).await;
    let next = Fence { epoch: 1, ..run };
    assert_eq!(*cluster.raised.lock().unwrap(), [next]);
    assert_eq!(cluster.runs.borrow().len(), 1);
}

/// A chat that waits at A for an answer, and A is frozen.
async fn frozen(lease: Duration) -> (Cluster, Engine) {
    let mut cluster = Cluster::new().await;
    cluster.lease = lease;
    let [a, b] = ["a", "b"].map(|name| cluster.server(name));
    cluster.say(&a).await;
    cluster.freeze("a");
    (cluster, b)
}

#[tokio::test(start_paused = true)]
async fn an_answer_on_its_way_to_a_frozen_server_counts_when_the_lease_is_over() {
    // Over before the way to it gives up, and long after.
    for lease in [10, 90] {
        let lease = Duration::from_secs(lease);
        let (cluster, b) = frozen(lease).await;
        let began = Instant::now();
        assert!(cluster.approve(&b).await);
        assert!(began.elapsed() < lease * 3 / 2, "{:?}", began.elapsed());
        cluster.until_finished(&b).await;
        assert_eq!(cluster.paid.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_on_its_way_to_a_frozen_server_is_taken_in_when_the_lease_is_over() {
    let (cluster, b) = frozen(Duration::from_secs(10)).await;
    // Known by its id: the turn that it opened before waits for an answer.
    let window = cluster.say(&b).await;
    assert!(!window.is_empty());
    let turns = cluster.events().await.into_iter();
    let turns = turns.filter(|event| matches!(event, Event::TurnOpened { .. }));
    assert_eq!(turns.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn reads_of_a_chat_at_a_frozen_server_come_from_the_journal() {
    let (cluster, b) = frozen(LONG).await;
    let began = Instant::now();
    let view = b.view(&cluster.ann, &cluster.chat).await.unwrap();
    assert_eq!(view.status, Status::Parked);
    let dialect = Dialect::Sdk(Profile::Shared);
    let window = b.resume(&cluster.ann, &cluster.chat, dialect).await;
    assert!(window.unwrap().is_some());
    assert!(began.elapsed() < SILENCE, "{:?}", began.elapsed());
}

/// Says one word, and then nothing.
struct Thinker;

impl Agent for Thinker {
    fn name(&self) -> &str {
        "thinker"
    }

    fn step(&self, _: StepRequest) -> AgentStream {
        let word = futures_util::stream::iter([text("Well…")]);
        Box::pin(word.chain(futures_util::stream::pending()))
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_window_of_a_frozen_server_closes_when_the_lease_is_over() {
    let mut cluster = Cluster::new().await;
    cluster.agent = Arc::new(Thinker);
    cluster.lease = Duration::from_secs(6);
    let [a, b] = ["a", "b"].map(|name| cluster.server(name));
    let _here = cluster.begin(&a).await;
    let dialect = Dialect::Sdk(Profile::Shared);
    let window = b.resume(&cluster.ann, &cluster.chat, dialect).await;
    let mut window = window.unwrap().unwrap();
    let mut said = String::new();
    while !said.contains("Well…") {
        said += &json!(window.next().await.unwrap()).to_string();
    }
    // A model that thinks for long is no reason to close it.
    let thinking = tokio::time::timeout(10 * cluster.lease, window.next()).await;
    assert!(thinking.is_err(), "{thinking:?}");
    cluster.freeze("a");
    let began = Instant::now();
    let last = json!(window.next().await.unwrap()).to_string();
    assert!(last.contains("handed_over"), "{last}");
    let took = began.elapsed();
    assert!(took < cluster.lease + Duration::from_secs(4), "{took:?}");
    assert!(window.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn what_the_journal_does_not_decide_is_sent_to_a_frozen_server_once() {
    let (cluster, b) = frozen(Duration::from_secs(10)).await;
    let stopped = b.stop(&cluster.ann, &cluster.chat).await;
    assert!(
        matches!(stopped, Err(EngineError::OwnerAway)),
        "{stopped:?}"
    );
    let forgotten = b.forget(&cluster.ann, &cluster.chat).await;
    assert!(forgotten.is_ok(), "the lease is over: {forgotten:?}");
    assert_eq!(cluster.network.unanswered.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn servers_that_leave_give_their_chats_back_at_once() {
    let cluster = Cluster::new().await;
    let [a, b] = ["a", "b"].map(|name| cluster.server(name));
    cluster.say(&a).await;
    assert!(a.drain(Duration::ZERO).await.is_ok());
    cluster.kill("a");
    assert!(cluster.approve(&b).await);
    cluster.until_finished(&b).await;
}

#[tokio::test]
async fn chat_that_somebody_else_wrote_to_is_read_again_though_its_lease_came_back() {
    let mut cluster = Cluster::new().await;
    cluster.lease = Duration::from_millis(400);
    let a = cluster.server("a");
    cluster.say(&a).await;
    // While A was frozen, another server had the chat, wrote down a no, and gave it back.
    let entries = cluster.journal.read(&cluster.chat, 0).await.unwrap();
    let mut chat = turn::Chat::replay(&entries);
    let gate = a.approvals(&cluster.ann).await.unwrap()[0].gate.id.clone();
    let decision = Decision::Denied { reason: None };
    let last = entries.last().unwrap();
    let no = chat.handle(turn::Input::Answer { gate, decision }, last.at);
    let entry = store::NewEntry {
        at: last.at,
        epoch: 0,
        actor: cluster.ann.clone().into(),
        events: no.append,
        open: chat.open_turn(),
    };
    let stored = cluster.journal.append(&cluster.chat, last.seq, entry).await;
    assert_eq!(stored, Ok(store::Appended::Ok { seq: last.seq + 1 }));
    cluster.until_finished(&a).await;
    assert_eq!(cluster.paid.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn races_of_two_answers_at_two_servers_run_the_tool_once_each() {
    for race in 0..200 {
        let mut cluster = Cluster::new().await;
        cluster.chat = ChatId::from(format!("chat-{race}"));
        let [a, b, c] = ["a", "b", "c"].map(|name| cluster.server(name));
        cluster.say(&a).await;
        let gate = a.approvals(&cluster.ann).await.unwrap()[0].gate.id.clone();
        let yes = Decision::Approved {
            reason: None,
            input: None,
        };
        let no = Decision::Denied { reason: None };
        let (first, second) = tokio::join!(
            b.answer(&cluster.ann, &gate, yes),
            c.answer(&cluster.ann, &gate, no)
        );
        let agree = [first.unwrap().agrees, second.unwrap().agrees];
        assert_ne!(agree[0], agree[1], "one wins");
        cluster.until_finished(&b).await;
        let paid = cluster.paid.load(Ordering::SeqCst);
        assert_eq!(paid, usize::from(agree[0]));
    }
}

#[tokio::test]
async fn a_running_turn_of_a_server_that_died_is_claimed_and_goes_on() {
    let cluster = Cluster::new().await;
    let a = cluster.server("a");
    cluster.say(&a).await;
    // It died in the middle of a step: only the entry that opened the turn is there.
    let entries = cluster.journal.read(&cluster.chat, 0).await.unwrap();
    let mut other = Cluster::new().await;
    other.lease = Duration::from_millis(400);
    let first = &entries[0];
    let opened = store::NewEntry {
        at: first.at,
        epoch: 0,
        actor: first.actor.clone(),
        events: first.events.clone(),
        open: turn::Chat::replay([first]).open_turn(),
    };
    let _ = other.journal.append(&other.chat, 0, opened).await.unwrap();
    let b = other.server("b");
    let mut tail = other.journal.tail(&other.chat, 0);
    while b.approvals(&other.ann).await.unwrap().is_empty() {
        tail.next().await.unwrap();
    }
    let claimed = other.events().await;
    let claimed = claimed.iter().find_map(|event| match event {
        Event::TurnClaimed { epoch, by, .. } => Some((*epoch, by.clone())),
        _ => None,
    });
    assert_eq!(claimed, Some((1, "b".to_owned())));
    assert!(other.approve(&b).await);
    other.until_finished(&b).await;
    assert_eq!(other.paid.load(Ordering::SeqCst), 1);
}
