//! The model that a server asks for the chat, and what it says.

use std::time::Duration;

use serde_json::json;
use turn::Input;
use turn::agent::{AgentEvent, Past};
use turn::event::Finish;

use super::server::{Command, Trouble};
use super::tool::Tool;
use super::world::World;

/// What the model says at a time.
#[derive(Debug, Clone)]
pub(super) enum Said {
    /// Words and calls.
    More(Vec<&'static str>),
    /// That the step is over.
    Ended,
    /// Nothing: its stream broke.
    Cut,
}

impl World {
    pub(super) fn call_model(&mut self, server: usize) {
        let Some(chat) = &self.servers[server].chat else {
            return;
        };
        let said = chat.history().into_iter().rev();
        let steps = said
            .take_while(|past| matches!(past, Past::Step { .. }))
            .count();
        let calls = match steps {
            0..3 if !self.chance.one_in(if steps == 0 { 8 } else { 2 }) => {
                let count = *self.chance.pick(&[1, 1, 2, 3]);
                (0..count).map(|_| Tool::any(&mut self.chance).0).collect()
            }
            _ => Vec::new(),
        };
        let run = self.people.fresh();
        self.tell(|_| format!("server {server} asks the model, which wants {calls:?}"));
        let tasks = &mut self.servers[server].tasks;
        tasks.model = Some(run);
        tasks.is_speaking = true;
        let said = Said::More(calls);
        self.bring(server, Command::Agent { run, said });
    }

    pub(super) fn agent_says(
        &mut self,
        server: usize,
        run: u64,
        said: Said,
    ) -> Result<(), Trouble> {
        if self.servers[server].tasks.model != Some(run) {
            return Ok(());
        }
        let ruling = None;
        match said {
            Said::More(calls) => {
                let event = AgentEvent::Text {
                    delta: "Well.".to_owned(),
                    provider_metadata: None,
                };
                self.perform(server, Input::Agent { event, ruling })?;
                for name in calls {
                    let timeout = self.chance.one_in(4).then(|| Duration::from_secs(6));
                    let ruling = Tool::named(name).map(|tool| tool.ruling(timeout));
                    let event = AgentEvent::Call {
                        provider_id: None,
                        tool: name.to_owned(),
                        input: json!({}),
                        provider_metadata: None,
                    };
                    self.perform(server, Input::Agent { event, ruling })?;
                }
                let is_cut = !self.is_healed && self.chance.one_in(40);
                let said = if is_cut { Said::Cut } else { Said::Ended };
                self.bring(server, Command::Agent { run, said });
                Ok(())
            }
            Said::Ended => {
                self.servers[server].tasks.is_speaking = false;
                let event = AgentEvent::Ended(Finish::Stop);
                self.perform(server, Input::Agent { event, ruling })
            }
            Said::Cut => self.perform(server, Input::AgentCut),
        }
    }
}
