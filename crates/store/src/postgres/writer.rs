//! The one task that writes, and how it commits in groups.
//!
//! A commit waits for the disk, and takes hardly longer for a hundred appends than for one. So all
//! that wait while one commit runs go into the next. An append that can't be stored does not take its
//! group with it: then each of the group is tried alone.
//!
//! What was not written because the connection was lost is written on the next one, unless the
//! database stays away. What may have been written is not tried again: the caller gets an error that
//! nothing is known, and reads the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use turn::{At, ChatId};

use super::address::Address;
use super::append::Append;
use super::failure::silent;
use super::flush::{Failure, Flusher};
use super::outage::{Backoff, Outage};
use super::pool::away;
use super::session::Session;
use crate::change_notifier::ChangeNotifier;
use crate::error::StoreError;
use crate::journal::Appended;

/// How many jobs may wait. Further callers wait for room.
const QUEUE: usize = 1024;

/// How many appends one commit takes.
const GROUP: usize = 256;

/// How often a group is tried again because another server was faster.
const RACES: usize = 16;

/// The way to the task that writes. Dropping it ends the task, once the queue is done.
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

enum Job {
    Append(Box<Waiting>),
    Delete {
        chat: ChatId,
        tombstone: Option<At>,
        reply: oneshot::Sender<Result<bool, StoreError>>,
    },
}

/// An append and its waiter.
struct Waiting {
    append: Append,
    reply: oneshot::Sender<Result<Appended, StoreError>>,
}

impl Writer {
    /// Starts the task on a connection.
    pub(super) async fn start(
        address: Address,
        session: Session,
        outage: Arc<Outage>,
        notifier: Arc<ChangeNotifier>,
        process_id: Arc<AtomicI32>,
    ) -> Result<Self, StoreError> {
        let (jobs, inbox) = mpsc::channel(QUEUE);
        let mut work = Work {
            address,
            flusher: None,
            outage,
            notifier,
            process_id,
        };
        work.prepare(session).await?;
        tokio::spawn(work.run(inbox));
        Ok(Self { jobs })
    }

    /// Appends, and answers once that is durable.
    pub(super) async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { append, reply };
        self.ask(Job::Append(Box::new(waiting)), answer).await
    }

    /// Forgets a chat. With a time, it leaves a tombstone.
    pub(super) async fn delete(
        &self,
        chat: ChatId,
        tombstone: Option<At>,
    ) -> Result<bool, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Job::Delete {
            chat,
            tombstone,
            reply,
        };
        self.ask(job, answer).await
    }

    async fn ask<T>(
        &self,
        job: Job,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let sent = self.jobs.send(job).await;
        sent.map_err(|_| StoreError::Closed)?;
        // A task that has died has dropped what it did not answer.
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// What the task works with.
struct Work {
    address: Address,
    flusher: Option<Arc<Flusher>>,
    outage: Arc<Outage>,
    notifier: Arc<ChangeNotifier>,
    process_id: Arc<AtomicI32>,
}

impl Work {
    async fn run(mut self, mut inbox: mpsc::Receiver<Job>) {
        let mut next = None;
        loop {
            let job = match next.take() {
                Some(job) => job,
                None => match inbox.recv().await {
                    Some(job) => job,
                    None => return,
                },
            };
            match job {
                Job::Append(first) => {
                    let mut group = vec![*first];
                    // Those who were just answered may have more to say: a moment for them, or the
                    // first of them would have a commit to itself, and the others would wait for it.
                    tokio::task::yield_now().await;
                    while group.len() < GROUP {
                        match inbox.try_recv() {
                            Ok(Job::Append(waiting)) => group.push(*waiting),
                            Ok(job) => {
                                next = Some(job);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.append(group).await;
                }
                // Tails are notified before the next chat under that id can be opened here.
                Job::Delete {
                    chat,
                    tombstone,
                    reply,
                } => {
                    let deleted = self.delete(&chat, tombstone).await;
                    if deleted == Ok(true) {
                        self.notifier.end(&chat);
                    }
                    let _ = reply.send(deleted);
                }
            }
        }
    }

    async fn append(&mut self, group: Vec<Waiting>) {
        match self.append_together(&group).await {
            Err(_) if group.len() > 1 && self.is_connected() => {
                for waiting in group {
                    let alone = [waiting];
                    let answers = self.append_together(&alone).await;
                    self.answer(alone, answers);
                }
            }
            answers => self.answer(group, answers),
        }
    }

    /// Whether what failed has not failed for want of a connection.
    fn is_connected(&self) -> bool {
        self.flusher.is_some()
    }

    async fn append_together(
        &mut self,
        group: &[Waiting],
    ) -> Result<Vec<Result<Appended, StoreError>>, StoreError> {
        let appends: Vec<_> = group.iter().map(|waiting| &waiting.append).collect();
        let appends = &appends;
        self.attempt(move |flusher| async move { flusher.append(appends).await })
            .await
    }

    async fn delete(&mut self, chat: &ChatId, tombstone: Option<At>) -> Result<bool, StoreError> {
        self.attempt(move |flusher| async move { flusher.delete(chat, tombstone).await })
            .await
    }

    /// Does something on the connection that writes, and again where that is known to be safe. If the
    /// connection is there afterwards, an error is about what was asked.
    async fn attempt<T, F>(&mut self, run: impl Fn(Arc<Flusher>) -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut backoff = Backoff::default();
        let mut races = 0;
        loop {
            let begun = Instant::now();
            let flusher = match self.connected().await {
                Ok(flusher) => flusher,
                Err(error) if !self.outage.goes_on(begun) => return Err(error),
                Err(_) => {
                    backoff.wait().await;
                    continue;
                }
            };
            match run(flusher).await {
                Ok(done) => {
                    self.outage.ends();
                    return Ok(done);
                }
                Err(Failure::Refused(error)) => return Err(error),
                Err(Failure::Raced) if races < RACES => races += 1,
                Err(Failure::Raced) => return Err(StoreError::Busy),
                Err(Failure::Lost(error)) => {
                    self.disconnect();
                    if !self.outage.goes_on(begun) {
                        return Err(error);
                    }
                    backoff.wait().await;
                }
                Err(Failure::Unknown(error)) => {
                    self.disconnect();
                    return Err(away(error));
                }
            }
        }
    }

    async fn connected(&mut self) -> Result<Arc<Flusher>, StoreError> {
        if self
            .flusher
            .as_ref()
            .is_none_or(|flusher| flusher.is_closed())
        {
            self.disconnect();
            let session = self.address.connect().await.map_err(away)?;
            self.prepare(session).await?;
        }
        self.flusher.clone().ok_or(StoreError::Closed)
    }

    async fn prepare(&mut self, session: Session) -> Result<(), StoreError> {
        let time_limit = self.address.url.time_limit;
        let statement_limit = self.address.statement_limit();
        let preparing = async {
            let flusher = Flusher::new(session, statement_limit).await?;
            let process_id = flusher.process_id().await?;
            Ok((flusher, process_id))
        };
        let prepared = tokio::time::timeout(time_limit, preparing).await;
        let (flusher, process_id) = prepared.unwrap_or_else(|_| Err(silent()))?;
        self.process_id.store(process_id, Ordering::Relaxed);
        self.flusher = Some(Arc::new(flusher));
        Ok(())
    }

    /// What the connection may still wait for is of no interest any more.
    fn disconnect(&mut self) {
        if let Some(flusher) = self.flusher.take() {
            flusher.cut();
        }
    }

    fn answer(
        &self,
        group: impl IntoIterator<Item = Waiting>,
        answers: Result<Vec<Result<Appended, StoreError>>, StoreError>,
    ) {
        let mut answers = answers.map(Vec::into_iter);
        for Waiting { append, reply } in group {
            let answer = match &mut answers {
                Ok(answers) => answers.next().unwrap_or(Err(StoreError::Closed)),
                Err(error) => Err(error.clone()),
            };
            if let Ok(Appended::Ok { .. }) = answer {
                self.notifier.notify(&append.chat);
            }
            // The caller may be gone; what is stored stays stored.
            let _ = reply.send(answer);
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // However the task ends, by a panic too, no caller waits for it any more.
        self.notifier.close();
    }
}
