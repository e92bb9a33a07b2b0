//! Payments in Japanese clauses: who gets how much, and for what.

use super::super::amount::{Amount, amounts};
use super::super::name::person;
use super::name::last_name;
use crate::agent::wish::{Missing, Wish};

/// Payments, as clause after clause names who gets how much.
#[derive(Debug, Default)]
pub(super) struct Payments {
    /// Recipients whose amount is still to come.
    names: Vec<String>,
    /// An amount whose recipient is still to come.
    amount: Option<(f64, Option<&'static str>)>,
    /// Names that stood alone: of a list, if an amount follows that each of it gets.
    listed: Vec<String>,
    description: Option<String>,
    last: Option<(f64, Option<&'static str>)>,
    /// Whether a word was read that asks for a payment and nothing else.
    is_asked: bool,
}

impl Payments {
    /// Notes that a payment is surely asked for.
    pub(super) fn ask(&mut self) {
        self.is_asked = true;
    }

    /// Reads a clause. Without a verb behind it, only an amount with a currency is money.
    pub(super) fn clause(&mut self, clause: &str, has_verb: bool) -> Vec<Wish> {
        let (clause, description) = without_description(clause);
        let stands_for = self.description.take();
        self.description = description.or(stands_for);
        let found = amounts(&clause);
        let money: Vec<_> = found.iter().filter(|it| it.currency.is_some()).collect();
        let money = if money.is_empty() && has_verb {
            found.iter().collect()
        } else {
            money
        };
        let is_asked = has_verb && (!money.is_empty() || clause.contains("お金"));
        self.is_asked |= is_asked;
        let is_each = clause.contains("ずつ") || clause.contains("それぞれ");
        let listed = std::mem::take(&mut self.listed);
        let mut wishes = Vec::new();
        let mut from = 0;
        for (at, amount) in money.iter().enumerate() {
            let until = money.get(at + 1).map_or(clause.len(), |it| it.range.start);
            let mut names = recipients(&clause[from..amount.range.start]);
            from = amount.range.end;
            if names.is_empty() {
                names = recipients(&clause[amount.range.end..until]);
                // What was read behind one amount is not read again before the next.
                from = if names.is_empty() { from } else { until };
            }
            if names.is_empty() {
                names = std::mem::take(&mut self.names);
            }
            if is_each {
                names.splice(0..0, listed.iter().cloned());
            }
            wishes.extend(self.pay(names, amount));
        }
        if money.is_empty() {
            let names = recipients(&clause);
            let alone = last_name(&clause).filter(|(_, start)| *start == 0);
            self.listed = listed;
            self.listed.extend(alone.map(|(name, _)| name.to_owned()));
            match self.amount.take() {
                Some(amount) if !names.is_empty() => wishes.extend(self.each(names, amount)),
                waiting => {
                    self.amount = waiting;
                    self.names.extend(names);
                }
            }
        }
        wishes
    }

    /// Gives a description that came behind a payment to that payment.
    pub(super) fn describe(&mut self, wishes: &mut [Wish]) {
        if let Some(Wish::Payment { description, .. }) = wishes.last_mut() {
            *description = description.take().or_else(|| self.description.take());
        }
    }

    /// Whether the clause names somebody whom the last amount goes to as well: "Bobにも".
    pub(super) fn also(&mut self) -> Vec<Wish> {
        let names = std::mem::take(&mut self.names);
        match self.last {
            Some(amount) => self.each(names, amount),
            None => {
                self.names = names;
                Vec::new()
            }
        }
    }

    /// What was left out.
    pub(super) fn missing(mut self) -> Option<Missing> {
        let missing = match self.amount.take() {
            Some(_) => Missing::Recipient,
            None if self.last.is_none() || !self.names.is_empty() => Missing::Amount,
            None => return None,
        };
        Some(missing).filter(|_| self.is_asked)
    }

    fn pay(&mut self, names: Vec<String>, amount: &Amount) -> Vec<Wish> {
        let amount = (amount.value, amount.currency);
        if names.is_empty() {
            self.amount = Some(amount);
            return Vec::new();
        }
        self.each(names, amount)
    }

    fn each(&mut self, names: Vec<String>, amount: (f64, Option<&'static str>)) -> Vec<Wish> {
        let description = self.description.take();
        self.last = Some(amount);
        let wish = |recipient: String| Wish::Payment {
            amount: amount.0,
            currency: amount.1.unwrap_or("USD"),
            recipient: person(&recipient),
            description: description.clone(),
        };
        names.into_iter().map(wish).collect()
    }
}

/// Everyone whom a text names as a recipient: "AliceとBobに".
fn recipients(text: &str) -> Vec<String> {
    let particles = text.match_indices(['に', 'へ']).map(|(at, _)| at);
    let ends: Vec<_> = particles.collect();
    let nearest = ends.iter().rev().find_map(|end| last_name(&text[..*end]));
    let Some((name, mut start)) = nearest else {
        return Vec::new();
    };
    let mut names = vec![name.to_owned()];
    loop {
        let before = text[..start].trim_end();
        let joined = ["と", "や", "&", "and"]
            .iter()
            .find_map(|joint| before.strip_suffix(joint));
        match joined.and_then(last_name) {
            Some((name, at)) => {
                names.insert(0, name.to_owned());
                start = at;
            }
            None => return names,
        }
    }
}

/// Cuts out what the money is for, and returns both.
fn without_description(clause: &str) -> (String, Option<String>) {
    for marker in ["として", "の名目で", "のために", "のため"] {
        let Some(end) = clause.find(marker) else {
            continue;
        };
        let start = phrase_start(&clause[..end]);
        let description = clause[start..end].trim();
        let rest = &clause[end + marker.len()..];
        // "Samのために20ドル送って" names who gets it, and nothing that it is for.
        let is_recipient = marker.starts_with("のため")
            && recipients(&clause[..start]).is_empty()
            && recipients(rest).is_empty();
        if is_recipient {
            return (format!("{}に {rest}", &clause[..end]), None);
        }
        if !description.is_empty() {
            let kept = format!("{} {rest}", &clause[..start]);
            return (kept, Some(description.to_owned()));
        }
    }
    for amount in amounts(clause) {
        let before = clause[..amount.range.start].trim_end();
        let phrase = before.strip_suffix(['の', 'で', 'に']).unwrap_or(before);
        if !phrase.ends_with(['代', '費', '料', '賃']) {
            continue;
        }
        let start = phrase_start(phrase);
        let description = phrase[start..].trim();
        let kept = format!("{} {}", &clause[..start], &clause[amount.range.start..]);
        return (kept, Some(description.to_owned()));
    }
    (clause.to_owned(), None)
}

/// Where the phrase starts that a text ends with: behind a particle, an amount or a space.
fn phrase_start(text: &str) -> usize {
    let particle = text.rfind(['を', 'に', 'へ', 'は', ' ', '、']);
    let after_particle = particle.and_then(|at| {
        let letter = text[at..].chars().next()?;
        Some(at + letter.len_utf8())
    });
    let money = amounts(text).into_iter().map(|amount| amount.range.end);
    money.chain(after_particle).max().unwrap_or(0)
}
