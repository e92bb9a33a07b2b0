#![no_main]

use std::fmt::Debug;

use gemini::{
    ClientMessage, ErrorBody, GenerateContentRequest, GenerateContentResponse, ServerMessage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Any object is read, and what is written of it is read as the same.
    settles::<GenerateContentRequest>(bytes);
    settles::<GenerateContentResponse>(bytes);
    settles::<ErrorBody>(bytes);
    settles::<ClientMessage>(bytes);
    settles::<ServerMessage>(bytes);
});

fn settles<T: DeserializeOwned + Serialize + PartialEq + Debug>(bytes: &[u8]) {
    if let Ok(it) = serde_json::from_slice::<T>(bytes) {
        let text = serde_json::to_vec(&it).unwrap();
        assert_eq!(serde_json::from_slice::<T>(&text).unwrap(), it);
    }
}
