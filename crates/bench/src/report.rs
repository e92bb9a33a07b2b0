//! The report of a run: goals as ratios, all numbers as JSON, and tables for people.

use std::fmt::Write;

use serde::Serialize;

use crate::approval::Answered;
use crate::attack::Attacked;
use crate::footprint::Footprint;
use crate::growth::Grown;
use crate::paced::{self, Crowd, Paced};
use crate::parked::Parked;
use crate::streaming::{Streamed, Transport};
use crate::windows::Waited;

/// Everything that was measured in one run.
#[derive(Debug, Clone, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether the run was a short one, whose numbers are rough.
    pub is_quick: bool,
    /// How many processors the machine has.
    pub processors: usize,
    /// (a) and (g): turns of 200 deltas.
    pub streaming: Vec<Streamed>,
    /// (b): windows that nothing happens in.
    pub windows: Vec<Waited>,
    /// (c): from an answer to the start of its tool.
    pub approvals: Vec<Answered>,
    /// (d): a million approvals that wait.
    pub parked: Option<Parked>,
    /// (e): what must not grow.
    pub growth: Vec<Grown>,
    /// (e): milliseconds of the first turn of the longest chat, which has to be read first.
    pub first_turn_of_long_chat: f64,
    /// (f): what a server costs before anybody asks it for anything.
    pub footprints: Vec<Footprint>,
    /// (h): a client that behaves, beside hostile ones.
    pub attacked: Option<Attacked>,
    /// (i): turns at the pace of real models.
    pub paced: Vec<Paced>,
    /// What was aimed at, and what came of it.
    pub goals: Vec<Goal>,
}

/// Something that was aimed at.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    /// What is compared.
    pub what: String,
    /// What came of it.
    pub measured: f64,
    /// What was aimed at: at least this, or at most.
    pub aim: f64,
    /// Whether more is better.
    pub is_at_least: bool,
    /// Whether it was met.
    pub is_met: bool,
}

/// The names of those that are measured.
pub mod name {
    /// axum alone, with bytes that were made before.
    pub const BARE: &str = "bare axum";
    /// axum's own type for server-sent events, as its documentation has it.
    pub const SSE: &str = "axum Sse";
    /// A write to a file and its sync, with no server at all.
    pub const FSYNC: &str = "bare write and fsync";
    /// axum alone, with a file that is synced for all who wait: the limit of what is durable.
    pub const GROUPED: &str = "bare axum, grouped fsync";
    /// The AI SDK on Node.
    pub const NODE: &str = "AI SDK on Node";
    /// pydantic-ai on uvicorn.
    pub const PYTHON: &str = "pydantic-ai";
    /// adk-stream with its journal in memory.
    pub const MEMORY: &str = "adk-stream, memory";
    /// adk-stream with its journal in SQLite.
    pub const SQLITE: &str = "adk-stream, SQLite";
    /// adk-stream with its journal in PostgreSQL.
    pub const POSTGRES: &str = "adk-stream, PostgreSQL";
}

impl Report {
    /// Deltas for each second of processor time, where it was measured.
    fn rate(&self, subject: &str, transport: Transport, clients: usize) -> Option<f64> {
        let found = self.streamed(subject, transport, clients)?;
        Some(found.deltas_per_cpu_second)
    }

    fn streamed(&self, subject: &str, transport: Transport, clients: usize) -> Option<&Streamed> {
        self.streaming.iter().find(|one| {
            one.subject == subject && one.transport == transport && one.clients == clients
        })
    }

    /// Milliseconds until half of the tools were started, where it was measured.
    fn answered(&self, subject: &str, at_once: usize) -> Option<f64> {
        let mut answered = self.approvals.iter();
        let found = answered.find(|one| one.subject == subject && one.at_once == at_once)?;
        Some(found.started_p50)
    }

    /// The processor time of a delta at the pace of real models, to 1,000 clients by SSE.
    fn cpu_at_pace(&self, subject: &str) -> Option<f64> {
        let found = self.paced.iter().find(|one| {
            one.subject == subject
                && (one.transport, one.crowd) == (Transport::Sse, Crowd::Clients)
                && one.count == 1_000
        })?;
        Some(found.cpu_microseconds)
    }

    /// The goals that were missed, for who asked for a part to know.
    pub fn missed(&self) -> Vec<&str> {
        let missed = self.goals.iter().filter(|goal| !goal.is_met);
        missed.map(|goal| goal.what.as_str()).collect()
    }

    /// Compares what was measured with what was aimed at.
    pub fn judge(&mut self) {
        let mut goals = Vec::new();
        let mut goal = |what: &str, measured: Option<f64>, aim: f64, is_at_least: bool| {
            if let Some(measured) = measured.filter(|measured| measured.is_finite()) {
                goals.push(Goal {
                    what: what.to_owned(),
                    measured,
                    aim,
                    is_at_least,
                    is_met: (measured >= aim) == is_at_least || measured == aim,
                });
            }
        };
        let sse = |subject: &str, clients| self.rate(subject, Transport::Sse, clients);
        let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
        for subject in [name::MEMORY, name::SQLITE] {
            let ours = sse(subject, 64);
            for (other, aim) in [
                (name::NODE, 80.0),
                (name::PYTHON, 200.0),
                (name::BARE, 0.5),
                (name::SSE, 0.5),
            ] {
                let word = if aim > 1.0 { "times" } else { "of" };
                let what =
                    format!("(a) deltas per CPU second at 64 clients, {subject}: {word} {other}");
                goal(&what, ratio(ours, sse(other, 64)), aim, true);
            }
        }
        let many = self.streamed(name::SQLITE, Transport::Sse, 64);
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
        let megabytes = many.map(|one| one.peak_bytes as f64 / 1e6);
        let what = format!("(a) MB at the most at 64 clients, {}", name::SQLITE);
        goal(&what, megabytes, 150.0, false);
        let alone = |subject| {
            let found = self.streamed(subject, Transport::Sse, 1)?;
            Some(found.deltas_per_second)
        };
        let what = "(a) deltas per second to one client alone, in memory: of bare axum";
        goal(
            what,
            ratio(alone(name::MEMORY), alone(name::BARE)),
            0.2,
            true,
        );

        let waited = |subject: &str| self.windows.iter().find(|one| one.subject == subject);
        for subject in [name::MEMORY, name::SQLITE] {
            let (ours, bare) = (waited(subject), waited(name::BARE));
            let what = format!("(b) KB for each idle window, {subject}");
            goal(&what, ours.map(|one| one.bytes_each / 1e3), 30.0, false);
            let p99 = ratio(ours.map(|one| one.delta_p99), bare.map(|one| one.delta_p99));
            let what = format!("(b) one delta to each, p99, {subject}: times bare axum");
            goal(&what, p99, 5.0, false);
        }
        for at_once in [1, 64] {
            let ours = self.answered(name::SQLITE, at_once);
            let times = ratio(ours, self.answered(name::FSYNC, at_once));
            let what = format!(
                "(c) answer to tool start, p50, {at_once} at once, SQLite: times as many bare fsyncs"
            );
            goal(&what, times, 3.0, false);
        }
        if let Some(parked) = &self.parked {
            let what = format!("(d) {} parked approvals: MB at the most", parked.approvals);
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
            let megabytes = parked.peak_bytes as f64 / 1e6;
            goal(&what, Some(megabytes), 200.0, false);
            let what = "(d) seconds to open them after a restart";
            goal(what, Some(parked.open_seconds), 1.0, false);
        }
        if let Some(attacked) = &self.attacked {
            let what = "(h) a turn under attack, p99: times the same without";
            let times = attacked.attacked_p99 / attacked.calm_p99;
            goal(what, Some(times), 10.0, false);
            let what = "(h) MB at the most under attack";
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
            let megabytes = attacked.peak_bytes as f64 / 1e6;
            goal(what, Some(megabytes), 300.0, false);
        }
        for what in ["a part of a resumed message", "one more turn of a chat"] {
            let mut grown: Vec<_> = self.growth.iter().filter(|one| one.what == what).collect();
            grown.sort_by_key(|one| one.size);
            if let [first, .., last] = grown.as_slice() {
                let what = format!("(e) CPU of {what}: at {} against {}", last.size, first.size);
                let ratio = last.cpu_microseconds / first.cpu_microseconds;
                goal(&what, Some(ratio), 1.2, false);
            }
        }
        for (subject, aim) in [(name::MEMORY, 1.35), (name::SQLITE, 1.45)] {
            let times = ratio(self.cpu_at_pace(subject), self.cpu_at_pace(name::BARE));
            let what = format!("(i) CPU of a delta at 1000 clients, {subject}: times bare axum");
            goal(&what, times, aim, false);
        }
        self.goals = goals;
    }

    /// The run as Markdown.
    pub fn tables(&self) -> String {
        let mut out = String::new();
        // Writing to a string can't fail.
        let _ = self.write_tables(&mut out);
        out
    }

    fn write_tables(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "| goal | aim | measured | |\n|---|---:|---:|---|")?;
        for goal in &self.goals {
            let sign = if goal.is_at_least { "≥" } else { "≤" };
            let met = if goal.is_met { "met" } else { "**missed**" };
            writeln!(
                out,
                "| {} | {sign} {} | {} | {met} |",
                goal.what,
                number(goal.aim),
                number(goal.measured)
            )?;
        }
        let head = "| who | clients | deltas/s | CPU s per million | times Node, per CPU s | of bare axum | first chunk p50, p99 (ms) | peak (MB) |";
        for (transport, title) in [
            (Transport::Sse, "(a) 200 deltas of 8 bytes, by SSE"),
            (Transport::WebSocket, "(g) the same by WebSocket"),
        ] {
            writeln!(
                out,
                "\n{title}:\n\n{head}\n|---|---:|---:|---:|---:|---:|---:|---:|"
            )?;
            let all = self.streaming.iter();
            for one in all.filter(|one| one.transport == transport) {
                let against = |subject, transport| {
                    let other = self.rate(subject, transport, one.clients);
                    let ratio = other.map(|other| one.deltas_per_cpu_second / other);
                    ratio.map_or("".to_owned(), number)
                };
                writeln!(
                    out,
                    "| {} | {} | {} | {} | {} | {} | {}, {} | {} |",
                    one.subject,
                    one.clients,
                    number(one.deltas_per_second),
                    number(one.cpu_seconds_per_million),
                    against(name::NODE, Transport::Sse),
                    against(name::BARE, transport),
                    number(one.first_p50),
                    number(one.first_p99),
                    one.peak_bytes / 1_000_000,
                )?;
            }
        }
        writeln!(out, "\n(b) Idle windows, then one delta to each:\n")?;
        writeln!(
            out,
            "| who | windows | KB each | delta p50, p99 (ms) |\n|---|---:|---:|---:|"
        )?;
        for one in &self.windows {
            let (p50, p99) = (number(one.delta_p50), number(one.delta_p99));
            let each = number(one.bytes_each / 1e3);
            writeln!(
                out,
                "| {} | {} | {each} | {p50}, {p99} |",
                one.subject, one.windows
            )?;
        }
        writeln!(out, "\n(c) Answer posted until the tool started:\n")?;
        writeln!(
            out,
            "| who | at once | p50 (ms) | p99 (ms) | times as many fsyncs at once | times one fsync alone |\n|---|---:|---:|---:|---:|---:|"
        )?;
        for one in &self.approvals {
            let (p50, p99) = (number(one.started_p50), number(one.started_p99));
            let times = |at_once| {
                let synced = self.answered(name::FSYNC, at_once)?;
                Some(number(one.started_p50 / synced))
            };
            let (as_many, alone) = (times(one.at_once), times(1));
            writeln!(
                out,
                "| {} | {} | {p50} | {p99} | {} | {} |",
                one.subject,
                one.at_once,
                as_many.unwrap_or_default(),
                alone.unwrap_or_default(),
            )?;
        }
        if let Some(parked) = &self.parked {
            writeln!(
                out,
                "\n(d) {} parked approvals in one SQLite file of {} MB: open after {} s with {} MB, {} MB at the most; an answer among them starts its tool after {} ms (p50), {} ms (p99).",
                parked.approvals,
                parked.file_bytes / 1_000_000,
                number(parked.open_seconds),
                parked.open_bytes / 1_000_000,
                parked.peak_bytes / 1_000_000,
                number(parked.started_p50),
                number(parked.started_p99),
            )?;
        }
        writeln!(out, "\n(e) What must not grow:\n")?;
        writeln!(
            out,
            "| what | size | CPU µs each | wait p50 (ms) |\n|---|---:|---:|---:|"
        )?;
        for one in &self.growth {
            let (cpu, wait) = (number(one.cpu_microseconds), number(one.wait_p50));
            writeln!(out, "| {} | {} | {cpu} | {wait} |", one.what, one.size)?;
        }
        let first = number(self.first_turn_of_long_chat);
        writeln!(
            out,
            "\nThe first turn of the longest chat, which has to be read from its journal first, takes {first} ms."
        )?;
        writeln!(out, "\n(f) Before anybody asks for anything:\n")?;
        writeln!(
            out,
            "| who | start p50 (ms) | idle (MB) | one file (MB) |\n|---|---:|---:|---:|"
        )?;
        for one in &self.footprints {
            let size = one
                .binary_bytes
                .map(|bytes| (bytes / 1_000_000).to_string());
            let (start, idle) = (number(one.start_p50), one.idle_bytes / 1_000_000);
            let size = size.unwrap_or_default();
            writeln!(out, "| {} | {start} | {idle} | {size} |", one.subject)?;
        }
        if let Some(attacked) = &self.attacked {
            writeln!(
                out,
                "\n(h) Turns of one client beside {} hostile connections: {} ms (p50), {} ms (p99) before, {} ms and {} ms meanwhile; {} MB at the most; {} connections were cut, {} hostile requests carried out and {} refused.",
                attacked.connections,
                number(attacked.calm_p50),
                number(attacked.calm_p99),
                number(attacked.attacked_p50),
                number(attacked.attacked_p99),
                attacked.peak_bytes / 1_000_000,
                attacked.cut,
                attacked.served,
                attacked.refused,
            )?;
        }
        paced::write_table(&self.paced, out)
    }
}

/// A number with about three digits that mean something.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "?".to_owned(),
        0.0 => "0".to_owned(),
        ..0.01 => format!("{value:.4}"),
        ..1.0 => format!("{value:.2}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        ..10_000.0 => format!("{value:.0}"),
        ..1_000_000.0 => format!("{:.0} k", value / 1e3),
        _ => format!("{:.2} M", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(subject: &str, rate: f64) -> Streamed {
        Streamed {
            subject: subject.to_owned(),
            transport: Transport::Sse,
            clients: 64,
            turns: 1,
            deltas_per_second: rate,
            deltas_per_cpu_second: rate,
            cpu_seconds_per_million: 1e6 / rate,
            first_p50: 1.0,
            first_p99: 2.0,
            peak_bytes: 1,
        }
    }

    #[test]
    fn goals_are_ratios_of_one_run_and_what_was_not_measured_is_not_judged() {
        let mut report = Report {
            streaming: vec![
                streamed(name::SQLITE, 800.0),
                streamed(name::NODE, 9.0),
                streamed(name::PYTHON, 5.0),
            ],
            ..Report::default()
        };
        report.judge();
        let judged: Vec<_> = report.goals.iter().map(|goal| goal.is_met).collect();
        // Times Node and times pydantic-ai, and the memory.
        assert_eq!(judged, [true, false, true]);
        assert_eq!(report.missed(), [report.goals[1].what.as_str()]);
        assert!(report.tables().contains("**missed**"));
    }
}
