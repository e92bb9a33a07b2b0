//! A picture of a run: deltas for each second of processor time, on a scale of tens.

use std::fmt::Write;

use crate::report::{Report, number};
use crate::streaming::Transport;

const WIDTH: f64 = 760.0;
const LABEL: f64 = 190.0;
const BAR: f64 = 13.0;
const GAP: f64 = 18.0;
/// The scale goes from a thousand to ten million.
const TENS: (f64, f64) = (3.0, 7.0);

/// Where a number stands on the scale.
fn x(value: f64) -> f64 {
    let share = (value.max(1.0).log10() - TENS.0) / (TENS.1 - TENS.0);
    LABEL + share.clamp(0.0, 1.0) * (WIDTH - LABEL - 70.0)
}

/// The picture as SVG, readable on light and on dark.
pub fn svg(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string can't fail.
    let _ = write_svg(report, &mut out);
    out
}

fn write_svg(report: &Report, out: &mut String) -> std::fmt::Result {
    let of = |transport| {
        let all = report.streaming.iter();
        all.filter(move |one| one.transport == transport)
    };
    let mut names: Vec<&str> = Vec::new();
    for one in of(Transport::Sse) {
        if !names.contains(&one.subject.as_str()) {
            names.push(&one.subject);
        }
    }
    let mut clients: Vec<usize> = of(Transport::Sse).map(|one| one.clients).collect();
    clients.sort_unstable();
    clients.dedup();
    let rows: f64 = names.iter().map(|_| BAR * clients.len() as f64 + GAP).sum();
    let height = rows + 96.0;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="Deltas for each second of the server's processor time">
<style>text {{ fill: #334155 }} .line {{ stroke: #94a3b8; stroke-opacity: .4 }} @media (prefers-color-scheme: dark) {{ text {{ fill: #cbd5e1 }} }}</style>
<text x="8" y="20" font-size="15" font-weight="600">Deltas for each second of the server's processor time</text>
<text x="8" y="38">200 deltas of 8 bytes a turn, by SSE; more is better; each line is ten times the one before</text>"##
    )?;
    for tens in 3..=7 {
        let value = 10_f64.powi(tens);
        let at = x(value);
        writeln!(
            out,
            r##"<line class="line" x1="{at:.1}" x2="{at:.1}" y1="52" y2="{:.0}"/><text x="{at:.1}" y="{:.0}" text-anchor="middle">{}</text>"##,
            height - 34.0,
            height - 20.0,
            number(value)
        )?;
    }
    let shades = ["#bae6fd", "#38bdf8", "#0284c7", "#075985"];
    let mut top = 56.0;
    for name in names {
        let middle = top + BAR * clients.len() as f64 / 2.0 + 4.0;
        let name_at = LABEL - 8.0;
        writeln!(
            out,
            r##"<text x="{name_at}" y="{middle:.0}" text-anchor="end">{name}</text>"##
        )?;
        for (count, shade) in clients.iter().zip(shades) {
            let mut all = of(Transport::Sse);
            let found = all.find(|one| one.subject == name && one.clients == *count);
            if let Some(one) = found {
                let end = x(one.deltas_per_cpu_second);
                writeln!(
                    out,
                    r##"<rect x="{LABEL}" y="{top:.0}" width="{:.1}" height="{}" fill="{shade}"/><text x="{:.1}" y="{:.0}" font-size="10">{}</text>"##,
                    end - LABEL,
                    BAR - 2.0,
                    end + 4.0,
                    top + BAR - 4.0,
                    number(one.deltas_per_cpu_second)
                )?;
            }
            top += BAR;
        }
        top += GAP;
    }
    let mut at = LABEL;
    for (count, shade) in clients.iter().zip(shades) {
        let y = height - 12.0;
        writeln!(
            out,
            r##"<rect x="{at}" y="{y:.0}" width="10" height="8" fill="{shade}"/><text x="{}" y="{:.0}" font-size="10">{count} clients</text>"##,
            at + 14.0,
            y + 8.0
        )?;
        at += 90.0;
    }
    writeln!(out, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_of_tens() {
        let steps = [1e3, 1e4, 1e5, 1e6].map(x);
        let widths: Vec<_> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(widths.iter().all(|width| (width - widths[0]).abs() < 1e-6));
        assert!(svg(&Report::default()).ends_with("</svg>\n"));
    }
}
