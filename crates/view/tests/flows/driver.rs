//! Plays a page, an agent and tools around the pure chat, and has the checker watch.

use adk_stream_view::{Intake, ShownChat, Window};
use serde_json::{Value, json};
use testkit::Checker;
use turn::agent::{AgentEvent, Asking, OwnCall};
use turn::call::{Outcome, Place};
use turn::event::{Entry, Finish};
use turn::gate::Decision;
use turn::input::Ids;
use turn::policy::{PolicyDecision, Verdict};
use turn::{At, CallId, Effect, Event, GateId, Input, OpenTurn, Principal, Status, TurnId};
use wire::assembler::Sdk;
use wire::{Chunk, Message, Profile, Role, Trigger};

use super::resumed;

/// One client: which SDK it has, and what it sees.
struct Client {
    profile: Profile,
    checker: Checker,
    window: Option<Window>,
    announced: Vec<String>,
    /// With which inputs.
    announced_inputs: Vec<Value>,
    /// What was sent about calls and questions, by name.
    received: Vec<String>,
    /// What the proxies that were sent are for.
    proxied: Vec<Value>,
}

pub(crate) struct Driver {
    chat: ShownChat,
    pub(crate) entries: Vec<Entry>,
    clients: Vec<Client>,
    client_tools: Vec<String>,
    turns: usize,
}

fn asking(provider_id: &str, question: &str) -> Asking {
    Asking {
        question: question.to_owned(),
        token: Some(json!(format!("about {provider_id}"))),
        ..Asking::default()
    }
}

impl Driver {
    pub(crate) fn new() -> Self {
        let client = |sdk, profile| Client {
            profile,
            checker: Checker::new(sdk),
            window: None,
            announced: Vec::new(),
            announced_inputs: Vec::new(),
            received: Vec::new(),
            proxied: Vec::new(),
        };
        let mut driver = Self {
            chat: ShownChat::default(),
            entries: Vec::new(),
            clients: vec![
                client(Sdk::V6, Profile::Shared),
                client(Sdk::V7, Profile::Shared),
                client(Sdk::V7, Profile::V7),
            ],
            client_tools: Vec::new(),
            turns: 0,
        };
        for client in &mut driver.clients {
            if client.profile == Profile::Shared {
                let checker = std::mem::replace(&mut client.checker, Checker::new(Sdk::V6));
                client.checker = checker.strict();
            }
        }
        driver
    }

    pub(crate) fn client_tool(mut self, name: &str) -> Self {
        self.client_tools.push(name.to_owned());
        for client in &mut self.clients {
            let checker = std::mem::replace(&mut client.checker, Checker::new(Sdk::V6));
            client.checker = checker.client_tool(name, None);
        }
        self
    }

    /// The same chat in another process, which nobody watches.
    pub(crate) fn restarted(&self) -> Self {
        let mut driver = Self::new();
        driver.chat = ShownChat::replay(&self.entries);
        driver.entries.clone_from(&self.entries);
        driver
    }

    pub(crate) fn chat(&self) -> &ShownChat {
        &self.chat
    }

    pub(crate) fn status(&self) -> Status {
        self.chat.status().unwrap()
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().flat_map(|entry| &entry.events)
    }

    pub(crate) fn open_turn(&self) -> Option<OpenTurn> {
        self.chat.open_turn()
    }

    pub(crate) fn turn_id(&self) -> TurnId {
        self.chat.current().unwrap().id().clone()
    }

    pub(crate) fn requests(&self) -> usize {
        let requests: Vec<_> = self.clients.iter().map(|c| c.checker.requests()).collect();
        assert!(requests.iter().all(|n| *n == requests[0]), "{requests:?}");
        requests[0]
    }

    pub(crate) fn is_watching(&self) -> bool {
        self.clients.iter().any(|client| client.window.is_some())
    }

    /// What each client was sent last about calls and questions.
    pub(crate) fn sent_last(&self) -> Vec<&str> {
        let last = self
            .clients
            .iter()
            .filter_map(|client| client.received.last());
        last.map(String::as_str).collect()
    }

    pub(crate) fn announced(&self) -> Vec<String> {
        self.clients[0].announced.clone()
    }

    /// The inputs that a page was to run its tools with.
    pub(crate) fn announced_inputs(&self) -> Vec<Value> {
        self.clients[0].announced_inputs.clone()
    }

    /// What the proxies that each client was sent are for.
    pub(crate) fn proxied(&self) -> Vec<&[Value]> {
        let clients = self.clients.iter();
        clients.map(|client| &client.proxied[..]).collect()
    }

    /// The input of the last call, as a page loads it.
    pub(crate) fn shown_input(&self) -> Value {
        let messages = self.chat.messages();
        let parts = messages.last().unwrap().parts.iter();
        let call = parts.filter_map(wire::Part::as_tool).next_back().unwrap();
        call.input.clone().unwrap()
    }

    pub(crate) fn call_id(&self, n: usize) -> CallId {
        self.chat
            .current()
            .unwrap()
            .calls()
            .nth(n)
            .unwrap()
            .id
            .clone()
    }

    pub(crate) fn gate_id(&self, n: usize) -> GateId {
        GateId::of(self.chat.current().unwrap().id(), n)
    }

    pub(crate) fn decision(&self, n: usize) -> Option<Decision> {
        let turn = self.chat.current().unwrap();
        let (_, decision) = turn.gate(&self.gate_id(n)).unwrap();
        decision.cloned()
    }

    pub(crate) fn roles(&self) -> Vec<Role> {
        let messages = self.chat.messages();
        messages.iter().map(|message| message.role).collect()
    }

    pub(crate) fn outcome(&self, n: usize) -> Option<Outcome> {
        let turn = self.chat.current().unwrap();
        turn.outcome(&self.call_id(n)).cloned()
    }

    pub(crate) fn outcome_in(&self, turn: usize, n: usize) -> Option<Outcome> {
        let turn = self.chat.path().nth(turn).unwrap();
        let call = turn.calls().nth(n).unwrap().id.clone();
        turn.outcome(&call).cloned()
    }

    /// Handles an input, journals what follows, and shows it.
    pub(crate) fn perform(&mut self, input: Input) -> Vec<Effect> {
        let at = At(1_000 + self.entries.len() as u64);
        let output = self.chat.handle(input, at);
        if !output.append.is_empty() {
            let seq = self.entries.len() as u64 + 1;
            self.entries.push(Entry {
                seq,
                at,
                actor: "ann".into(),
                events: output.append,
            });
            self.chat.appended(seq);
        }
        self.pump();
        output.effects
    }

    fn pump(&mut self) {
        let transcript = self
            .chat
            .current_transcript()
            .map(|shown| shown.lines().to_vec());
        for client in &mut self.clients {
            let Some(window) = &mut client.window else {
                continue;
            };
            for chunk in window.read(transcript.as_deref().unwrap_or_default()) {
                if let Chunk::ToolInputAvailable(available) = &*chunk
                    && self.client_tools.contains(&available.tool_name)
                {
                    client.announced.push(available.tool_name.clone());
                    client.announced_inputs.push(available.input.clone());
                }
                let metadata = match &*chunk {
                    Chunk::ToolInputStart(start) => start.provider_metadata.as_ref(),
                    Chunk::ToolInputAvailable(available) => available.provider_metadata.as_ref(),
                    _ => None,
                };
                let ours = metadata.and_then(|all| all.provider("adkStream"));
                let proxied = ours.and_then(|ours| ours.get("proxyFor"));
                if let Some(proxied) = proxied
                    && client.proxied.last() != Some(proxied)
                {
                    client.proxied.push(proxied.clone());
                }
                if chunk.type_name().starts_with("tool-") {
                    client.received.push(chunk.type_name().into_owned());
                }
                client.checker.feed(&chunk);
            }
            if window.is_closed() {
                client.window = None;
                client.checker.close();
            }
        }
    }

    /// Whatever the clients have sent is answered by windows.
    fn open(&mut self, seen: impl Fn(&ShownChat, &mut Checker) -> Option<usize>) {
        let shown = self.chat.current_transcript().unwrap();
        let (id, transcript) = (shown.message_id().to_owned(), shown.lines().to_vec());
        for client in &mut self.clients {
            if !client.checker.is_waiting() {
                continue;
            }
            let seen = seen(&self.chat, &mut client.checker);
            client.window = Some(match seen {
                Some(position) => Window::continuing(client.profile, &id, &transcript, position),
                None => Window::replaying(client.profile, &id, &transcript),
            });
            client.checker.open();
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.turns += 1;
        for client in &mut self.clients {
            client.checker.say(text);
        }
        let id = format!("user-{}", self.turns);
        let message = Message::new(id, Role::User, vec![wire::Part::text(text)]);
        let intake = self.chat.take(
            &"ann".into(),
            Trigger::SubmitMessage,
            None,
            &[message],
            At(1),
        );
        let Ok(Intake::Open { message, after, .. }) = intake else {
            panic!("{intake:?}")
        };
        let ids = Ids {
            turn: format!("t{}", self.turns).as_str().into(),
            message: format!("m{}", self.turns),
        };
        // Windows on the turn before it are left where they are.
        for client in &mut self.clients {
            client.window = None;
        }
        let principal = Principal::from("ann");
        self.perform(Input::Message {
            message,
            principal,
            after,
            page_tools: Vec::new(),
            request: None,
            ids,
        });
        self.open(|_, _| Some(0));
        self.pump();
    }

    fn agent(&mut self, event: AgentEvent, policy: Option<PolicyDecision>) -> Vec<Effect> {
        self.perform(Input::Agent { event, policy })
    }

    pub(crate) fn text(&mut self, delta: &str) {
        let (delta, provider_metadata) = (delta.to_owned(), None);
        self.agent(
            AgentEvent::Text {
                delta,
                provider_metadata,
            },
            None,
        );
    }

    pub(crate) fn reason(&mut self, delta: &str) {
        let (delta, provider_metadata) = (delta.to_owned(), None);
        self.agent(
            AgentEvent::Reasoning {
                delta,
                provider_metadata,
            },
            None,
        );
    }

    pub(crate) fn call(&mut self, tool: &str, place: Place, verdict: Verdict) {
        self.call_with(tool, place, verdict, json!({"amount": 5.0}));
    }

    pub(crate) fn call_with(&mut self, tool: &str, place: Place, verdict: Verdict, input: Value) {
        let event = AgentEvent::Call {
            provider_id: None,
            tool: tool.to_owned(),
            input,
            provider_metadata: None,
        };
        let timeout = None;
        let policy = PolicyDecision {
            place,
            verdict,
            timeout,
        };
        self.agent(event, Some(policy));
    }

    /// The agent makes a call of its own.
    pub(crate) fn own_call(&mut self, provider_id: &str, tool: &str, place: Place) {
        self.own_call_with(provider_id, tool, place, json!({"amount": 5.0}));
    }

    pub(crate) fn own_call_with(
        &mut self,
        provider_id: &str,
        tool: &str,
        place: Place,
        input: Value,
    ) {
        let event = AgentEvent::OwnCall {
            provider_id: provider_id.to_owned(),
            tool: tool.to_owned(),
            input,
            provider_metadata: None,
            place,
            asks: None,
        };
        self.agent(event, None);
    }

    /// A route of the AI SDK's makes a call, of which it says something.
    pub(crate) fn routes_call(&mut self, provider_id: &str, tool: &str, said: Value) {
        let event = AgentEvent::OwnCall {
            provider_id: provider_id.to_owned(),
            tool: tool.to_owned(),
            input: json!({}),
            provider_metadata: Some(json!({ "aiSdk": said })),
            place: Place::Agent,
            asks: None,
        };
        self.agent(event, None);
    }

    /// The agent makes a call for a page, and wants a person asked first.
    pub(crate) fn asked_call(&mut self, provider_id: &str, tool: &str) {
        let event = AgentEvent::OwnCall {
            provider_id: provider_id.to_owned(),
            tool: tool.to_owned(),
            input: json!({}),
            provider_metadata: None,
            place: Place::Client,
            asks: Some(asking(provider_id, "May I?")),
        };
        self.agent(event, None);
    }

    pub(crate) fn agent_asks(&mut self, provider_id: &str, question: &str) -> Vec<Effect> {
        let event = AgentEvent::Asks {
            provider_id: provider_id.to_owned(),
            asking: asking(provider_id, question),
        };
        self.agent(event, None)
    }

    pub(crate) fn agent_settles(&mut self, provider_id: &str, output: Value) -> Vec<Effect> {
        let event = AgentEvent::Settled {
            provider_id: provider_id.to_owned(),
            outcome: Outcome::Output { output },
        };
        self.agent(event, None)
    }

    pub(crate) fn agent_fails(&mut self, code: &'static str) -> Vec<Effect> {
        let event = AgentEvent::Failed {
            code,
            message: "The agent is away.".to_owned(),
            retry_after_ms: None,
        };
        self.agent(event, None)
    }

    pub(crate) fn is_asked_again(&self) -> bool {
        self.chat.current().unwrap().is_asked_again()
    }

    /// The agent calls a tool beside others, and will say later who runs it.
    pub(crate) fn open_call(&mut self, provider_id: &str, tool: &str) {
        let event = AgentEvent::OpenCall {
            provider_id: provider_id.to_owned(),
            tool: tool.to_owned(),
            input: json!({}),
            provider_metadata: None,
        };
        let policy = None;
        self.perform(Input::Agent { event, policy });
    }

    /// The agent waits for a page to run a call.
    pub(crate) fn agent_waits(&mut self, provider_id: &str) -> Vec<Effect> {
        let provider_id = provider_id.to_owned();
        let event = AgentEvent::Waits { provider_id };
        let policy = None;
        self.perform(Input::Agent { event, policy })
    }

    /// How the calls stand that the agent runs by itself.
    pub(crate) fn own_calls(&self) -> Vec<OwnCall> {
        self.chat.current().unwrap().own_calls()
    }

    pub(crate) fn end_step(&mut self) -> Vec<Effect> {
        self.agent(AgentEvent::Ended(Finish::Stop), None)
    }

    pub(crate) fn done(&mut self, call: &CallId, output: Value) -> Vec<Effect> {
        let (call, outcome) = (call.clone(), Outcome::Output { output });
        self.perform(Input::ToolDone { call, outcome })
    }

    pub(crate) fn asks(&mut self, call: &CallId, question: &str) {
        self.perform(Input::ToolAsks {
            call: call.clone(),
            question: question.to_owned(),
            timeout: None,
        });
    }

    pub(crate) fn progress(&mut self, call: &CallId, output: Value) {
        let call = call.clone();
        self.perform(Input::ToolProgress { call, output });
    }

    pub(crate) fn approve(&mut self, gate: usize) -> Vec<Effect> {
        self.click(&[(gate, true, None)])
    }

    pub(crate) fn deny(&mut self, gate: usize, reason: &str) -> Vec<Effect> {
        self.click(&[(gate, false, Some(reason))])
    }

    pub(crate) fn answer_all(&mut self, decisions: &[bool]) -> Vec<Effect> {
        let answers: Vec<_> = decisions
            .iter()
            .enumerate()
            .map(|(n, yes)| (n, *yes, None))
            .collect();
        self.click(&answers)
    }

    /// The person clicks in every client; each of them sends, and the first is taken in.
    fn click(&mut self, answers: &[(usize, bool, Option<&str>)]) -> Vec<Effect> {
        for client in &mut self.clients {
            for (gate, approved, reason) in answers {
                let id = GateId::of(self.chat.current().unwrap().id(), *gate);
                client.checker.answer(id.as_str(), *approved, *reason);
            }
        }
        self.receive()
    }

    /// The person clicks in every client, and none of them has a reason to send it yet.
    pub(crate) fn click_unsent(&mut self, gate: usize, approved: bool) {
        let id = self.gate_id(gate);
        for client in &mut self.clients {
            client.checker.answer(id.as_str(), approved, None);
            assert!(!client.checker.is_waiting());
        }
    }

    /// The page of every client gives an output.
    pub(crate) fn output(&mut self, call: usize, output: Value) -> Vec<Effect> {
        let id = self.call_id(call);
        self.output_as(id.as_str(), output)
    }

    /// The same, of a call that the page knows by a name.
    pub(crate) fn output_as(&mut self, call: &str, output: Value) -> Vec<Effect> {
        for client in &mut self.clients {
            client.checker.output(call, Ok(output.clone()));
        }
        self.receive()
    }

    /// What the clients have sent arrives.
    fn receive(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut positions = Vec::new();
        for client in 0..self.clients.len() {
            let client = &mut self.clients[client];
            if !client.checker.is_waiting() && client.checker.requests() > 0 {
                // A restarted chat has no client that could send; it is answered all the same.
                positions.push(None);
                continue;
            }
            let messages = client.checker.messages().to_vec();
            if messages.is_empty() {
                positions.push(None);
                continue;
            }
            let last = messages.last().and_then(|message| message.id.clone());
            let intake = self.chat.take(
                &"ann".into(),
                Trigger::SubmitMessage,
                last.as_deref(),
                &messages,
                At(1),
            );
            let Ok(Intake::Continue { answers, seen, .. }) = intake else {
                panic!("{intake:?}")
            };
            positions.push(Some(seen));
            for (gate, decision) in answers {
                effects.extend(self.perform(Input::Answer { gate, decision }));
            }
        }
        if positions.iter().all(Option::is_none) {
            // Nobody watches: the answer comes by the API.
            let gate = self
                .chat
                .current()
                .unwrap()
                .open_gates()
                .next()
                .unwrap()
                .id
                .clone();
            let (reason, input) = (None, None);
            let decision = Decision::Approved { reason, input };
            return self.perform(Input::Answer { gate, decision });
        }
        let shown = self.chat.current_transcript().unwrap();
        let (id, transcript) = (shown.message_id().to_owned(), shown.lines().to_vec());
        for (client, seen) in self.clients.iter_mut().zip(positions) {
            if let Some(seen) = seen {
                client.window = Some(match seen {
                    Some((position, message)) => {
                        let mut window =
                            Window::continuing(client.profile, &id, &transcript, position);
                        window.add_client_state(&message);
                        window
                    }
                    None => Window::replaying(client.profile, &id, &transcript),
                });
                client.checker.open();
            }
        }
        self.pump();
        effects
    }

    /// Somebody else answers, and no client here sends anything.
    pub(crate) fn decide_elsewhere(&mut self, gate: usize, approved: bool) -> Vec<Effect> {
        let (reason, input) = (None, None);
        let decision = if approved {
            Decision::Approved { reason, input }
        } else {
            Decision::Denied { reason }
        };
        let gate = self.gate_id(gate);
        self.perform(Input::Answer { gate, decision })
    }

    /// The calls of the last message, as a page that is loaded shows them.
    pub(crate) fn shown_calls(&self) -> Vec<String> {
        let messages = self.chat.messages();
        let parts = messages
            .last()
            .into_iter()
            .flat_map(|message| &message.parts);
        let calls = parts.filter_map(wire::Part::as_tool);
        calls.map(|part| part.tool_call_id.clone()).collect()
    }

    /// The clients have nothing to complain about; the chat reads back from its journal as it is; and
    /// from every prefix of it a page that resumes has nothing to complain about either.
    pub(crate) fn check(&mut self, texts: &[&str]) {
        for client in &mut self.clients {
            let found = client.checker.verdict();
            assert!(found.is_empty(), "{:?}: {found:?}", client.profile);
        }
        self.check_journal(texts);
    }

    /// No client has thrown, whatever else it may have to complain about.
    pub(crate) fn check_sound(&mut self) {
        for client in &mut self.clients {
            let mut found = client.checker.verdict();
            found.retain(|finding| finding.kind == testkit::checker::Kind::Throws);
            assert!(found.is_empty(), "{:?}: {found:?}", client.profile);
        }
    }

    /// The same without the clients, who may have left before the end.
    pub(crate) fn check_journal(&self, texts: &[&str]) {
        let messages = self.chat.messages();
        let said: Vec<String> = messages
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .map(Message::text)
            .filter(|text| !text.is_empty())
            .collect();
        assert_eq!(said, texts);
        let replayed = ShownChat::replay(&self.entries);
        assert_eq!(replayed.messages(), messages);
        for turn in self.chat.turns() {
            let lines = |chat: &ShownChat| chat.transcript(turn.id()).unwrap().lines().to_vec();
            resumed::check(&lines(&self.chat), &lines(&replayed));
        }
        for length in 1..=self.entries.len() {
            self.check_prefix(length);
        }
    }

    fn check_prefix(&self, length: usize) {
        let mut chat = ShownChat::replay(&self.entries[..length]);
        let before = chat.messages();
        chat.handle(
            Input::Recover {
                here: Vec::new(),
                idempotent: Vec::new(),
                by: None,
            },
            At(5_000),
        );
        let shown = chat.current_transcript().unwrap();
        for (sdk, profile) in [
            (Sdk::V6, Profile::Shared),
            (Sdk::V7, Profile::Shared),
            (Sdk::V7, Profile::V7),
        ] {
            let users = before
                .iter()
                .filter(|message| message.role == Role::User)
                .cloned();
            let mut checker = Checker::new(sdk).holding(users.collect());
            for tool in &self.client_tools {
                checker = checker.client_tool(tool, None);
            }
            checker.resume();
            let mut window = Window::replaying(profile, shown.message_id(), shown.lines());
            for chunk in window.read(shown.lines()) {
                checker.feed(&chunk);
            }
            if window.is_closed() {
                checker.close();
            }
            let mut found = checker.verdict();
            // A turn that is still at work leaves the client in the middle of things.
            if !window.is_closed() {
                use testkit::checker::Kind;
                found.retain(|finding| finding.kind == Kind::Throws);
            }
            assert!(
                found.is_empty(),
                "{length} of {}: {profile:?} {found:?}",
                self.entries.len()
            );
        }
    }
}
