//! Runs everything side by side and reports.

use std::path::Path;
use std::time::Duration;

use bench::streaming::{self, Transport};
use bench::subject::Subject;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = std::env::current_exe()?.with_file_name("bench-server");
    let file = std::env::temp_dir().join("bench-probe.db");
    let sqlite = format!("sqlite:{}", file.display());
    let only: Vec<String> = std::env::args().skip(1).collect();
    for what in ["bare", "memory", &sqlite] {
        if !only.is_empty() && !only.iter().any(|only| what.starts_with(only.as_str())) {
            continue;
        }
        for transport in [Transport::Sse, Transport::WebSocket] {
            for clients in [1, 16, 64, 512] {
                for end in ["", "-wal", "-shm"] {
                    let _ = std::fs::remove_file(format!("{}{end}", file.display()));
                }
                let subject = Subject::start(&server, [what], Path::new(".")).await?;
                let span = Duration::from_millis(1500);
                let streamed = streaming::measure(what, &subject, transport, clients, span).await?;
                println!(
                    "{what:10.10} {transport:?} {clients:4} {:8.0}/s {:8.0}/cpu-s first {:.2} {:.2} ms peak {} MB",
                    streamed.deltas_per_second,
                    streamed.deltas_per_cpu_second,
                    streamed.first_p50,
                    streamed.first_p99,
                    streamed.peak_bytes >> 20,
                );
                subject.stop().await?;
            }
        }
    }
    Ok(())
}
