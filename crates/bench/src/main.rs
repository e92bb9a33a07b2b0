//! Runs the same work through adk-stream, its peers and the limit, side by side, and reports.
//!
//! `make bench` prepares what this needs. `--quick` makes the run a short and rough one; a word chooses
//! what is measured: `a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`, `i`, all of them if none is given; `i1000` is
//! what has aims of `i`: 1,000 clients by SSE. If a goal of a part that was chosen is missed, it fails.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bench::report::{Report, name};
use bench::streaming::{self, Transport};
use bench::subject::Subject;
use bench::{approval, attack, footprint, growth, paced, parked, plot, windows};
use testkit::postgres::Cluster;

/// How many approvals are answered before any is measured.
const WARM_UP: usize = 400;

/// How a run is made.
struct Plan {
    root: PathBuf,
    /// Where files live that are gone after the run: on a disk, since it is the disk that is measured.
    folder: PathBuf,
    binaries: PathBuf,
    python: PathBuf,
    is_quick: bool,
    chosen: Vec<String>,
}

impl Plan {
    fn of_process() -> io::Result<Self> {
        let mut chosen: Vec<String> = std::env::args().skip(1).collect();
        let is_quick = chosen.iter().any(|word| word == "--quick");
        chosen.retain(|word| word != "--quick");
        let binary = std::env::current_exe()?;
        let binaries = binary.parent().unwrap_or(Path::new(".")).to_path_buf();
        let root = std::env::current_dir()?;
        let folder = root.join("target/bench");
        std::fs::create_dir_all(&folder)?;
        Ok(Self {
            python: root.join("target/python-bench/bin/python"),
            root,
            folder,
            binaries,
            is_quick,
            chosen,
        })
    }

    fn wants(&self, part: &str) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|word| word == part)
    }

    fn server(&self) -> PathBuf {
        self.binaries.join("bench-server")
    }

    /// Starts one of those that are measured.
    async fn start(&self, who: &str, postgres: Option<&Cluster>) -> io::Result<Subject> {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let server = self.server();
        let own = |argument: String| Subject::start(server, [argument], &self.root);
        match who {
            name::BARE => own("bare".to_owned()).await,
            name::SSE => own("sse".to_owned()).await,
            name::GROUPED => {
                let file = self.folder.join(format!("fsync-{count}"));
                own(format!("fsync:{}", file.display())).await
            }
            name::MEMORY => own("memory".to_owned()).await,
            name::SQLITE => {
                let file = self.folder.join(format!("chats-{count}.db"));
                own(format!("sqlite:{}", file.display())).await
            }
            name::POSTGRES => {
                let cluster = postgres.ok_or(io::ErrorKind::NotFound)?;
                own(cluster.database(&format!("bench_{count}"))).await
            }
            name::NODE => Subject::start("node", ["web/bench/server.js"], &self.root).await,
            name::PYTHON => {
                Subject::start(&self.python, ["bench/python/server.py"], &self.root).await
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Removes what was written to the disk.
    fn sweep(&self) -> io::Result<()> {
        for file in std::fs::read_dir(&self.folder)? {
            std::fs::remove_file(file?.path())?;
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::of_process()?;
    plan.sweep()?;
    let mut report = Report {
        is_quick: plan.is_quick,
        processors: std::thread::available_parallelism()?.get(),
        ..Report::default()
    };
    let postgres = ["a", "c", "g"].iter().any(|part| plan.wants(part));
    let postgres = postgres.then(Cluster::start);
    if plan.wants("a") {
        stream(&plan, &mut report, Transport::Sse, postgres.as_ref()).await?;
    }
    if plan.wants("g") {
        stream(&plan, &mut report, Transport::WebSocket, postgres.as_ref()).await?;
    }
    if plan.wants("b") {
        let count = if plan.is_quick { 2_000 } else { 10_000 };
        for who in [name::BARE, name::MEMORY, name::SQLITE] {
            let subject = plan.start(who, None).await?;
            let waited = windows::measure(who, &subject, count).await?;
            eprintln!("{waited:?}");
            report.windows.push(waited);
            subject.stop().await?;
        }
    }
    if plan.wants("c") {
        for who in [name::GROUPED, name::SQLITE, name::MEMORY, name::POSTGRES] {
            let subject = plan.start(who, postgres.as_ref()).await?;
            // As a server is that has been at work: its log has been filled once, and is written over.
            approval::measure(who, &subject, 1, WARM_UP, None).await?;
            for (at_once, rounds) in [(1, 400), (64, 40)] {
                let mut syncs = match who {
                    name::SQLITE => Some(approval::Syncs::new(&plan.folder, at_once)?),
                    _ => None,
                };
                let answered = approval::measure(who, &subject, at_once, rounds, syncs.as_mut());
                let answered = answered.await?;
                eprintln!("{answered:?}");
                let synced = syncs.map(|syncs| syncs.measured(name::FSYNC));
                report.approvals.extend(synced);
                report.approvals.push(answered);
            }
            subject.stop().await?;
        }
        report
            .approvals
            .sort_by_key(|one| one.subject != name::FSYNC);
    }
    drop(postgres);
    if plan.wants("d") {
        let count = if plan.is_quick { 50_000 } else { 1_000_000 };
        let parked = parked::measure(&plan.server(), &plan.folder, count).await?;
        eprintln!("{parked:?}");
        report.parked = Some(parked);
    }
    if plan.wants("e") {
        grow(&plan, &mut report).await?;
    }
    if plan.wants("f") {
        start_up(&plan, &mut report).await?;
    }
    if plan.wants("h") {
        let product = plan.binaries.join("adk-stream");
        let turns = if plan.is_quick { 200 } else { 1_000 };
        let attacked = attack::measure(&product, &plan.folder, turns).await?;
        eprintln!("{attacked:?}");
        report.attacked = Some(attacked);
    }
    if plan.wants("i") {
        for transport in [Transport::Sse, Transport::WebSocket] {
            keep_pace(&plan, &mut report, transport).await?;
        }
    }
    // Not in a whole run, which has it by `i`.
    if plan.chosen.iter().any(|word| word == "i1000") {
        for who in [name::BARE, name::MEMORY, name::SQLITE] {
            pace(&plan, &mut report, who, Transport::Sse, (1_000, 1)).await?;
        }
    }
    plan.sweep()?;
    tell(&plan, &mut report)
}

async fn stream(
    plan: &Plan,
    report: &mut Report,
    transport: Transport,
    postgres: Option<&Cluster>,
) -> io::Result<()> {
    let all = [
        name::BARE,
        name::SSE,
        name::MEMORY,
        name::SQLITE,
        name::POSTGRES,
        name::NODE,
        name::PYTHON,
    ];
    let over_socket = [name::BARE, name::MEMORY, name::SQLITE, name::POSTGRES];
    let subjects = match transport {
        Transport::Sse => &all[..],
        Transport::WebSocket => &over_socket[..],
    };
    let span = Duration::from_millis(if plan.is_quick { 800 } else { 4_000 });
    let clients = match plan.is_quick {
        true => &[1, 64][..],
        false => &[1, 16, 64, 512][..],
    };
    for clients in clients {
        // Side by side: whatever else the machine does at this minute, it does to all of them.
        for who in subjects {
            let subject = plan.start(who, postgres).await?;
            let streamed = streaming::measure(who, &subject, transport, *clients, span).await?;
            eprintln!("{streamed:?}");
            report.streaming.push(streamed);
            subject.stop().await?;
        }
    }
    let place = |who: &str| all.iter().position(|subject| *subject == who);
    report.streaming.sort_by_key(|one| {
        (
            one.transport == Transport::WebSocket,
            place(&one.subject),
            one.clients,
        )
    });
    Ok(())
}

/// Turns at the pace of real models, side by side.
async fn keep_pace(plan: &Plan, report: &mut Report, transport: Transport) -> io::Result<()> {
    let all = [
        name::BARE,
        name::SSE,
        name::MEMORY,
        name::SQLITE,
        name::NODE,
        name::PYTHON,
    ];
    let both = [name::BARE, name::MEMORY, name::SQLITE];
    let rounds: &[(usize, usize)] = match plan.is_quick {
        true => &[(100, 1)],
        // Clients, and turns of each: the system counts time in hundredths of a second.
        false => &[(100, 3), (1_000, 1), (2_000, 1)],
    };
    for (clients, turns) in rounds {
        let subjects = match (transport, clients) {
            // Those who are far from holding the pace for 1,000 need minutes for 2,000.
            (Transport::Sse, ..=1_000) => &all[..],
            (Transport::Sse, _) => &all[..4],
            (Transport::WebSocket, _) => &both[..],
        };
        for who in subjects {
            pace(plan, report, who, transport, (*clients, *turns)).await?;
        }
    }
    let readers = if plan.is_quick { 100 } else { 1_000 };
    for who in both {
        let subject = plan.start(who, None).await?;
        let watched = paced::measure_watched(who, &subject, transport, readers).await?;
        eprintln!("{watched:?}");
        report.paced.push(watched);
        subject.stop().await?;
    }
    Ok(())
}

/// A number of clients with a number of turns each, at the pace of real models.
async fn pace(
    plan: &Plan,
    report: &mut Report,
    who: &str,
    transport: Transport,
    (clients, turns): (usize, usize),
) -> io::Result<()> {
    let subject = plan.start(who, None).await?;
    let paced = paced::measure(who, &subject, transport, clients, turns).await?;
    eprintln!("{paced:?}");
    report.paced.push(paced);
    subject.stop().await
}

async fn grow(plan: &Plan, report: &mut Report) -> io::Result<()> {
    let times = if plan.is_quick { 50 } else { 400 };
    let subject = plan.start(name::MEMORY, None).await?;
    for (parts, times) in [(200, times * 10), (2_000, times)] {
        report
            .growth
            .push(growth::resume(&subject, parts, times).await?);
    }
    subject.stop().await?;
    let sizes = [10, 1_000, 10_000];
    for grown in growth::converse(&plan.server(), &plan.folder, &sizes, times * 2).await? {
        report.first_turn_of_long_chat = grown.0;
        report.growth.push(grown.1);
    }
    eprintln!("{:?}", report.growth);
    Ok(())
}

async fn start_up(plan: &Plan, report: &mut Report) -> io::Result<()> {
    let node = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join("node"))
        .find(|path| path.is_file())
        .ok_or(io::ErrorKind::NotFound)?;
    let product = plan.binaries.join("adk-stream");
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let root = &plan.root;
    let footprints = &mut report.footprints;
    footprints.push(footprint::measure("adk-stream", &product, &serve, root, true).await?);
    let server = plan.server();
    footprints.push(footprint::measure(name::BARE, &server, &["bare"], root, false).await?);
    let script = ["web/bench/server.js"];
    footprints.push(footprint::measure(name::NODE, &node, &script, root, false).await?);
    let script = ["bench/python/server.py"];
    footprints.push(footprint::measure(name::PYTHON, &plan.python, &script, root, false).await?);
    Ok(())
}

/// Prints the tables, and keeps a whole run where the documents show it.
fn tell(plan: &Plan, report: &mut Report) -> Result<(), Box<dyn Error>> {
    report.judge();
    let tables = report.tables();
    println!("{tables}");
    let results = plan.root.join("bench/results");
    std::fs::create_dir_all(&results)?;
    // A rough or partial run is not what the documents should show.
    let is_whole = plan.chosen.is_empty() && !plan.is_quick;
    let file = if is_whole {
        "latest.json"
    } else {
        "partial.json"
    };
    let json = serde_json::to_string_pretty(&report)?;
    std::fs::write(results.join(file), json + "\n")?;
    if is_whole {
        show(&plan.root.join("bench/README.md"), &tables)?;
        let picture = plan.root.join("docs/images/bench.svg");
        std::fs::write(picture, plot::svg(report))?;
    }
    // A whole run is a report; who asks for a part by its name wants to know whether it holds.
    match report.missed().as_slice() {
        missed @ [_, ..] if !plan.chosen.is_empty() => {
            Err(format!("missed: {}", missed.join("; ")).into())
        }
        _ => Ok(()),
    }
}

/// Puts the tables of a run where the document has those of the last.
fn show(document: &Path, tables: &str) -> io::Result<()> {
    let (begin, end) = ("<!-- results -->\n", "<!-- /results -->");
    let text = std::fs::read_to_string(document)?;
    let parts = text.split_once(begin).zip(text.split_once(end));
    let ((before, _), (_, after)) = parts.ok_or(io::ErrorKind::InvalidData)?;
    std::fs::write(document, format!("{before}{begin}{tables}{end}{after}"))
}
