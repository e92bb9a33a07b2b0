//! The last changes of one principal, numbered. Streams read them at their own speed; one that is too
//! slow finds that some are gone, and resets.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;
use turn::{ChatId, GateId};

use super::event::Change;

/// How many changes are kept.
pub(super) const KEPT: usize = 256;

/// The last changes of one principal.
pub(super) struct ChangeLog {
    changes: VecDeque<Arc<Change>>,
    /// The number of the change that comes next, for streams that wait for it.
    next: watch::Sender<u64>,
    /// The approvals that wait, as streams know them.
    approvals: HashMap<ChatId, BTreeSet<GateId>>,
    /// Whether the approvals that waited before the log began are among them.
    pub(super) has_baseline: bool,
    /// How many streams read it.
    pub(super) readers: usize,
    /// Since when there are none.
    pub(super) unread_since: Instant,
}

impl ChangeLog {
    pub(super) fn new() -> Self {
        Self {
            changes: VecDeque::new(),
            next: watch::channel(1).0,
            approvals: HashMap::new(),
            has_baseline: false,
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

    pub(super) fn push(&mut self, change: Change) {
        self.changes.push_back(Arc::new(change));
        if self.changes.len() > KEPT {
            self.changes.pop_front();
        }
        self.next.send_modify(|next| *next += 1);
    }

    /// The changes from a number on; nothing, if some of them are gone.
    pub(super) fn since(&self, number: u64) -> Option<Vec<(u64, Arc<Change>)>> {
        let first = self.next() - self.changes.len() as u64;
        if number < first || number > self.next() {
            return None;
        }
        let skipped = usize::try_from(number - first).unwrap_or(usize::MAX);
        let changes = self.changes.iter().skip(skipped).cloned();
        Some((number..).zip(changes).collect())
    }

    /// Notes which approvals waited when the log began. What was noted since is newer.
    pub(super) fn set_baseline(&mut self, waiting: impl IntoIterator<Item = (ChatId, GateId)>) {
        if self.has_baseline {
            return;
        }
        let mut baseline: HashMap<ChatId, BTreeSet<GateId>> = HashMap::new();
        for (chat, gate) in waiting {
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
        let before = self.approvals.remove(chat).unwrap_or_default();
        for gate in before.difference(&waiting) {
            self.push(Change::ApprovalClosed(chat.clone(), gate.clone()));
        }
        for gate in waiting.difference(&before) {
            self.push(Change::ApprovalOpened(chat.clone(), gate.clone()));
        }
        if !waiting.is_empty() || !self.has_baseline {
            self.approvals.insert(chat.clone(), waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(changes: Option<Vec<(u64, Arc<Change>)>>) -> Option<Vec<u64>> {
        Some(changes?.into_iter().map(|(number, _)| number).collect())
    }

    #[test]
    fn slow_reader_finds_that_changes_are_gone() {
        let mut log = ChangeLog::new();
        assert_eq!(numbers(log.since(1)), Some(vec![]));
        assert_eq!(numbers(log.since(2)), None);
        for _ in 0..3 {
            log.push(Change::ChatDeleted("c".into()));
        }
        assert_eq!(numbers(log.since(2)), Some(vec![2, 3]));
        for _ in 0..KEPT {
            log.push(Change::ChatDeleted("c".into()));
        }
        assert_eq!(numbers(log.since(3)), None);
        assert_eq!(log.since(4).map(|changes| changes.len()), Some(KEPT));
    }

    #[test]
    fn approvals_that_waited_before_are_closed_once() {
        let mut log = ChangeLog::new();
        let set = |gates: &[&str]| gates.iter().map(|gate| GateId::from(*gate)).collect();
        log.set_approvals(&"new".into(), set(&[]));
        let before = [("old", "g1"), ("new", "g2")];
        log.set_baseline(before.map(|(chat, gate)| (chat.into(), gate.into())));
        assert_eq!(log.next(), 1);
        log.set_approvals(&"new".into(), set(&[]));
        assert_eq!(log.next(), 1);
        log.set_approvals(&"old".into(), set(&["g3"]));
        let changes = log.since(1).unwrap();
        let closed = Change::ApprovalClosed("old".into(), "g1".into());
        let opened = Change::ApprovalOpened("old".into(), "g3".into());
        assert_eq!([&*changes[0].1, &*changes[1].1], [&closed, &opened]);
    }
}
