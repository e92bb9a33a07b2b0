//! What tokens cost, as the operator says: models do not.

use std::str::FromStr;

use turn::Usage;

/// The prices of a million tokens, in a currency of the operator's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrices {
    /// Of what the model reads.
    pub input: f64,
    /// Of what it reads and the provider had in its cache.
    pub cached_input: f64,
    /// Of what the model writes, thoughts included.
    pub output: f64,
}

/// How many tokens a price is for.
const TOKENS: f64 = 1_000_000.0;

impl TokenPrices {
    /// What was read and written costs, in this order.
    pub(crate) fn cost(&self, usage: &Usage) -> (f64, f64) {
        let cached = usage.cached.unwrap_or_default().min(usage.input);
        let input = price(usage.input - cached, self.input) + price(cached, self.cached_input);
        (input, price(usage.output, self.output))
    }
}

fn price(tokens: u64, of_a_million: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "no step has more than 2^53 tokens"
    )]
    let tokens = tokens as f64;
    tokens * of_a_million / TOKENS
}

impl FromStr for TokenPrices {
    type Err = String;

    /// Reads `1.25/10`, or `1.25/0.31/10` with a price for cached input.
    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || {
            format!(
                "{text:?} are no prices of a million tokens: INPUT/OUTPUT or INPUT/CACHED/OUTPUT, as in 1.25/10"
            )
        };
        let prices = text.split('/').map(|price| price.trim().parse().ok());
        let prices: Option<Vec<f64>> = prices.collect();
        let prices = prices.ok_or_else(problem)?;
        if prices
            .iter()
            .any(|price| !price.is_finite() || *price < 0.0)
        {
            return Err(problem());
        }
        let (input, cached_input, output) = match prices[..] {
            [input, output] => (input, input, output),
            [input, cached_input, output] => (input, cached_input, output),
            _ => return Err(problem()),
        };
        Ok(Self {
            input,
            cached_input,
            output,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_has_a_price_of_its_own() {
        let usage = Usage {
            input: 3_000_000,
            output: 500_000,
            cached: Some(1_000_000),
            ..Usage::default()
        };
        let prices: TokenPrices = "2/0.5/10".parse().unwrap();
        assert_eq!(prices.cost(&usage), (4.5, 5.0));
        let prices: TokenPrices = "2/10".parse().unwrap();
        assert_eq!(prices.cost(&usage), (6.0, 5.0));
    }

    #[test]
    fn prices_that_make_no_sense_are_refused() {
        for text in ["", "1", "1/2/3/4", "1/-2", "1/NaN", "1/inf", "$1/$2"] {
            let refused = text.parse::<TokenPrices>().unwrap_err();
            assert!(refused.contains("1.25/10"), "{text}");
        }
    }
}
