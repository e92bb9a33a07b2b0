//! Calls that an agent makes inside of a call: one that another agent uses as a tool.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use turn::CallId;
use turn::call::{InnerCall, Outcome};
use turn::gate::Decision;

use super::{Context, Refused, approved};
use crate::toolset::Tools;
use crate::work::{Ask, ToolDoes, Work};

/// A call that an agent makes inside of a call, while it runs.
pub(super) struct Inner {
    /// An id of its own, as [`Context::call`] gives it.
    pub(super) id: CallId,
    pub(super) call: InnerCall,
    /// How often its tool has asked somebody.
    asked: Mutex<usize>,
}

impl Inner {
    /// Which question its tool asks next, from 1.
    fn next_question(&self) -> usize {
        // Nothing that holds the lock can panic.
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked += 1;
        *asked
    }
}

impl Context {
    /// The context of a call that an agent makes inside of this one, with the tools of that agent. What it
    /// records has names of its own, and who asks is shown with what it asks.
    #[must_use]
    pub fn inner(&self, call: InnerCall, tools: Tools) -> Self {
        let key = match &self.inner {
            Some(outer) => format!("{}/{}", outer.call.key, call.key),
            None => call.key,
        };
        let inner = Inner {
            id: format!("{}/{key}", self.call).into(),
            call: InnerCall { key, ..call },
            asked: Mutex::new(0),
        };
        Self {
            tools,
            inner: Some(Arc::new(inner)),
            ..self.clone()
        }
    }

    /// The agents from the first to the one that makes this call, where an agent inside of another does.
    pub fn path(&self) -> &[String] {
        self.inner.as_ref().map_or(&[], |inner| &inner.call.path)
    }

    /// Asks for a tool that an agent inside calls, and that itself wants a yes in the middle of its work.
    pub(super) async fn approve_within_inner(
        &self,
        inner: &Inner,
        question: String,
        timeout: Option<Duration>,
    ) -> Result<(), Refused> {
        let nth = inner.next_question();
        let call = InnerCall {
            key: format!("{}?{nth}", inner.call.key),
            ..inner.call.clone()
        };
        let (key, call) = (call.key.clone(), Box::new(call));
        let ask = Ask::Inner {
            call,
            question,
            timeout,
        };
        let decided = self.asking(nth, self.decision(ask)).await?;
        if decided.approved() == Some(true) {
            let output = json!({"approved": true});
            self.settle(key, Outcome::Output { output }).await;
        }
        approved(decided)
    }

    /// Asks a person whether an agent inside may make this call, and waits for the answer. What came of
    /// the call is said with [`Context::settle_inner`].
    pub async fn approve_inner(
        &self,
        question: impl Into<String>,
        timeout: impl Into<Option<Duration>>,
    ) -> Result<(), Refused> {
        let Some(inner) = &self.inner else {
            return self.approve_within(question, timeout).await;
        };
        let ask = Ask::Inner {
            call: Box::new(inner.call.clone()),
            question: question.into(),
            timeout: timeout.into(),
        };
        approved(self.decision(ask).await?)
    }

    /// Reports the outcome of an agent's nested call, if it needed an approval.
    pub async fn settle_inner(&self, outcome: Outcome) {
        if let Some(inner) = &self.inner {
            self.settle(inner.call.key.clone(), outcome).await;
        }
    }

    async fn settle(&self, key: String, outcome: Outcome) {
        let settled = Work::Tool {
            run: self.run,
            call: self.call.clone(),
            does: ToolDoes::Settle { key, outcome },
        };
        // A turn that is over has settled it.
        let _ = self.work.send(settled).await;
    }

    /// Whether an earlier run of a call inside was waiting for somebody when it ended, and had done
    /// nothing since it asked.
    pub fn was_asking(&self) -> bool {
        let is_open = |nth| {
            self.is_recorded(&format!("asks {nth}")) && !self.is_recorded(&format!("asked {nth}"))
        };
        let questions = self.recorded.records.len();
        self.inner.is_some() && (1..=questions).any(is_open)
    }

    /// Notes around a question of a call inside whether its tool has gone on: see [`Context::was_asking`].
    async fn asking<T>(
        &self,
        nth: usize,
        question: impl Future<Output = Result<T, Refused>>,
    ) -> Result<T, Refused> {
        self.note(&format!("asks {nth}")).await?;
        let answer = question.await?;
        self.note(&format!("asked {nth}")).await?;
        Ok(answer)
    }

    async fn note(&self, name: &str) -> Result<(), Refused> {
        let noted: Result<bool, _> = self.once(name, async { Ok(true) }).await;
        noted.map(|_| ()).map_err(|_| Refused::Cancelled)
    }

    /// Asks somebody, with those notes where an agent inside makes the call.
    pub(super) async fn ask_somebody(&self, ask: Ask) -> Result<Decision, Refused> {
        match &self.inner {
            Some(inner) => {
                let nth = inner.next_question();
                self.asking(nth, self.decision(ask)).await
            }
            None => self.decision(ask).await,
        }
    }
}
