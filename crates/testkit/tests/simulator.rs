//! A hundred thousand schedules of servers that die, stores that fail and people who click twice.

use adk_stream_testkit::simulator::{Bug, Tally, play, play_traced};

/// How many schedules each of the eight tests below plays. Eight, so that they run side by side.
const SCHEDULES: u64 = 12_500;

/// Plays a share of the schedules. The first that fails is printed from its start.
fn holds(share: u64) {
    let mut tally = Tally::default();
    for seed in share * SCHEDULES..(share + 1) * SCHEDULES {
        let story = play(seed, None);
        if !story.faults.is_empty() {
            let story = play_traced(seed, None);
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
    assert!(
        common.iter().all(|count| *count > SCHEDULES / 10),
        "{tally:?}"
    );
    assert!(tally.conflicts > SCHEDULES / 20, "{tally:?}");
    let rare = [
        tally.old_reads,
        tally.unanswered,
        tally.two_primaries,
        tally.clock_jumps,
        tally.cuts,
        tally.queued,
        tally.injected,
        tally.selections,
        tally.own_questions,
    ];
    assert!(
        rare.iter().all(|count| *count > SCHEDULES / 100),
        "{tally:?}"
    );
    assert!(tally.withdrawn > SCHEDULES / 1_000, "{tally:?}");
}

/// The first seed whose schedule does not hold with a mistake planted.
fn found(bug: Bug) -> Option<u64> {
    found_within(1_000, bug)
}

fn found_within(seeds: u64, bug: Bug) -> Option<u64> {
    (0..seeds).find(|seed| !play(*seed, Some(bug)).faults.is_empty())
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
fn a_tool_that_speaks_after_it_was_dropped_is_found() {
    assert!(found(Bug::StaleWork).is_some());
}

#[test]
fn a_denial_shown_for_a_call_that_may_have_run_is_found() {
    assert!(found(Bug::DeniedUnknown).is_some());
}

#[test]
fn a_chat_that_is_tried_again_for_ever_is_found() {
    assert!(found(Bug::EndlessRetry).is_some());
}

#[test]
fn a_window_on_another_turn_than_the_one_that_is_answered_is_found() {
    assert!(found(Bug::CurrentTurn).is_some());
}

#[test]
fn a_turn_that_is_taken_for_running_while_its_agent_waits_is_found() {
    assert!(found(Bug::AnsweredRuns).is_some());
}

/// Another server has to take the chat, write to it and give it back, while its owner is away and comes
/// back: that is rare.
#[test]
fn an_owner_that_does_not_look_whether_others_wrote_is_found() {
    assert!(found_within(40_000, Bug::BlindOwner).is_some());
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for seed in 0..50 {
        let (story, again) = (play_traced(seed, None), play_traced(seed, None));
        assert_eq!(story.lines, again.lines);
        assert_eq!(story.tally, play(seed, None).tally);
    }
}
