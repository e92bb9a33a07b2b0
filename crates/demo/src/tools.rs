//! The demo's tools: those of the fixtures, and four that show what else a tool can do.

mod payment;
mod table;
mod weather;

use std::sync::Arc;
use std::time::Duration;

use engine::{Context, Fence, Later, ToolError, Tools, client_tool, long_running, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::payment::{Payment, random};
use crate::ledger::Ledger;

/// Pays somebody.
#[derive(Deserialize, JsonSchema)]
struct ProcessPayment {
    /// How much, in the currency.
    amount: f64,
    /// Who gets it.
    recipient: String,
    /// The currency; the wallet holds USD.
    #[serde(default = "usd")]
    currency: String,
    /// What for.
    #[serde(default)]
    description: String,
}

fn usd() -> String {
    "USD".to_owned()
}

/// Asks for the weather of a place.
#[derive(Deserialize, JsonSchema)]
struct GetWeather {
    /// The city.
    location: String,
}

/// Takes nothing.
#[derive(Deserialize, JsonSchema)]
struct GetLocation {}

/// Changes the background music.
#[derive(Serialize, Deserialize, JsonSchema)]
struct ChangeBgm {
    /// The track, 1 or 2.
    track: u32,
}

/// Where the page is, as browsers say it.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the page says it, and the model reads it")]
struct Position {
    /// Degrees north of the equator.
    #[schemars(range(min = -90, max = 90))]
    latitude: f64,
    /// Degrees east of Greenwich.
    #[schemars(range(min = -180, max = 180))]
    longitude: Option<f64>,
    /// How far off it may be, in metres.
    #[schemars(range(min = 0))]
    accuracy: Option<f64>,
}

/// Books a flight.
#[derive(Deserialize, JsonSchema)]
struct BookFlight {
    /// Where to.
    destination: String,
}

/// Writes a report.
#[derive(Deserialize, JsonSchema)]
struct WriteReport {
    /// What about.
    topic: String,
}

/// What a flight costs, in cents.
const FARE: u64 = 12_000;

/// The demo's tools. An open gate waits for ever, or for `timeout`.
pub fn tools(ledger: &Arc<dyn Ledger>, timeout: Option<Duration>, pace: Duration) -> Tools {
    let (payments, fares) = (ledger.clone(), ledger.clone());
    let on_takeover = |ledger: &Arc<dyn Ledger>| {
        let ledger = ledger.clone();
        move |fence: Fence| {
            let ledger = ledger.clone();
            async move {
                let raised = ledger.raise_fence(&fence).await;
                raised.map_err(|error| ToolError::new(error.to_string()))
            }
        }
    };
    Tools::new()
        .with(
            tool("process_payment", "Sends money from the user's wallet.", {
                move |context: Context, input: ProcessPayment| {
                    let ledger = payments.clone();
                    async move { payment::process(&ledger, &context, input).await }
                }
            })
            .ask(|input: &ProcessPayment| {
                format!(
                    "Send {} {} to {}?",
                    input.amount, input.currency, input.recipient
                )
            })
            .on_takeover(on_takeover(ledger))
            .timeout(timeout),
        )
        .with(tool(
            "get_weather",
            "Tells the weather of a city.",
            async |_: Context, input: GetWeather| Ok(weather::of(&input.location)),
        ))
        .with(
            client_tool::<GetLocation>("get_location", "Tells where the user is.")
                .ask(|_| "Tell the assistant where you are?".to_owned())
                .timeout(timeout)
                .output::<Position>(),
        )
        // Its output is whatever a page says of its music: pages of the legacy bridge say many things.
        .with(client_tool::<ChangeBgm>(
            "change_bgm",
            "Changes the background music to track 1 or 2.",
        ))
        .with(
            tool("book_flight", "Books a flight, asking as it goes.", {
                move |context: Context, input: BookFlight| {
                    let ledger = fares.clone();
                    async move { book_flight(&ledger, &context, input, timeout).await }
                }
            })
            .on_takeover(on_takeover(ledger)),
        )
        .with(tool(
            "book_table",
            "Books a table, asking when and for how many.",
            move |context: Context, _: table::BookTable| async move {
                table::book(&context, timeout).await
            },
        ))
        .with(tool(
            "set_mood",
            "Looks at the weather of a city and plays music that suits it.",
            async |context: Context, input: GetWeather| set_mood(&context, &input.location).await,
        ))
        .with(long_running(
            "write_report",
            "Writes a report, which takes a while.",
            move |_: Context, input: WriteReport| Later {
                pending: json!({"status": "pending", "topic": input.topic}),
                work: async move {
                    tokio::time::sleep(pace * 20).await;
                    Ok(json!({
                        "status": "done",
                        "topic": input.topic,
                        "report": format!("All that is known about {}, on one page.", input.topic),
                    }))
                },
            },
        ))
}

/// Asks twice in the middle of its work: before it holds a seat, and before it pays for it.
async fn book_flight(
    ledger: &Arc<dyn Ledger>,
    context: &Context,
    input: BookFlight,
    timeout: Option<Duration>,
) -> Result<Value, ToolError> {
    let destination = input.destination;
    let question = format!("Hold a seat to {destination}?");
    context.approve_within(question, timeout).await?;
    let seat = context.once("seat", async { Ok(random("seat_")) }).await?;
    let question = format!("Pay 120 USD for seat {seat} to {destination}?");
    context.approve_within(question, timeout).await?;
    let paid = payment::pay(
        ledger,
        context,
        &Payment {
            cents: FARE,
            recipient: format!("Flight to {destination}"),
            description: seat.clone(),
        },
    )
    .await?;
    let success = &paid["success"];
    Ok(json!({"success": success, "seat": seat, "destination": destination, "payment": paid}))
}

/// Has the page do something while it works.
async fn set_mood(context: &Context, location: &str) -> Result<Value, ToolError> {
    let weather = weather::of(location);
    context
        .progress(json!({"status": "looking", "weather": weather}))
        .await;
    let is_fair = weather["condition"] == "Sunny";
    let music = ChangeBgm {
        track: if is_fair { 1 } else { 2 },
    };
    let music: Value = context.client("change_bgm", music).await?;
    Ok(json!({"location": location, "weather": weather, "music": music}))
}
