//! The last changes of one principal, numbered. Streams read them at their own speed; one that is too
//! slow finds that some are gone, and resets.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use axum::body::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;
use turn::{ChatId, GateId};

use super::event::{Change, event};

/// How many changes are kept.
pub(super) const KEPT: usize = 256;

/// How many approvals are known by their ids. Where more wait, streams are reset when a chat changes of which
/// none are known.
pub(super) const KNOWN_APPROVALS: usize = 10_000;

/// The last changes of one principal.
pub(super) struct ChangeLog {
    /// What the ids of events begin with.
    instance: Arc<str>,
    /// As streams send them.
    changes: VecDeque<Bytes>,
    was_reset: bool,
    /// The number of the change that comes next, for streams that wait for it.
    next: watch::Sender<u64>,
    /// The approvals that wait, as streams know them.
    approvals: HashMap<ChatId, BTreeSet<GateId>>,
    /// Whether the approvals that waited before the log began are among them.
    pub(super) has_baseline: bool,
    /// Whether there were more of those than are known.
    is_partial: bool,
    /// How many streams read it.
    pub(super) readers: usize,
    /// Since when there are none.
    pub(super) unread_since: Instant,
}

/// The approvals that wait for a principal, by their ids.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) ids: Vec<(ChatId, GateId)>,
    /// Whether there are more.
    pub(super) is_partial: bool,
}

impl ChangeLog {
    pub(super) fn new(instance: Arc<str>) -> Self {
        Self {
            instance,
            changes: VecDeque::new(),
            was_reset: false,
            next: watch::channel(1).0,
            approvals: HashMap::new(),
            has_baseline: false,
            is_partial: false,
            readers: 0,
            unread_since: Instant::now(),
        }
    }

    pub(super) fn next(&self) -> u64 {
        *self.next.borrow()
    }

    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.next.subscribe()
    }

    /// What a client that comes back names.
    pub(super) fn id(&self, number: u64) -> String {
        format!("{}.{number}", self.instance)
    }

    pub(super) fn push(&mut self, change: &Change) {
        self.was_reset = *change == Change::Reset;
        let event = event(&self.id(self.next()), change);
        self.changes.push_back(event);
        if self.changes.len() > KEPT {
            self.changes.pop_front();
        }
        self.next.send_modify(|next| *next += 1);
    }

    /// The changes from a number on; nothing, if some of them are gone.
    pub(super) fn since(&self, number: u64) -> Option<Vec<Bytes>> {
        let first = self.next() - self.changes.len() as u64;
        if number < first || number > self.next() {
            return None;
        }
        let skipped = usize::try_from(number - first).unwrap_or(usize::MAX);
        Some(self.changes.iter().skip(skipped).cloned().collect())
    }

    /// Notes which approvals waited when the log began. What was noted since is newer.
    pub(super) fn set_baseline(&mut self, waiting: Waiting) {
        if self.has_baseline {
            return;
        }
        self.is_partial = waiting.is_partial;
        let mut baseline: HashMap<ChatId, BTreeSet<GateId>> = HashMap::new();
        for (chat, gate) in waiting.ids {
            baseline.entry(chat).or_default().insert(gate);
        }
        baseline.extend(std::mem::take(&mut self.approvals));
        baseline.retain(|_, gates| !gates.is_empty());
        self.approvals = baseline;
        self.has_baseline = true;
    }

    /// Forgets which approvals wait, since changes were missed.
    pub(super) fn forget_approvals(&mut self) {
        self.approvals.clear();
        self.has_baseline = false;
    }

    /// Notes which approvals wait in a chat, and logs those that were opened and closed.
    pub(super) fn set_approvals(&mut self, chat: &ChatId, waiting: BTreeSet<GateId>) {
        let known = self.approvals.remove(chat);
        if known.is_none() && self.is_partial && !self.was_reset {
            // Any may have been closed.
            self.push(&Change::Reset);
        }
        let before = known.unwrap_or_default();
        for gate in before.difference(&waiting) {
            self.push(&Change::ApprovalClosed(chat.clone(), gate.clone()));
        }
        for gate in waiting.difference(&before) {
            self.push(&Change::ApprovalOpened(chat.clone(), gate.clone()));
        }
        if !waiting.is_empty() || !self.has_baseline {
            self.approvals.insert(chat.clone(), waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> ChangeLog {
        ChangeLog::new("i".into())
    }

    fn set(gates: &[&str]) -> BTreeSet<GateId> {
        gates.iter().map(|gate| GateId::from(*gate)).collect()
    }

    fn waiting(ids: &[(&str, &str)], is_partial: bool) -> Waiting {
        let ids = ids
            .iter()
            .map(|(chat, gate)| ((*chat).into(), (*gate).into()));
        Waiting {
            ids: ids.collect(),
            is_partial,
        }
    }

    /// Each change as its number and its name.
    fn brief(changes: Option<Vec<Bytes>>) -> Option<Vec<String>> {
        let brief = |event: Bytes| {
            let text = String::from_utf8_lossy(&event).into_owned();
            let mut lines = text.lines().map(|line| line.split_once(": ").unwrap().1);
            format!("{} {}", lines.next().unwrap(), lines.next().unwrap())
        };
        Some(changes?.into_iter().map(brief).collect())
    }

    #[test]
    fn slow_reader_finds_that_changes_are_gone() {
        let mut log = log();
        assert_eq!(brief(log.since(1)), Some(vec![]));
        assert_eq!(log.since(2), None);
        for _ in 0..3 {
            log.push(&Change::ChatDeleted("c".into()));
        }
        let last = ["i.2 chat-deleted", "i.3 chat-deleted"].map(str::to_owned);
        assert_eq!(brief(log.since(2)), Some(last.to_vec()));
        for _ in 0..KEPT {
            log.push(&Change::ChatDeleted("c".into()));
        }
        assert_eq!(log.since(3), None);
        assert_eq!(log.since(4).map(|changes| changes.len()), Some(KEPT));
    }

    #[test]
    fn change_is_written_once_for_all_who_read_it() {
        let mut log = log();
        log.push(&Change::ChatDeleted("c".into()));
        let [first, second] = [log.since(1).unwrap(), log.since(1).unwrap()];
        assert_eq!(first[0].as_ptr(), second[0].as_ptr());
    }

    #[test]
    fn approvals_that_waited_before_are_closed_once() {
        let mut log = log();
        log.set_approvals(&"new".into(), set(&[]));
        log.set_baseline(waiting(&[("old", "g1"), ("new", "g2")], false));
        assert_eq!(log.next(), 1);
        log.set_approvals(&"new".into(), set(&[]));
        assert_eq!(log.next(), 1);
        log.set_approvals(&"old".into(), set(&["g3"]));
        let changes = log.since(1).unwrap();
        let closed = Change::ApprovalClosed("old".into(), "g1".into());
        let opened = Change::ApprovalOpened("old".into(), "g3".into());
        assert_eq!(changes, [event("i.1", &closed), event("i.2", &opened)]);
    }

    #[test]
    fn streams_are_reset_where_more_approvals_wait_than_are_known() {
        let mut log = log();
        log.set_baseline(waiting(&[("old", "g1")], true));
        log.set_approvals(&"old".into(), set(&[]));
        assert_eq!(
            brief(log.since(1)),
            Some(vec!["i.1 approval-closed".into()])
        );
        log.set_approvals(&"other".into(), set(&[]));
        log.set_approvals(&"another".into(), set(&[]));
        assert_eq!(brief(log.since(2)), Some(vec!["i.2 reset".into()]));
    }
}
