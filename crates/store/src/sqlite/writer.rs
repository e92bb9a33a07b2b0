//! The one thread that writes, and how it commits in groups.
//!
//! A commit waits for the disk, and takes hardly longer for a hundred appends than for one. So all
//! that wait while one commit runs go into the next; and where many keep writing, a commit waits for
//! more of them, as long as one takes at most. Each job still is independent: where one fails,
//! which is rare, all of its group are run again, each alone. And each is answered after the commit,
//! since what it found may rest on a job before it in the same group.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use turn::ChatId;

use super::files::Files;
use super::write_connection::WriteConnection;
use crate::change_notifier::ChangeNotifier;
use crate::error::StoreError;

/// How many jobs may wait. Further callers wait for room.
const QUEUE: usize = 1024;

/// How many jobs one commit takes.
const GROUP: usize = 256;

/// How many jobs make a crowd.
const CROWD: usize = 4;

/// After how many commits with a crowd, one after the other, the next one waits for more to come. A
/// crowd that comes once is gone by then: waiting would do nothing for it but take longer.
const STEADY: usize = 16;

/// How long a commit waits for more jobs, however slow the disk is.
const GATHER: Duration = Duration::from_millis(2);

/// How often the thread checks whether another process has written, if there are listeners.
const LOOK: Duration = Duration::from_millis(250);

/// The way to the thread that writes. Dropping it ends the thread, once the queue is done.
pub(super) struct Writer {
    /// Always there until the writer is dropped.
    messages: Option<mpsc::Sender<Message>>,
    room: Arc<Semaphore>,
    beginning: Beginning,
    thread: Option<JoinHandle<()>>,
}

/// Since when the thread begins a transaction, while it does. To begin takes the file's lock and
/// nothing else: what takes long there is another process that holds it.
#[derive(Clone, Default)]
struct Beginning(Arc<Mutex<Option<Instant>>>);

impl Beginning {
    fn set(&self, since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    fn since(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a job did.
pub(super) struct Written<T> {
    pub(super) value: T,
    pub(super) notification: Notification,
}

/// What tails are notified of.
pub(super) enum Notification {
    /// Nothing.
    Nothing,
    /// A journal grew.
    Grew(ChatId),
    /// A chat was deleted.
    Deleted(ChatId),
    /// A list shows a chat otherwise.
    Relabelled(ChatId),
}

enum Message {
    Job(Box<dyn Job>),
    /// There is a listener, so check for writes of other processes.
    Listen,
}

impl Writer {
    /// Starts the thread on a connection that may write.
    pub(super) fn start(
        connection: Connection,
        files: Files,
        notifier: Arc<ChangeNotifier>,
    ) -> io::Result<Self> {
        let (messages, inbox) = mpsc::channel();
        let beginning = Beginning::default();
        let work = Work {
            connection: WriteConnection::new(connection, files),
            beginning: beginning.clone(),
            looked: Instant::now(),
            crowds: 0,
            gather: None,
            inbox,
            notifier,
        };
        let thread = std::thread::Builder::new().name("journal-writer".to_owned());
        let thread = thread.spawn(move || work.run())?;
        Ok(Self {
            messages: Some(messages),
            room: Arc::new(Semaphore::new(QUEUE)),
            beginning,
            thread: Some(thread),
        })
    }

    /// Runs a job inside a transaction and answers once that is durable. The job may run twice, if
    /// the group that it was in could not be committed.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        run: impl FnMut(&mut WriteConnection) -> Result<Written<T>, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let (reply, answer) = oneshot::channel();
        self.send(Message::Job(Box::new(Waiting {
            run,
            result: Err(StoreError::Closed),
            reply,
            room: room.map_err(|_| StoreError::Closed)?,
        })))?;
        // A thread that has died has dropped what it did not answer.
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Whether another process has held the file's lock for so long, while this one waits for it.
    pub(super) fn is_locked_out(&self, span: Duration) -> bool {
        let since = self.beginning.since();
        since.is_some_and(|since| since.elapsed() >= span)
    }

    /// There is a listener.
    pub(super) fn listen(&self) {
        // If the thread is gone, the notifier is closed, and the listener knows it from there.
        let _ = self.send(Message::Listen);
    }

    fn send(&self, message: Message) -> Result<(), StoreError> {
        let messages = self.messages.as_ref().ok_or(StoreError::Closed)?;
        messages.send(message).map_err(|_| StoreError::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            // So that the file is closed when the store is gone. A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// A job, whatever it answers.
trait Job: Send {
    fn run(&mut self, connection: &mut WriteConnection) -> Result<(), StoreError>;
    fn deletes(&self) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), StoreError>, notifier: &ChangeNotifier);
}

struct Waiting<T, F> {
    run: F,
    result: Result<Written<T>, StoreError>,
    reply: oneshot::Sender<Result<T, StoreError>>,
    room: OwnedSemaphorePermit,
}

impl<T, F> Job for Waiting<T, F>
where
    T: Send,
    F: FnMut(&mut WriteConnection) -> Result<Written<T>, StoreError> + Send,
{
    fn run(&mut self, connection: &mut WriteConnection) -> Result<(), StoreError> {
        self.result = (self.run)(connection);
        self.result.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn deletes(&self) -> bool {
        let notification = self.result.as_ref().map(|written| &written.notification);
        matches!(notification, Ok(Notification::Deleted(_)))
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>, notifier: &ChangeNotifier) {
        let Waiting {
            result,
            reply,
            room,
            ..
        } = *self;
        let result = committed.and(result).map(|written| {
            match written.notification {
                Notification::Nothing => {}
                Notification::Grew(chat) => notifier.notify(&chat),
                Notification::Deleted(chat) => notifier.end(&chat),
                Notification::Relabelled(chat) => notifier.relabelled(&chat),
            }
            written.value
        });
        drop(room);
        // The caller may be gone; what is stored stays stored.
        let _ = reply.send(result);
    }
}

/// What the thread works with.
struct Work {
    connection: WriteConnection,
    beginning: Beginning,
    inbox: mpsc::Receiver<Message>,
    notifier: Arc<ChangeNotifier>,
    looked: Instant,
    /// How many commits had a crowd, up to the last one.
    crowds: usize,
    /// How long the next commit waits for more jobs, where there is a crowd.
    gather: Option<Duration>,
}

/// Why a group was not committed.
enum Uncommitted {
    /// It could not even begin, and no other would.
    Begin(StoreError),
    /// The transaction failed.
    Transaction(StoreError),
}

impl Work {
    fn run(mut self) {
        loop {
            let message = if self.notifier.has_listeners() {
                self.inbox.recv_timeout(LOOK)
            } else {
                let message = self.inbox.recv();
                message.map_err(|_| mpsc::RecvTimeoutError::Disconnected)
            };
            match message {
                Ok(Message::Job(job)) => self.commit_group(job),
                Ok(Message::Listen) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
            self.check_other_processes();
        }
    }

    fn commit_group(&mut self, first: Box<dyn Job>) {
        if let Some(gather) = self.gather {
            std::thread::sleep(gather);
        }
        let begun = Instant::now();
        let mut group = Vec::new();
        let committed = self.transact(first, GROUP, &mut group);
        let is_crowd = group.len() >= CROWD;
        self.crowds = if is_crowd { self.crowds + 1 } else { 0 };
        let is_steady = self.crowds >= STEADY;
        self.gather = is_steady.then(|| begun.elapsed().min(GATHER));
        match committed {
            Ok(()) => self.answer(group, &Ok(())),
            Err(Uncommitted::Begin(error)) => {
                // They have waited as long, and would wait as long again for the same answer.
                group.extend(std::iter::from_fn(|| self.next_job()).take(QUEUE));
                self.answer(group, &Err(error));
            }
            Err(Uncommitted::Transaction(error)) if group.len() == 1 => {
                self.answer(group, &Err(error));
            }
            // One that fails, or is too large for the disk, should not take the others with it.
            Err(Uncommitted::Transaction(_)) => {
                for job in group {
                    let mut alone = Vec::new();
                    let committed = self.transact(job, 1, &mut alone);
                    let committed = committed.map_err(|uncommitted| match uncommitted {
                        Uncommitted::Begin(error) | Uncommitted::Transaction(error) => error,
                    });
                    self.answer(alone, &committed);
                }
            }
        }
    }

    /// Runs the first job, and up to `limit` in all, in one transaction. Leaves them in `group`.
    fn transact(
        &mut self,
        first: Box<dyn Job>,
        limit: usize,
        group: &mut Vec<Box<dyn Job>>,
    ) -> Result<(), Uncommitted> {
        group.push(first);
        self.beginning.set(Some(Instant::now()));
        let begun = self.connection.begin();
        self.beginning.set(None);
        if begun.map_err(Uncommitted::Begin)? {
            self.notifier.notify_all();
        }
        let committed = self
            .run_group(limit, group)
            .and_then(|()| self.connection.commit());
        committed.map_err(|error| {
            let _ = self.connection.roll_back();
            Uncommitted::Transaction(error)
        })
    }

    fn run_group(&mut self, limit: usize, group: &mut Vec<Box<dyn Job>>) -> Result<(), StoreError> {
        let mut next = 0;
        while let Some(job) = group.get_mut(next) {
            job.run(&mut self.connection)?;
            // Tails must be notified of the deletion before the next chat under that id can be read.
            let is_last = job.deletes();
            next += 1;
            if next < limit && !is_last {
                group.extend(self.next_job());
            }
        }
        Ok(())
    }

    fn next_job(&self) -> Option<Box<dyn Job>> {
        let mut messages = self.inbox.try_iter();
        messages.find_map(|message| match message {
            Message::Job(job) => Some(job),
            Message::Listen => None,
        })
    }

    fn answer(&self, group: Vec<Box<dyn Job>>, committed: &Result<(), StoreError>) {
        for job in group {
            job.answer(committed.clone(), &self.notifier);
        }
    }

    /// Rings for everybody when another process has written.
    fn check_other_processes(&mut self) {
        if self.notifier.has_listeners() && self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            if self.connection.others_wrote() {
                self.notifier.notify_all();
            }
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // However the thread ends, by a panic too, no caller waits for it any more.
        self.notifier.close();
    }
}

#[cfg(test)]
mod tests;
