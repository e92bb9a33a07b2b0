//! Where a client is in a message, by its own account, and where that is in a transcript.
//!
//! Chunks have **sequences**: how much of the transcript a client has with them. A delta counts as many
//! as it has bytes, and every other line counts one; so a sequence means the same in a transcript that was
//! received word by word and in one that was read from a journal, where deltas are drawn together. What is in
//! no journal (an output that is not final) counts nothing.
//!
//! Only a step that a server began again can say something else at the same sequence. So a client brings
//! a hash of what it has of its last step, and the server that has the transcript compares.

use serde::{Deserialize, Serialize};
use wire::Profile;
use wire::frame::ShownApproval;

use super::line::Line;
use super::step_hash::StepHash;

impl Line {
    /// By how much the sequence grows with it.
    pub(super) fn extent(&self) -> u64 {
        match self {
            Self::Text(delta) | Self::Reasoning(delta) => delta.as_str().len() as u64,
            Self::Call(line) if line.is_progress() => 0,
            _ => 1,
        }
    }
}

/// Where a client is in a message, by its own account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumePoint {
    /// The assistant message.
    pub message_id: String,
    /// The sequence of the last chunk that it has.
    pub last_sequence: u64,
    /// The sequence at which its last step begins, or its window, if that opened later.
    pub step_sequence: u64,
    /// The hash of what it has since then.
    pub step_hash: u64,
    /// The approvals that it shows in the message, and what it has answered itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ShownApproval>,
}

/// A comparison of a transcript with where a client is, as far as the transcript goes.
#[derive(Debug, Clone)]
pub(super) struct CatchUp {
    point: ResumePoint,
    profile: Profile,
    /// The next line.
    index: usize,
    /// The sequence up to there.
    sequence: u64,
    /// The hash since the point's step, once that is reached.
    hash: Option<StepHash>,
    /// What follows the start of the client's last step: its line, and the sequence there.
    step: Option<(usize, u64)>,
}

/// Where the client is in the transcript.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CaughtUp {
    /// It has all lines before this one, and some bytes of this one.
    At { index: usize, bytes: usize },
    /// Its last step was begun again, and says something else.
    Changed {
        /// What follows the start of that step: its line, and the sequence there.
        step: Option<(usize, u64)>,
    },
}

impl CatchUp {
    pub(super) fn new(point: ResumePoint, profile: Profile) -> Self {
        Self {
            hash: (point.step_sequence == 0).then(StepHash::default),
            point,
            profile,
            index: 0,
            sequence: 0,
            step: None,
        }
    }

    pub(super) fn approvals(&self) -> &[ShownApproval] {
        &self.point.approvals
    }

    /// Reads on in the transcript as it now is; nothing, as long as the client is ahead of it.
    pub(super) fn read(&mut self, transcript: &[Line]) -> Option<CaughtUp> {
        let changed = |this: &Self| Some(CaughtUp::Changed { step: this.step });
        loop {
            if self.hash.is_some() && self.sequence == self.point.last_sequence {
                return self.compare(0);
            }
            let line = transcript.get(self.index)?;
            let is_last = self.index + 1 == transcript.len();
            if let Line::Close(closing) = line
                && (is_last || closing.is_final())
            {
                // Nothing more comes, and the client has more.
                return changed(self);
            }
            let after = self.sequence + line.extent();
            if let Some(hash) = &mut self.hash {
                if matches!(line, Line::StepBegun) {
                    // The client has nothing of this step, and more than there is of the one before.
                    return changed(self);
                }
                if let (true, Line::Text(delta) | Line::Reasoning(delta)) =
                    (after > self.point.last_sequence, line)
                {
                    let bytes = (self.point.last_sequence - self.sequence) as usize;
                    let Some(known) = delta.as_str().get(..bytes) else {
                        return changed(self);
                    };
                    hash.add_text(known);
                    return self.compare(bytes);
                }
                hash.add(line, self.profile);
            } else {
                if matches!(line, Line::StepBegun) {
                    self.step = Some((self.index + 1, after));
                }
                if after > self.point.step_sequence {
                    return changed(self);
                }
                if after == self.point.step_sequence {
                    self.hash = Some(StepHash::default());
                }
            }
            self.sequence = after;
            self.index += 1;
        }
    }

    fn compare(&self, bytes: usize) -> Option<CaughtUp> {
        let is_same = self
            .hash
            .is_some_and(|hash| u64::from(hash.value()) == self.point.step_hash);
        Some(match is_same {
            true => CaughtUp::At {
                index: self.index,
                bytes,
            },
            false => CaughtUp::Changed { step: self.step },
        })
    }
}
