//! Counts the instructions of the hot paths with callgrind, and compares them with those that were
//! counted before.
//!
//! `bench-counts FILE` fails where one has grown by more than a tenth; `bench-counts FILE --update`
//! keeps what is counted. `bench-counts run NAME TIMES` is what is run to be counted.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

use bench::counts::PATHS;

/// As the product has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How much a count may grow.
const TOLERANCE: f64 = 1.10;

/// How often a path is taken. Twice as often costs twice as much, but for the start of the process:
/// the difference of the two is what is counted.
const TIMES: usize = 2_000;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["run", name, times] => {
            let (_, run) = path(name)?;
            run(times.parse()?);
            Ok(ExitCode::SUCCESS)
        }
        [file] => compare(Path::new(file), false),
        [file, "--update"] => compare(Path::new(file), true),
        _ => Err("bench-counts FILE [--update]".into()),
    }
}

fn path(name: &str) -> Result<bench::counts::Path, String> {
    let found = PATHS.into_iter().find(|(known, _)| *known == name);
    found.ok_or_else(|| format!("there is no path {name}"))
}

fn compare(file: &Path, is_update: bool) -> Result<ExitCode, Box<dyn Error>> {
    let known = std::fs::read_to_string(file).unwrap_or_else(|_| "{}".to_owned());
    let known: BTreeMap<String, u64> = serde_json::from_str(&known)?;
    let mut counts = BTreeMap::new();
    let mut has_grown = false;
    println!("{:32} {:>10} {:>10}", "instructions", "before", "now");
    for (name, _) in PATHS {
        let count = (instructions(name, 2 * TIMES)? - instructions(name, TIMES)?) / TIMES as u64;
        let before = known.get(name).copied();
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
        let is_worse = before.is_some_and(|before| count as f64 > before as f64 * TOLERANCE);
        let (before, word) = (
            before.map_or_else(|| "-".to_owned(), |before| before.to_string()),
            if is_worse {
                "  more than a tenth more"
            } else {
                ""
            },
        );
        println!("{name:32} {before:>10} {count:>10}{word}");
        has_grown |= is_worse;
        counts.insert(name.to_owned(), count);
    }
    if is_update {
        std::fs::write(file, serde_json::to_string_pretty(&counts)? + "\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(match has_grown {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// How many instructions a path takes that is taken so often, the start of the process included.
fn instructions(name: &str, times: usize) -> Result<u64, Box<dyn Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["run", name, &times.to_string()])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said
        .lines()
        .find_map(|line| line.split("Collected :").nth(1));
    let count = count.and_then(|count| count.trim().parse().ok());
    count.ok_or_else(|| format!("valgrind counted nothing: {said}").into())
}
