//! Payments in English clauses: who gets how much, and for what.

use std::ops::Range;

use super::super::amount::Amount;
use super::super::name::person;
use super::name::name;
use super::token::{Clause, Joint, Kind, Token};
use super::trigger::Trigger;
use super::words::{FILLER, PRONOUNS};
use crate::agent::wish::{Missing, Wish};

/// A payment, as far as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Payment {
    amount: Option<(f64, Option<&'static str>)>,
    recipient: Option<String>,
    description: Option<Range<usize>>,
    /// Whether the clause has a verb of its own, and does not continue another.
    has_verb: bool,
    /// Whether the verb can mean nothing else, so that what is left out may be asked for.
    is_plain: bool,
}

impl Payment {
    /// Reads a clause that has a verb.
    pub(super) fn read(text: &str, tokens: &[Token<'_>], trigger: &Trigger) -> Option<Self> {
        let rest = &tokens[trigger.end..];
        // "Make a $100 payment to Alice" says how much before it says what.
        let amount = amount(rest).or_else(|| amount(&tokens[..trigger.start]));
        let is_plain = trigger.is_plain || amount.is_some_and(|it| it.currency.is_some());
        let payment = Self::of(text, rest, amount, true, is_plain);
        let names_someone = payment.recipient.is_some() && rest.len() <= 3;
        let may_be = trigger.is_plain || payment.amount.is_some() || names_someone;
        may_be.then_some(payment)
    }

    /// Reads a clause that has no verb, but an amount.
    pub(super) fn continued(text: &str, tokens: &[Token<'_>], continues: bool) -> Option<Self> {
        let amount = amount(tokens).filter(|amount| continues || amount.currency.is_some())?;
        let payment = Self::of(text, tokens, Some(amount), false, continues);
        let gives = tokens.iter().any(|token| token.is(&["to"]));
        (payment.recipient.is_some() && (continues || gives)).then_some(payment)
    }

    fn of(
        text: &str,
        tokens: &[Token<'_>],
        amount: Option<&Amount>,
        has_verb: bool,
        is_plain: bool,
    ) -> Self {
        // Where the amount has a currency, a bare number is part of a name: "account 12345".
        let has_currency = amount.is_some_and(|amount| amount.currency.is_some());
        let mut tokens = tokens.to_vec();
        for token in tokens.iter_mut().filter(|_| has_currency) {
            if token.amount().is_some_and(|it| it.currency.is_none()) {
                token.kind = Kind::Word;
            }
        }
        let (recipient, description) = parties(text, &tokens);
        Self {
            amount: amount.map(|amount| (amount.value, amount.currency)),
            recipient,
            description,
            has_verb,
            is_plain,
        }
    }

    /// Takes in a clause that has neither verb nor amount: more of the description, the recipient
    /// that was still to be named, or one more of them, which is returned.
    pub(super) fn extend(&mut self, clause: Clause<'_>, is_one_more: bool) -> Option<Self> {
        let tokens = clause.tokens;
        let last = tokens.last()?;
        if let Some(description) = &mut self.description {
            if clause.joint == Joint::And || tokens.len() <= 2 {
                description.end = last.range.end;
            }
            return None;
        }
        let recipient = name(tokens).map(|name| person(&name))?;
        if self.recipient.is_none() {
            self.recipient = Some(recipient);
            return None;
        }
        is_one_more.then_some(Self {
            amount: None,
            recipient: Some(recipient),
            description: None,
            has_verb: false,
            is_plain: self.is_plain,
        })
    }

    /// The payment, or what is missing for it.
    pub(super) fn wish(self, text: &str) -> Result<Wish, Option<Missing>> {
        let ask = |missing| Err(Some(missing).filter(|_| self.is_plain));
        let Some((amount, currency)) = self.amount else {
            return ask(Missing::Amount);
        };
        let Some(recipient) = self.recipient else {
            return ask(Missing::Recipient);
        };
        Ok(Wish::Payment {
            amount,
            currency: currency.unwrap_or("USD"),
            recipient,
            description: self.description.map(|range| text[range].to_owned()),
        })
    }
}

/// "Pay Ann and Ben $5 each", "$5 to Ann and Ben": who has no amount shares that of the list.
pub(super) fn share_amounts(mut payments: Vec<&mut Payment>) {
    for at in (0..payments.len()).rev() {
        let next = payments.get(at + 1).filter(|next| !next.has_verb);
        let shared = next.and_then(|next| next.amount);
        payments[at].amount = payments[at].amount.or(shared);
    }
    for at in 1..payments.len() {
        let shared = payments[at - 1].amount.filter(|_| !payments[at].has_verb);
        payments[at].amount = payments[at].amount.or(shared);
    }
}

/// The amount that a clause is about: one with a currency before one without.
fn amount<'t>(tokens: &'t [Token<'_>]) -> Option<&'t Amount> {
    let amounts = || tokens.iter().filter_map(Token::amount);
    let money = amounts().find(|amount| amount.currency.is_some());
    money.or_else(|| amounts().next())
}

/// Who is paid, and for what.
fn parties(text: &str, tokens: &[Token<'_>]) -> (Option<String>, Option<Range<usize>>) {
    const REASONS: [&str; 4] = ["for", "as", "note", "memo"];
    let to = tokens.iter().position(|token| token.is(&["to"]));
    let named = to.and_then(|at| Some((at, name(&tokens[at + 1..])?)));
    let reason = tokens
        .iter()
        .enumerate()
        .position(|(at, token)| at + 1 < tokens.len() && token.is(&REASONS));
    let before_reason = &tokens[..reason.unwrap_or(tokens.len())];
    let recipient = named.as_ref().map(|(_, name)| name.clone());
    let recipient = recipient.or_else(|| around_amount(before_reason));
    let Some(reason) = reason else {
        return (recipient.map(|name| person(&name)), None);
    };
    let rest = &tokens[reason + 1..];
    // "For lunch to Sam": the reason ends where the recipient begins.
    let until = match named {
        Some((to, _)) if to > reason => to - reason - 1,
        _ => rest.len(),
    };
    match recipient {
        Some(recipient) => (Some(person(&recipient)), span(text, &rest[..until])),
        // "A payment of $100 for Alice" names her in no other way.
        None => (name(rest).map(|name| person(&name)), None),
    }
}

/// A name beside the amount: "Ann $5", "$5 Ann".
fn around_amount(tokens: &[Token<'_>]) -> Option<String> {
    let at = tokens.iter().position(|token| token.amount().is_some());
    let at = at.unwrap_or(tokens.len());
    let after = tokens.get(at + 1..).unwrap_or_default();
    name(&tokens[..at]).or_else(|| name(after))
}

/// The words of a reason, if it is one.
fn span(text: &str, tokens: &[Token<'_>]) -> Option<Range<usize>> {
    let is_polite =
        |token: &Token<'_>| token.is(&["please", "thanks", "now", "today", "right", "each"]);
    let is_reason =
        |token: &Token<'_>| !token.is(&FILLER) && !token.is(&PRONOUNS) && !is_polite(token);
    let from = tokens.first()?.range.start;
    let end = tokens
        .iter()
        .rposition(|token| !is_polite(token) && token.amount().is_none())?;
    let kept = &tokens[..=end];
    let range = from..kept.last()?.range.end;
    let says_something = kept.iter().any(is_reason) && !text[range.clone()].trim().is_empty();
    says_something.then_some(range)
}
