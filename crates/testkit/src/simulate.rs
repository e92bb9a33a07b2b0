//! Plays schedules of the crash simulator: `simulate --seed N` prints the whole schedule of one,
//! `simulate --from N --to M` plays many and names those that fail; `--bug NAME` plants a mistake.

use std::process::ExitCode;

use adk_stream_testkit::simulator::{self, Bug, Tally};

const USAGE: &str = "usage: simulate --seed N | --from N --to M, and maybe --bug NAME";

/// How many failing seeds are named before it stops.
const ENOUGH: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(wrong) => {
            let names: Vec<_> = Bug::ALL.iter().map(|(name, _)| *name).collect();
            eprintln!("{wrong}\n{USAGE}\nbugs: {}", names.join(", "));
            ExitCode::from(2)
        }
    }
}

/// Plays what is asked for, and returns whether everything held.
fn run(arguments: &[String]) -> Result<bool, String> {
    let (mut seed, mut from, mut to, mut bug) = (None, 0, None, None);
    for pair in arguments.chunks(2) {
        let [name, value] = pair else {
            return Err(format!("{} needs a value", pair[0]));
        };
        let number = || value.parse().map_err(|_| format!("not a number: {value}"));
        match name.as_str() {
            "--seed" => seed = Some(number()?),
            "--from" => from = number()?,
            "--to" => to = Some(number()?),
            "--bug" => {
                let found = Bug::ALL.iter().find(|(name, _)| name == value);
                let (_, found) = found.ok_or_else(|| format!("no such bug: {value}"))?;
                bug = Some(*found);
            }
            _ => return Err(format!("no such option: {name}")),
        }
    }
    match (seed, to) {
        (Some(seed), None) => {
            let story = simulator::play_traced(seed, bug);
            story.lines.iter().for_each(|line| println!("{line}"));
            println!("{:?}", story.tally);
            Ok(story.faults.is_empty())
        }
        (None, Some(to)) => Ok(play(from, to, bug)),
        _ => Err("one seed, or a range of seeds".to_owned()),
    }
}

fn play(from: u64, to: u64, bug: Option<Bug>) -> bool {
    let (mut tally, mut failed) = (Tally::default(), 0);
    for seed in from..to {
        let story = simulator::play(seed, bug);
        tally.add(&story.tally);
        if let Some(fault) = story.faults.first() {
            println!("seed {seed}: {fault}");
            failed += 1;
            if failed == ENOUGH {
                break;
            }
        }
    }
    println!("{tally:?}");
    failed == 0
}
