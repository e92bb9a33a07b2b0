//! What every store has to do, as tests: for ours, and for authors of others.
//!
//! Each check takes a store of its own, and panics as a test does. [`conformance!`]
//! makes a test of each, given a function that opens a new, empty store and returns it with
//! whatever has to live as long:
//!
//! ```text
//! async fn open() -> (store::Stores, tempfile::TempDir) { … }
//! store::conformance!(open);
//! ```
//!
//! [`conformance!`]: crate::conformance!

// Its helpers are called by tests, and stop as tests stop.
#![allow(clippy::expect_used)]

pub mod append;
pub mod chat;
pub mod chat_list;
pub mod gate;
pub mod lease;
pub mod limits;
mod sample;
pub mod tail;

/// Makes a test of every check. The tests run on tokio's threaded runtime.
#[macro_export]
macro_rules! conformance {
    ($open:path) => {
        $crate::conformance! { @tests $open;
            append::entries_come_back_in_order
            append::a_journal_is_read_page_by_page
            append::an_append_behind_a_stale_place_conflicts
            append::an_append_behind_a_place_to_come_conflicts
            append::of_writers_at_one_place_one_wins
            append::every_writer_of_one_chat_gets_through
            append::writers_of_many_chats_do_not_meet
            append::a_refused_entry_leaves_nothing_behind
            append::the_first_entry_says_whose_chat_it_is
            append::every_kind_of_text_and_number_comes_back_as_it_was
            append::a_large_entry_comes_back_whole
            append::ids_of_odd_characters_are_distinct
            tail::what_was_there_comes_first_and_then_what_is_appended
            tail::no_gap_and_no_duplicate_while_writers_race
            tail::a_wait_that_is_given_up_loses_nothing
            tail::a_deleted_chat_ends_its_tails
            tail::a_tail_never_shows_a_later_chat_under_the_same_id
            tail::a_closed_store_ends_its_tails
            gate::open_gates_appear_and_vanish
            gate::open_gates_are_the_owners_alone_and_come_oldest_first
            gate::open_gates_are_listed_page_by_page
            gate::a_gate_is_found_open_and_closed
            gate::the_first_answer_to_a_gate_stays
            gate::calls_are_found
            gate::gates_whose_time_is_up_are_found_longest_overdue_first
            gate::an_id_of_another_chat_is_refused
            chat::journals_that_others_appended_to_are_outdated
            chat::a_deleted_chat_is_forgotten_wholly
            chat::an_owner_stays_the_owner
            chat::what_was_never_stored_is_not_found
            chat_list::a_list_shows_how_each_chat_is
            chat_list::ids_of_approvals_are_read_page_by_page
            chat_list::a_list_is_read_page_by_page_newest_first
            chat_list::an_owner_renames_and_archives_a_chat
            chat_list::a_chat_that_is_deleted_for_good_stays_deleted
            chat_list::changes_of_all_chats_are_followed
            lease::a_lease_is_found_until_it_is_given_back
            lease::a_lease_goes_to_the_higher_epoch
            lease::a_lease_stays_with_its_owner_until_it_expires
            lease::many_leases_are_held_at_once
            lease::a_chat_that_is_not_there_has_no_lease
            lease::a_running_turn_without_a_lease_is_found
            lease::a_turn_that_waits_for_people_needs_nobody
            lease::an_answer_brings_a_turn_back_to_work
            lease::of_owners_who_race_one_holds
            lease::addresses_of_owners_are_found_also_when_their_leases_are_over
            limits::open_turns_and_gates_are_counted
            limits::open_gates_of_all_are_counted_by_kind
            limits::a_nonce_is_used_once
            limits::a_store_that_works_says_so
        }
    };
    (@tests $open:path; $($theme:ident::$check:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $check() {
            let (stores, _lives_as_long) = $open().await;
            $crate::conformance::$theme::$check(stores).await;
        }
    )*};
}
