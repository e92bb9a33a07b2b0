//! The tools of the simulated agent, and the ledger of what they really did.

use std::collections::BTreeMap;

use turn::CallId;

use super::chance::Chance;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Moves money, after an approval.
    Pay,
    /// Moves money, and nobody is asked.
    Charge,
    /// May be run again.
    Note,
    /// Reserves, asks in the middle of its work, and pays.
    Book,
    /// Moves money, after an approval and another that it asks for in the middle of its work.
    Transfer,
    /// Looks, has a page do something, and shows.
    Guide,
    /// May be run again, and asks in the middle of its work.
    Remind,
    /// Goes on by itself, and its result opens a turn.
    Parcel,
    /// Runs in a page.
    Play,
    /// Runs in a page, after an approval.
    Locate,
    /// Moves money at the agent, which runs it by itself, and asks first.
    Remote,
}

/// The name of [`Tool::Remote`], which is none of the tools that servers have.
pub(super) const REMOTE: &str = "remote";

/// What a tool does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// Something outside, with nothing recorded.
    Act,
    /// Something outside whose result is recorded under a name.
    Once(&'static str),
    /// Asks a person.
    Ask,
    /// Has the page run something.
    Page,
    /// Says that it goes on by itself.
    Leave,
}

impl Tool {
    pub(super) const ALL: [(&'static str, Self); 10] = [
        ("pay", Self::Pay),
        ("charge", Self::Charge),
        ("note", Self::Note),
        ("book", Self::Book),
        ("transfer", Self::Transfer),
        ("guide", Self::Guide),
        ("remind", Self::Remind),
        ("parcel", Self::Parcel),
        ("play", Self::Play),
        ("locate", Self::Locate),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        let own = [(REMOTE, Self::Remote)];
        let mut all = Self::ALL.iter().chain(&own);
        all.find(|(known, _)| *known == name).map(|(_, tool)| *tool)
    }

    /// One that the agent calls, with its name.
    pub(super) fn any(chance: &mut Chance) -> (&'static str, Self) {
        // Payments are what this is about.
        if chance.one_in(3) {
            return Self::ALL[0];
        }
        *chance.pick(&Self::ALL)
    }

    pub(super) fn deeds(self) -> &'static [Deed] {
        match self {
            Self::Pay | Self::Charge | Self::Note | Self::Remote => &[Deed::Act],
            Self::Book => &[Deed::Once("reserve"), Deed::Ask, Deed::Once("pay")],
            Self::Transfer => &[Deed::Ask, Deed::Once("pay")],
            Self::Guide => &[Deed::Once("look"), Deed::Page, Deed::Once("show")],
            Self::Remind => &[Deed::Ask, Deed::Act],
            Self::Parcel => &[Deed::Leave],
            Self::Play | Self::Locate => &[],
        }
    }

    /// Whether a policy has a person asked before it runs.
    pub(super) fn is_asked_about(self) -> bool {
        matches!(self, Self::Pay | Self::Transfer | Self::Locate)
    }

    pub(super) fn is_idempotent(self) -> bool {
        matches!(self, Self::Note | Self::Remind)
    }

    pub(super) fn is_of_page(self) -> bool {
        matches!(self, Self::Play | Self::Locate)
    }
}

/// What was really done, known or not.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    done: BTreeMap<(CallId, &'static str), u32>,
}

/// The deed of tools that do but one thing.
pub(super) const ACT: &str = "act";

impl Ledger {
    pub(super) fn execute(&mut self, call: &CallId, deed: &'static str) {
        *self.done.entry((call.clone(), deed)).or_default() += 1;
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&CallId, &'static str, u32)> {
        let done = self.done.iter();
        done.map(|((call, deed), times)| (call, *deed, *times))
    }

    pub(super) fn times(&self, call: &CallId, deed: &'static str) -> u32 {
        let times = self.done.get(&(call.clone(), deed));
        times.copied().unwrap_or_default()
    }
}
