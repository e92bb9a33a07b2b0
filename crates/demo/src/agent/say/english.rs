//! What the demo says in English.

use serde_json::Value;

use super::settled::{
    Change, Ending, Settled, facts, grouped, number, plain, shortened, spoken, text,
};
use crate::agent::intent::Question;

/// What it thinks before calls that were wanted first, or next.
pub(super) fn thought(calls: &[(&str, Value)], is_first: bool, more_follow: bool) -> String {
    let wanted: Vec<_> = calls
        .iter()
        .map(|(tool, input)| summary(tool, input))
        .collect();
    let mut thought = if is_first {
        format!("The user wants me to {}.", listed(&wanted))
    } else {
        format!("That is settled. Next, I {}.", listed(&wanted))
    };
    if calls.len() > 1 {
        thought += " I can ask for all of it at once.";
    }
    if is_first && more_follow {
        thought += " There is more to do, one thing after the other.";
    }
    thought
}

/// What became of the calls of a turn.
pub(super) fn outcomes(settled: &[Settled<'_>]) -> String {
    let parts: Vec<_> = settled.iter().map(result).collect();
    parts.join(" ")
}

/// The outcome of a long-running call.
pub(super) fn returned(settled: &Settled<'_>) -> String {
    match settled.ending() {
        Ending::Done(output) => {
            let what = capitalised(&subject(settled.tool, settled.input));
            ended(match facts(output, settled.input) {
                Some(facts) => format!("{what} is finished: {facts}"),
                None => format!("{what} is finished"),
            })
        }
        _ => result(settled),
    }
}

/// What it asks back.
pub(super) fn question(question: &Question) -> String {
    let asked = match question {
        Question::Amount => "How much should I send?",
        Question::Recipient => "Whom should I pay?",
        Question::Track => "Which track should I play, 1 or 2?",
        Question::City => "Which city's weather would you like?",
        Question::Destination => "Where should the flight go?",
        Question::Mood => "Which place's mood should I set?",
        Question::Topic => "What should the report be about?",
        Question::Unclear(text) => {
            return format!("I did not understand \"{}\".", shortened(text, 60));
        }
        Question::Payment(text) => {
            return format!(
                "I did not understand \"{}\", so I pay nothing. Say it plainly, such as \"Send $20 to Sam\".",
                shortened(text, 60)
            );
        }
    };
    asked.to_owned()
}

/// Tools that would be needed and are not there.
pub(super) fn without_tools(tools: &[&str]) -> String {
    let what = if tools.len() == 1 {
        "the tool"
    } else {
        "the tools"
    };
    let them = if tools.len() == 1 { "it" } else { "them" };
    format!(
        "I would need {what} {}, and I do not have {them} here.",
        listed(tools)
    )
}

/// What it says where nothing is asked of it that it knows.
pub(super) fn echo(prompt: &str, tools: &[&str]) -> String {
    let mut said = if prompt.is_empty() {
        "Hello! I am the demo agent.".to_owned()
    } else {
        format!(
            "You said: \"{}\". I am the demo agent.",
            shortened(prompt, 120)
        )
    };
    let abilities: Vec<_> = tools.iter().filter_map(|tool| ability(tool)).collect();
    if abilities.is_empty() {
        said += " I have no tools here, so I can only repeat what you say.";
    } else {
        let abilities: (Vec<_>, Vec<_>) = abilities.into_iter().unzip();
        let example = abilities.1.first().copied().unwrap_or_default();
        said += &format!(" I can {}. Try \"{example}\".", listed(&abilities.0));
    }
    said
}

/// What a tool is good for, and a prompt that asks for it.
fn ability(tool: &str) -> Option<(&'static str, &'static str)> {
    Some(match tool {
        "process_payment" => ("send money", "Send $20 to Sam"),
        "get_weather" => ("tell the weather", "What is the weather in Tokyo?"),
        "get_location" => ("find out where you are", "Where am I?"),
        "change_bgm" => ("change the music", "Play track 1"),
        "book_flight" => ("book a flight", "Book a flight to Oslo"),
        "book_table" => ("book a table", "Book a table"),
        "set_mood" => ("set a mood", "Set the mood for Tokyo"),
        "write_report" => ("write a report", "Write a report about tea"),
        _ => return None,
    })
}

/// A call as something to do.
fn summary(tool: &str, input: &Value) -> String {
    let field = |field| text(input, field).unwrap_or_else(|| "it".to_owned());
    match tool {
        "process_payment" => format!(
            "send {} to {}",
            money(input).unwrap_or_else(|| "money".to_owned()),
            field("recipient")
        ),
        "get_weather" => match text(input, "location") {
            Some(place) => format!("look up the weather in {place}"),
            None => "call get_weather with a bad input".to_owned(),
        },
        "get_location" => "find out where they are".to_owned(),
        "change_bgm" => format!("switch to {}", track(input)),
        "book_flight" => format!("book a flight to {}", field("destination")),
        "book_table" => "book a table".to_owned(),
        "set_mood" => format!("set the mood of {}", field("location")),
        "write_report" => format!("have a report written about {}", field("topic")),
        tool => format!("call {tool}"),
    }
}

/// A call as a thing.
fn subject(tool: &str, input: &Value) -> String {
    let with = |words: &str, field: &str| match text(input, field) {
        Some(name) => format!("{words} {name}"),
        None => format!("the call of {tool}"),
    };
    match tool {
        "process_payment" => with("the payment to", "recipient"),
        "get_weather" => with("the weather lookup for", "location"),
        "get_location" => "access to your location".to_owned(),
        "change_bgm" => format!("the change to {}", track(input)),
        "book_flight" => with("the flight to", "destination"),
        "book_table" => "the table".to_owned(),
        "set_mood" => with("the mood of", "location"),
        "write_report" => with("the report about", "topic"),
        tool => format!("the call of {tool}"),
    }
}

/// A call as a thing, with how much it is about.
fn full_subject(settled: &Settled<'_>) -> String {
    let recipient = text(settled.input, "recipient");
    match (settled.tool, money(settled.input), recipient) {
        ("process_payment", Some(money), Some(recipient)) => {
            format!("the payment of {money} to {recipient}")
        }
        _ => subject(settled.tool, settled.input),
    }
}

fn result(settled: &Settled<'_>) -> String {
    let what = || full_subject(settled);
    let said = match settled.ending() {
        Ending::Done(output) => done(settled, output),
        Ending::Failed { why, output } => {
            let why = why.unwrap_or_else(|| "no reason was given".to_owned());
            let balance = output.and_then(|output| number(output, "wallet_balance"));
            let said = ended(format!("{} failed: {why}", capitalised(&what())));
            match balance {
                Some(balance) => format!("{said} Your balance is ${}.", grouped(balance)),
                None => said,
            }
        }
        Ending::Unanswered => format!(
            "Nobody answered in time about {}, so it did not go ahead.",
            what()
        ),
        Ending::Denied(reason) => {
            let subject = subject(settled.tool, settled.input);
            ended(match reason {
                Some(reason) => format!("You denied {subject}: {reason}"),
                None => format!("You denied {subject}"),
            })
        }
        Ending::Invalid(error) => ended(format!(
            "I called {} with an input that it does not take: {error}",
            settled.tool
        )),
        Ending::Unknown => format!(
            "It is not known whether {} happened: it was started, and then nothing more was heard of it. \
             Please check before you try again.",
            what()
        ),
        Ending::Pending => format!(
            "I have started {}. It takes a while; I will come back when it is finished.",
            subject(settled.tool, settled.input)
        ),
    };
    match edit(settled) {
        Some(edit) => format!("{said} {edit}"),
        None => said,
    }
}

fn done(settled: &Settled<'_>, output: &Value) -> String {
    let input = settled.input;
    let with_facts = |said: String| {
        ended(match facts(output, input) {
            Some(facts) => format!("{said}: {facts}"),
            None => said,
        })
    };
    match settled.tool {
        "process_payment" => {
            let source = if number(output, "amount").is_some() {
                output
            } else {
                input
            };
            let money = money(source).unwrap_or_else(|| "the money".to_owned());
            let recipient = text(output, "recipient").or_else(|| text(input, "recipient"));
            let recipient = recipient.unwrap_or_else(|| "the recipient".to_owned());
            format!("I sent {money} to {recipient}.{}", receipt(output))
        }
        "get_weather" => {
            let place = text(input, "location").unwrap_or_else(|| "that place".to_owned());
            let Some(sky) = sky(output) else {
                return with_facts(format!("The weather in {place}"));
            };
            let said = format!("The weather in {place}: {sky}.");
            match text(output, "note") {
                Some(note) => ended(format!("{said} {note}")),
                None => said,
            }
        }
        "get_location" => match (number(output, "latitude"), number(output, "longitude")) {
            (Some(latitude), Some(longitude)) => {
                let parts = [text(output, "city"), text(output, "country")];
                let place: Vec<_> = parts.into_iter().flatten().collect();
                let place = if place.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", place.join(", "))
                };
                let accuracy = number(output, "accuracy");
                let accuracy =
                    accuracy.map_or_else(String::new, |it| format!(", to within {} m", plain(it)));
                format!(
                    "You are at {}, {}{place}{accuracy}.",
                    plain(latitude),
                    plain(longitude)
                )
            }
            _ => with_facts("I have your location".to_owned()),
        },
        "change_bgm" => {
            let source = if output.get("track").is_some() {
                output
            } else {
                input
            };
            let said = capitalised(&track(source));
            match text(output, "message") {
                Some(message) => ended(format!("{said} is playing now: {message}")),
                None => format!("{said} is playing now."),
            }
        }
        "book_flight" => {
            let destination = text(input, "destination").unwrap_or_else(|| "there".to_owned());
            let said = with_facts(format!("Your flight to {destination} is booked"));
            match output
                .get("payment")
                .and_then(|paid| Some((paid, money(paid)?)))
            {
                Some((paid, money)) => format!("{said} I paid {money}.{}", receipt(paid)),
                None => said,
            }
        }
        "book_table" => {
            let table = [text(output, "date"), text(output, "time")];
            let [Some(date), Some(time)] = table else {
                return with_facts("Your table is booked".to_owned());
            };
            let people = number(output, "people")
                .map_or_else(String::new, |it| format!(" for {}", plain(it)));
            ended(format!("Your table{people} is booked on {date} at {time}"))
        }
        "set_mood" => {
            let place = text(input, "location").unwrap_or_else(|| "that place".to_owned());
            let music = output.get("music").filter(|music| !music.is_null());
            let parts = [output.get("weather").and_then(sky), music.map(track)];
            let parts: Vec<_> = parts.into_iter().flatten().collect();
            if parts.is_empty() {
                return with_facts(format!("The mood of {place} is set"));
            }
            format!("The mood of {place} is set: {}.", parts.join(", "))
        }
        "write_report" => with_facts(format!(
            "{} is finished",
            capitalised(&subject(settled.tool, input))
        )),
        tool => with_facts(format!("{tool} is done")),
    }
}

/// What an answer adds about a payment, as a sentence of its own.
fn receipt(output: &Value) -> String {
    let transaction = text(output, "transaction_id").map(|it| format!("transaction {it}"));
    let balance = number(output, "wallet_balance");
    let balance = balance.map(|it| format!("balance now ${}", grouped(it)));
    let details: Vec<_> = [transaction, balance].into_iter().flatten().collect();
    if details.is_empty() {
        return String::new();
    }
    format!(" {}.", capitalised(&details.join(", ")))
}

/// The weather in a few words.
fn sky(output: &Value) -> Option<String> {
    let temperature = number(output, "temperature").map(|it| format!("{}°C", plain(it)));
    let humidity = number(output, "humidity").map(|it| format!("{}% humidity", plain(it)));
    let parts = [temperature, text(output, "condition"), humidity];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn edit(settled: &Settled<'_>) -> Option<String> {
    if !settled.is_edited() {
        return None;
    }
    let said = |change: &Change<'_>| {
        let field = change.field.replace('_', " ");
        match (change.from, change.to) {
            (Some(from), Some(to)) => {
                format!("the {field} from {} to {}", spoken(from), spoken(to))
            }
            (None, Some(to)) => format!("the {field} to {}", spoken(to)),
            _ => format!("the {field} to nothing"),
        }
    };
    let changes: Vec<_> = settled.changes().iter().map(said).collect();
    Some(if changes.is_empty() {
        "The approver changed the input.".to_owned()
    } else {
        format!("The approver changed {}.", listed(&changes))
    })
}

fn money(value: &Value) -> Option<String> {
    let amount = number(value, "amount")?;
    Some(match text(value, "currency").as_deref() {
        None | Some("USD") if amount < 0.0 => format!("-${}", grouped(-amount)),
        None | Some("USD") => format!("${}", grouped(amount)),
        Some(currency) => format!("{} {currency}", grouped(amount)),
    })
}

fn track(value: &Value) -> String {
    let track = value.get("track").or_else(|| value.get("current_track"));
    track.map_or_else(
        || "the track".to_owned(),
        |track| format!("track {}", spoken(track)),
    )
}

/// `a, b and c`.
fn listed(items: &[impl AsRef<str>]) -> String {
    let Some((last, before)) = items.split_last() else {
        return String::new();
    };
    if before.is_empty() {
        return last.as_ref().to_owned();
    }
    let before: Vec<_> = before.iter().map(AsRef::as_ref).collect();
    format!("{} and {}", before.join(", "), last.as_ref())
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// A sentence with its full stop.
fn ended(sentence: String) -> String {
    let sentence = sentence.trim_end().to_owned();
    if sentence.ends_with(['.', '!', '?', '…', '。']) {
        return sentence;
    }
    sentence + "."
}
