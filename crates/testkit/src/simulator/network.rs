//! How what people ask reaches the chat: the server that takes it in forwards it to the one that has the
//! chat, and looks for it for a while.

use engine::EngineError;
use engine::driver::{Input, Reply};

use super::Bug;
use super::person::{ANN, Order, Response};
use super::schedule::Happening;
use super::server::Waiting;
use super::world::{LEASE, World};

/// An order on its way through servers.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    pub(super) request: u64,
    pub(super) order: Order,
    /// The server that took it in, and its life.
    pub(super) front: usize,
    pub(super) life: u64,
    /// How long that server looks for who has the chat.
    pub(super) until: u64,
}

impl World {
    /// Brings an order to the task of the chat at a server.
    pub(super) fn deliver(&mut self, server: usize, delivery: Delivery) {
        let life = self.servers[server].life;
        self.deliver_to(server, life, delivery);
    }

    pub(super) fn deliver_to(&mut self, server: usize, life: u64, delivery: Delivery) {
        if self.bug == Some(Bug::AnswerBeforeJournal)
            && let Order::Answer { gate, approved } = &delivery.order
        {
            let response = Response::Decided(vec![(gate.clone(), *approved)]);
            self.acknowledge(&delivery, &response);
        }
        let input = Input::Command {
            principal: ANN.into(),
            kind: delivery.order.command(),
            trace: None,
        };
        self.travel(Happening::Arrive {
            server,
            life,
            input: Box::new(input),
            waiting: Waiting::Person(delivery),
        });
    }

    /// The chat's task has an answer.
    pub(super) fn replied(
        &mut self,
        server: usize,
        delivery: Delivery,
        reply: Result<Reply, EngineError>,
    ) {
        let front = delivery.front;
        let response = match reply {
            Ok(reply) => self.response(server, &delivery, reply),
            Err(EngineError::Elsewhere(owner)) if server == front => {
                let owner = owner.parse().unwrap_or(server);
                self.trace(|_| format!("server {server}: the chat is at server {owner}"));
                if owner != server && self.can_reach(front, owner) && !self.is_mishandled() {
                    self.tally.carried += 1;
                    return self.deliver(owner, delivery);
                }
                return self.come_back(delivery);
            }
            Err(EngineError::Elsewhere(_) | EngineError::Closed) => {
                return self.come_back(delivery);
            }
            Err(_) => Response::Failed,
        };
        self.reply(server, delivery, response);
    }

    /// An order was carried out nowhere, as far as its first server knows: it tries again for a while.
    fn come_back(&mut self, delivery: Delivery) {
        if !self.is_alive(delivery.front, delivery.life) {
            return;
        }
        if self.now > delivery.until {
            let front = delivery.front;
            return self.reply(front, delivery, Response::Failed);
        }
        let again = Happening::Again(delivery);
        self.after(LEASE / 20, again);
    }

    /// Something has nobody to reach any more.
    pub(super) fn nobody_there(&mut self, waiting: Waiting) {
        if let Waiting::Person(delivery) = waiting {
            self.come_back(delivery);
        }
    }

    /// What came of an order goes back by the server that took it in.
    fn reply(&mut self, server: usize, delivery: Delivery, response: Response) {
        let front = delivery.front;
        let is_lost = server != front && self.is_mishandled();
        if !self.is_alive(front, delivery.life) {
            return;
        }
        if !self.can_reach(server, front) || is_lost {
            return self.come_back(delivery);
        }
        self.acknowledge(&delivery, &response);
        if !self.is_mishandled() {
            let request = delivery.request;
            self.travel(Happening::Reply { request, response });
        }
    }

    /// A reply, as a person reads it.
    fn response(&mut self, server: usize, delivery: &Delivery, reply: Reply) -> Response {
        match (reply, &delivery.order) {
            (Reply::Window(Some(opening)), _) => {
                self.watch(server, delivery, &opening);
                Response::Done
            }
            (Reply::Closed(closed), Order::Answer { gate, .. }) => {
                let approved = closed.decision.approved().unwrap_or_default();
                Response::Decided(vec![(gate.clone(), approved)])
            }
            // Somebody else was first: the journal says what was decided.
            (Reply::Taken(_), Order::Answer { gate, .. }) => {
                let decision = self
                    .truth()
                    .gate(gate)
                    .and_then(|(_, _, decision)| decision);
                let approved = decision.and_then(turn::gate::Decision::approved);
                Response::Decided(
                    approved
                        .map(|approved| (gate.clone(), approved))
                        .into_iter()
                        .collect(),
                )
            }
            _ => Response::Done,
        }
    }
}
