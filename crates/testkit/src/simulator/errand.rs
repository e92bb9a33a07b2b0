//! How a server does what is asked of a chat, or has it done where the chat is: `Engine::run`, and the
//! errands of `engine::actor`.

use turn::gate::Decision;
use turn::intake::Intake;
use turn::{GateId, Input};
use wire::Trigger;

use super::Bug;
use super::person::{ANN, Errand, Order, Told};
use super::schedule::Happening;
use super::server::{CONFLICTS, Command, Trouble};
use super::world::{LEASE, World};

impl World {
    /// Does an errand; carries it to who has the chat; waits for who had it and died.
    pub(super) fn run_errand(&mut self, server: usize, errand: Errand) {
        self.tell(|_| format!("server {server} takes in {errand}"));
        if self.bug == Some(Bug::AnswerBeforeJournal)
            && let Order::Answer { gate, approved } = &errand.order
        {
            let told = Told::Decided(vec![(gate.clone(), *approved)]);
            self.reply(server, &errand, told);
        }
        let done = self.run_here(server, &errand.order);
        let front = errand.front;
        match done {
            Err(Trouble::Died) => self.nobody_there(Command::Errand(errand)),
            Ok(told) => self.reply(server, &errand, told),
            Err(Trouble::Elsewhere(owner)) if server == front => {
                self.tell(|_| format!("server {server}: the chat is at server {owner}"));
                if self.can_reach(front, owner) && !self.is_mishandled() {
                    let life = self.servers[owner].life;
                    let command = Command::Errand(errand);
                    self.tally.carried += 1;
                    self.travel(Happening::Command {
                        server: owner,
                        life,
                        command,
                    });
                } else {
                    self.come_back(errand);
                }
            }
            Err(Trouble::Elsewhere(_)) => self.come_back(errand),
            Err(_) => self.reply(server, &errand, Told::Failed),
        }
    }

    /// An errand was done nowhere, as far as its first server knows: it tries again for a while.
    fn come_back(&mut self, errand: Errand) {
        if self.now > errand.until {
            let front = errand.front;
            return self.reply(front, &errand, Told::Failed);
        }
        let (server, life) = (errand.front, errand.life);
        let command = Command::Errand(errand);
        let what = Happening::Command {
            server,
            life,
            command,
        };
        self.after(LEASE / 20, what);
    }

    /// A command has nobody to reach any more.
    pub(super) fn nobody_there(&mut self, command: Command) {
        if let Command::Errand(errand) = command
            && self.is_alive(errand.front, errand.life)
        {
            self.come_back(errand);
        }
    }

    /// What came of an errand goes back by the server that took it in.
    fn reply(&mut self, server: usize, errand: &Errand, told: Told) {
        let front = errand.front;
        let is_lost = server != front && self.is_mishandled();
        if !self.is_alive(front, errand.life) {
            return;
        }
        if !self.can_reach(server, front) || is_lost {
            return self.come_back(errand.clone());
        }
        self.acknowledge(errand, &told);
        if !self.is_mishandled() {
            let request = errand.request;
            self.travel(Happening::Reply { request, told });
        }
    }

    /// Does an errand, unless its chat is elsewhere.
    fn run_here(&mut self, server: usize, order: &Order) -> Result<Told, Trouble> {
        self.chat(server)?;
        match order {
            Order::Say { message } => self.take_message(server, message).map(|()| Told::Done),
            Order::Answer { gate, approved } => {
                self.answer(server, gate, *approved)?;
                self.decisions(server, std::slice::from_ref(gate))
            }
            Order::AnswerAll { answers } => {
                for (gate, approved) in answers {
                    self.answer(server, gate, *approved)?;
                }
                let gates: Vec<_> = answers.iter().map(|(gate, _)| gate.clone()).collect();
                self.decisions(server, &gates)
            }
            Order::Output { call } => {
                let chat = self.servers[server].chat.as_ref();
                let output = Ok(serde_json::json!("from the page"));
                let taken = chat.ok_or(Trouble::Closed)?.take_output(call, output);
                if let Some((gate, decision)) = taken.map_err(|_| Trouble::Refused)? {
                    self.perform(server, Input::Answer { gate, decision })?;
                }
                Ok(Told::Done)
            }
            Order::Stop => self.perform(server, Input::Stop).map(|()| Told::Done),
            Order::Resume => Ok(Told::Done),
        }
    }

    fn take_message(&mut self, server: usize, message: &wire::Message) -> Result<(), Trouble> {
        for _ in 0..CONFLICTS {
            self.chat(server)?;
            let chat = self.servers[server].chat.as_ref();
            let messages = std::slice::from_ref(message);
            let intake = chat
                .ok_or(Trouble::Closed)?
                .take(Trigger::SubmitMessage, None, messages);
            let Intake::Open { message, after } = intake.map_err(|_| Trouble::Refused)? else {
                return Ok(());
            };
            let input = Input::Message {
                message,
                principal: ANN.into(),
                after,
                ids: self.fresh(),
            };
            if self.bug == Some(Bug::StaleIntake) {
                return self.perform(server, input);
            }
            // Whoever was first may have brought the same message: it is taken in anew.
            if self.attempt(server, input)? {
                return Ok(());
            }
        }
        Err(Trouble::Closed)
    }

    fn answer(&mut self, server: usize, gate: &GateId, approved: bool) -> Result<(), Trouble> {
        self.chat(server)?;
        let chat = self.servers[server].chat.as_ref();
        let Some((_, _, decided)) = chat.and_then(|chat| chat.gate(gate)) else {
            return Err(Trouble::Refused);
        };
        if decided.is_some() {
            return Ok(());
        }
        let (reason, input) = (None, None);
        let decision = match approved {
            true => Decision::Approved { reason, input },
            false => Decision::Denied { reason },
        };
        let gate = gate.clone();
        self.perform(server, Input::Answer { gate, decision })
    }

    /// What was decided at gates, as the chat stands.
    fn decisions(&mut self, server: usize, gates: &[GateId]) -> Result<Told, Trouble> {
        self.chat(server)?;
        let chat = self.servers[server].chat.as_ref().ok_or(Trouble::Closed)?;
        let decided = gates.iter().filter_map(|gate| {
            let (_, _, decision) = chat.gate(gate)?;
            Some((gate.clone(), decision?.approved()?))
        });
        Ok(Told::Decided(decided.collect()))
    }
}
