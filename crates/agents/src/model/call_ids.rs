//! Ids of calls, as an API wants them: each once.

use std::collections::HashSet;

use turn::call::Call;

/// The ids of the calls of one request.
#[derive(Debug, Default)]
pub(crate) struct CallIds(HashSet<String>);

impl CallIds {
    /// The id that the provider gave a call. Where it gave none, or one that another call has, it gets
    /// one: results would else not find their calls. A history gets the same ids every time.
    pub(crate) fn of(&mut self, call: &Call) -> String {
        let given = call.provider_id.clone().filter(|id| !id.is_empty());
        let mut id = given.unwrap_or_else(|| "call_1".to_owned());
        let mut number = self.0.len();
        while !self.0.insert(id.clone()) {
            number += 1;
            id = format!("call_{number}");
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turn::call::Place;

    use super::*;

    #[test]
    fn every_call_has_an_id_of_its_own() {
        let mut ids = CallIds::default();
        let given = [
            Some("a"),
            Some("a"),
            None,
            Some(""),
            Some("call_2"),
            Some("b"),
        ];
        let ids = given.map(|id| {
            ids.of(&Call {
                id: "c".into(),
                provider_id: id.map(str::to_owned),
                tool: "t".to_owned(),
                input: json!({}),
                place: Place::Server,
                parent: None,
                provider_metadata: None,
            })
        });
        let unique: HashSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        assert_eq!((ids[0].as_str(), ids[5].as_str()), ("a", "b"));
    }
}
