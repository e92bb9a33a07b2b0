//! A server to be measured: `bench-server bare`, or `sse`, `fsync:PATH`, `memory`,
//! `sqlite:PATH` or `postgres://…`.

use adk_stream::store::Location;
use bench::{bare, grouped, stage};
use tokio::net::TcpListener;

/// As the product has it; what it is measured beside has it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // As the product has it, too.
    adk_stream::runtime()?.block_on(serve())
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    match (what.as_str(), what.split_once(':')) {
        ("bare", _) => bare::serve(listener).await,
        ("sse", _) => bare::serve_sse(listener).await,
        (_, Some(("fsync", path))) => grouped::serve(path.as_ref(), listener).await,
        ("memory", _) => stage::serve(Location::Memory, listener).await,
        (_, Some(("sqlite", path))) => stage::serve(Location::Sqlite(path.into()), listener).await,
        (_, Some(("postgres", _))) => {
            let url = Box::new(what.parse()?);
            stage::serve(Location::Postgres(url), listener).await
        }
        _ => Err(
            "bench-server bare | sse | fsync:PATH | memory | sqlite:PATH | postgres://URL".into(),
        ),
    }
}
