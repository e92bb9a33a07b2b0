//! Numbers in a database, whose integers have a sign.
//!
//! A moment is stored by its bits, so that each is read back as it was, also the one that means
//! "never". People read the table correctly until the year 292 million.

use turn::At;

/// A moment, for a column.
pub(crate) fn from_at(at: At) -> i64 {
    at.0.cast_signed()
}

/// A moment, from a column.
pub(crate) fn to_at(stored: i64) -> At {
    At(stored.cast_unsigned())
}

/// A place in a journal, for a comparison. No journal gets as far as the places that do not fit.
pub(crate) fn from_seq(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// A place in a journal, from a column; or an amount, which the schema keeps from being negative.
pub(crate) fn to_count(stored: i64) -> u64 {
    stored.cast_unsigned()
}

/// A deadline, for a comparison in SQL, where "never" has to come last.
pub(crate) fn from_deadline(at: At) -> i64 {
    from_seq(at.0)
}

/// A deadline, from a column.
pub(crate) fn to_deadline(stored: i64) -> At {
    if stored == i64::MAX {
        At(u64::MAX)
    } else {
        to_at(stored)
    }
}
