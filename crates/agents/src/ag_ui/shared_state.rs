//! The state and the activities that an agent shares with pages. Each is shown at once to who watches, and
//! becomes a part when the run ends, in its last form.

use serde_json::{Value, json};
use turn::agent::AgentEvent;
use wire::ag_ui;

use super::{PROVIDER, STATE};
use crate::model::Failure;
use crate::upstream::RunEvent;

const ACTIVITY: &str = "agui-activity";

/// What an agent shares with pages.
#[derive(Default)]
pub(super) struct SharedState {
    state: Value,
    is_state_new: bool,
    activities: Vec<(String, Value)>,
}

impl SharedState {
    /// The state as it was reported last.
    pub(super) fn new(state: Value) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }

    /// The whole state.
    pub(super) fn set(&mut self, state: Value) -> RunEvent {
        self.is_state_new = true;
        self.state = state.clone();
        signal(STATE, state)
    }

    /// A change of the state.
    pub(super) fn patch(&mut self, patch: &[Value]) -> Result<RunEvent, Failure> {
        let mut state = self.state.clone();
        apply(&mut state, patch)?;
        Ok(self.set(state))
    }

    /// A whole activity.
    pub(super) fn set_activity(&mut self, id: String, kind: &str, content: Value) -> RunEvent {
        let activity = json!({"id": id, "activityType": kind, "content": content});
        let said = signal(ACTIVITY, activity.clone());
        match self.activities.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = activity,
            None => self.activities.push((id, activity)),
        }
        said
    }

    /// A change of an activity.
    pub(super) fn patch_activity(
        &mut self,
        id: String,
        kind: &str,
        patch: &[Value],
    ) -> Result<RunEvent, Failure> {
        let known = self.activities.iter().find(|(known, _)| *known == id);
        let mut content = known.map_or(Value::Null, |(_, activity)| activity["content"].clone());
        apply(&mut content, patch)?;
        Ok(self.set_activity(id, kind, content))
    }

    /// What has changed, as parts.
    pub(super) fn take_parts(&mut self) -> Vec<RunEvent> {
        let part = |name: &str, data| {
            let name = name.to_owned();
            RunEvent::Output(AgentEvent::Data {
                name,
                id: None,
                data,
            })
        };
        let activities = std::mem::take(&mut self.activities).into_iter();
        let mut parts: Vec<_> = activities
            .map(|(_, activity)| part(ACTIVITY, activity))
            .collect();
        if std::mem::take(&mut self.is_state_new) {
            parts.push(part(STATE, self.state.clone()));
        }
        parts
    }
}

fn apply(value: &mut Value, patch: &[Value]) -> Result<(), Failure> {
    ag_ui::apply(value, patch).map_err(|error| PROVIDER.unreadable(&error.to_string()))
}

fn signal(name: &str, data: Value) -> RunEvent {
    let name = name.to_owned();
    RunEvent::Output(AgentEvent::Signal { name, data })
}
