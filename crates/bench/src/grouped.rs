//! axum alone, which answers an approval once a line of it is in a file and synced: what no durable
//! answer on the same stack can beat. One thread writes, and syncs for all that wait.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use axum::extract::{Path as Named, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::stage;

/// What an entry of an answer takes, about.
const LINE: [u8; 256] = [b'x'; 256];

struct Grouped {
    asked: AtomicU64,
    started: Mutex<HashMap<String, u64>>,
    writer: mpsc::Sender<oneshot::Sender<()>>,
}

/// Serves what (c) asks for, with nothing behind it but a file.
pub async fn serve(path: &Path, listener: TcpListener) -> Result<(), Box<dyn std::error::Error>> {
    let file = File::create(path)?;
    let (writer, waiting) = mpsc::channel();
    std::thread::spawn(move || write(file, &waiting));
    let grouped = Grouped {
        asked: AtomicU64::new(0),
        started: Mutex::default(),
        writer,
    };
    let router = Router::new()
        .route("/api/chat", post(ask))
        .route("/api/approvals/{id}", post(answer))
        .route("/bench/started", get(all_started))
        .with_state(Arc::new(grouped));
    stage::listen(listener, router).await
}

/// Writes a line for each that waits, and syncs once for all of them.
fn write(mut file: File, waiting: &mpsc::Receiver<oneshot::Sender<()>>) -> io::Result<()> {
    while let Ok(first) = waiting.recv() {
        let group: Vec<_> = [first].into_iter().chain(waiting.try_iter()).collect();
        for _ in &group {
            file.write_all(&LINE)?;
        }
        file.sync_data()?;
        for reply in group {
            let _ = reply.send(());
        }
    }
    Ok(())
}

async fn ask(State(grouped): State<Arc<Grouped>>, _: String) -> Json<Value> {
    let number = grouped.asked.fetch_add(1, Ordering::Relaxed).to_string();
    Json(json!({"approvalId": number, "toolCallId": number}))
}

async fn answer(
    State(grouped): State<Arc<Grouped>>,
    Named(id): Named<String>,
    _: String,
) -> StatusCode {
    let (reply, synced) = oneshot::channel();
    if grouped.writer.send(reply).is_err() || synced.await.is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    let started = grouped.started.lock();
    let mut started = started.unwrap_or_else(PoisonError::into_inner);
    started.insert(id, stage::now());
    StatusCode::OK
}

async fn all_started(State(grouped): State<Arc<Grouped>>) -> Json<HashMap<String, u64>> {
    let started = grouped.started.lock();
    Json(started.unwrap_or_else(PoisonError::into_inner).clone())
}
