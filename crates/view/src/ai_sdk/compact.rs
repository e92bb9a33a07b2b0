//! Draws the words of a block together, as they are when a turn is read back from its journal.

use super::line::{Delta, Line};

/// The same lines, with one line for the words of a text or a reasoning that follow each other.
pub(super) fn compact(lines: Vec<Line>) -> Vec<Line> {
    let mut compact = Vec::new();
    let mut lines = lines.into_iter();
    while let Some(mut line) = lines.next() {
        if let Some((words, count)) = whole(&line, lines.as_slice()) {
            if let Line::Text(first) | Line::Reasoning(first) = &mut line {
                first.replace(words);
            }
            lines.by_ref().take(count).for_each(drop);
        }
        compact.push(line);
    }
    compact.shrink_to_fit();
    compact
}

/// A line's words with those of the same kind that follow it, if there are any, and how many. Where
/// another block of that kind begins, a line says so.
fn whole(first: &Line, rest: &[Line]) -> Option<(String, usize)> {
    let more = || rest.iter().map_while(|next| both_deltas(first, next));
    let (head, _) = more().next()?;
    // Counted first, so that the text need not be moved while it grows.
    let length: usize = more().map(|(_, next)| next.as_str().len()).sum();
    let mut text = String::with_capacity(head.as_str().len() + length);
    text.push_str(head.as_str());
    let mut count = 0;
    for (_, next) in more() {
        text.push_str(next.as_str());
        count += 1;
    }
    Some((text, count))
}

/// The deltas of two lines, if both are of one kind.
fn both_deltas<'a>(first: &'a Line, next: &'a Line) -> Option<(&'a Delta, &'a Delta)> {
    match (first, next) {
        (Line::Text(first), Line::Text(next)) | (Line::Reasoning(first), Line::Reasoning(next)) => {
            Some((first, next))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::closing::Closing;
    use super::super::line::{Block, BlockLine};
    use super::*;

    #[test]
    fn words_of_a_block_are_drawn_together_and_nothing_else() {
        let text = |block, words: &str| Line::Text(Delta::text(block, words.to_owned()));
        let reasoning =
            |block, words: &str| Line::Reasoning(Delta::reasoning(block, words.to_owned()));
        let begun = |block| Line::Block(Arc::new(BlockLine::begun(Block::Text, block, None)));
        let lines = vec![
            Line::StepBegun,
            reasoning(1, "a"),
            reasoning(1, "b"),
            text(2, "c"),
            text(2, "d"),
            text(2, "e"),
            begun(3),
            text(3, "f"),
            Line::Close(Closing::Parked(Arc::default())),
            text(3, "g"),
        ];
        let first = lines[1].clone();
        let expected = [
            Line::StepBegun,
            reasoning(1, "ab"),
            text(2, "cde"),
            begun(3),
            text(3, "f"),
            Line::Close(Closing::Parked(Arc::default())),
            text(3, "g"),
        ];
        assert_eq!(compact(lines), expected);
        // A window that reads along keeps what was said as it was said.
        assert_eq!(first, reasoning(1, "a"));
    }
}
