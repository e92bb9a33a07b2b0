//! A hundred thousand schedules of servers that die, stores that fail and people who click twice.

use adk_stream_testkit::simulator::{Bug, Tally, play, tell};

/// How many schedules each of the eight tests below plays. Eight, so that they run side by side.
const SHARE: u64 = 12_500;

/// Plays a share of the schedules. The first that fails is told from its start.
fn holds(share: u64) {
    let mut tally = Tally::default();
    for seed in share * SHARE..(share + 1) * SHARE {
        let story = play(seed, None);
        if !story.faults.is_empty() {
            let story = tell(seed, None);
            let (lines, faults) = (story.lines.join("\n"), story.faults.join("\n"));
            panic!("{lines}\n\nseed {seed} does not hold:\n{faults}");
        }
        tally.add(&story.tally);
    }
    // A world in which nothing goes wrong proves nothing.
    let common = [
        tally.crashes,
        tally.claims,
        tally.carried,
        tally.executions,
        tally.unknown,
        tally.acknowledged,
        tally.contradicted,
        tally.doubtful,
    ];
    assert!(common.iter().all(|count| *count > SHARE / 10), "{tally:?}");
    assert!(tally.conflicts > SHARE / 20, "{tally:?}");
}

/// The first seed whose schedule does not hold with a mistake planted.
fn found(bug: Bug) -> Option<u64> {
    (0..1_000).find(|seed| !play(*seed, Some(bug)).faults.is_empty())
}

macro_rules! shares {
    ($($name:ident: $share:expr,)*) => {$(
        #[test]
        fn $name() {
            holds($share);
        }
    )*};
}

shares! {
    nothing_is_lost_or_done_twice_0: 0,
    nothing_is_lost_or_done_twice_1: 1,
    nothing_is_lost_or_done_twice_2: 2,
    nothing_is_lost_or_done_twice_3: 3,
    nothing_is_lost_or_done_twice_4: 4,
    nothing_is_lost_or_done_twice_5: 5,
    nothing_is_lost_or_done_twice_6: 6,
    nothing_is_lost_or_done_twice_7: 7,
}

#[test]
fn an_effect_before_its_entry_is_found() {
    assert!(found(Bug::EffectBeforeJournal).is_some());
}

#[test]
fn an_answer_that_is_acknowledged_too_early_is_found() {
    assert!(found(Bug::AnswerBeforeJournal).is_some());
}

#[test]
fn a_tool_that_is_run_again_after_a_crash_is_found() {
    assert!(found(Bug::RunAgain).is_some());
}

#[test]
fn a_conflict_that_is_ignored_is_found() {
    assert!(found(Bug::ConflictIgnored).is_some());
}

#[test]
fn a_tool_that_speaks_after_it_was_let_go_is_found() {
    assert!(found(Bug::StaleWork).is_some());
}

#[test]
fn a_client_that_is_told_denied_of_what_may_have_happened_is_found() {
    assert!(found(Bug::DeniedUnknown).is_some());
}

#[test]
fn a_chat_that_is_tried_again_for_ever_is_found() {
    assert!(found(Bug::EndlessRetry).is_some());
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for seed in 0..50 {
        let (story, again) = (tell(seed, None), tell(seed, None));
        assert_eq!(story.lines, again.lines);
        assert_eq!(story.tally, play(seed, None).tally);
    }
}
