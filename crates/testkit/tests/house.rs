//! The direction of the house: who may depend on whom.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::process::Command;

use serde_json::Value;

/// Each room with the rooms that it may stand on. `testkit` may use any, and is used by none of the
/// product, and neither is `emulator`: only tests use them; `bench` stands outside as well, and measures what a user of the library would build.
const ROOMS: [(&str, &[&str]); 12] = [
    ("wire", &[]),
    ("gemini", &[]),
    ("turn", &[]),
    ("view", &["wire", "turn"]),
    ("agents", &["wire", "turn", "gemini"]),
    ("store", &["turn"]),
    ("engine", &["wire", "turn", "view", "agents", "store"]),
    (
        "demo",
        &["wire", "turn", "view", "agents", "store", "engine"],
    ),
    ("emulator", &["turn", "agents", "gemini", "demo"]),
    (
        "server",
        &[
            "wire", "turn", "view", "agents", "store", "engine", "gemini", "demo",
        ],
    ),
    (
        "testkit",
        &[
            "wire", "turn", "view", "agents", "store", "engine", "gemini", "demo", "emulator",
            "server",
        ],
    ),
    ("bench", &["server", "wire", "testkit"]),
];

/// An edge of the house: who, on whom, and whether the product has it or only its tests.
#[derive(Debug, Clone)]
struct Edge {
    from: String,
    to: String,
    is_for_tests: bool,
}

impl Edge {
    /// Why the edge may not be, if it may not.
    fn fault(&self) -> Option<String> {
        let Edge {
            from,
            to,
            is_for_tests,
        } = self;
        let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| room == from) else {
            return Some(format!("{from} is no room of the house"));
        };
        if *is_for_tests && ["testkit", "emulator", "demo"].contains(&to.as_str()) {
            return None;
        }
        let known = allowed.contains(&to.as_str());
        (!known).then(|| format!("{from} must not depend on {to}"))
    }
}

/// The edges between the workspace's crates, by the names of their folders.
fn edges() -> Vec<Edge> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"]
        .as_array()
        .expect("cargo lists packages");
    let room = |path: &Value| {
        let path = std::path::Path::new(path.as_str()?);
        Some(path.file_name()?.to_str()?.to_owned())
    };
    let mut edges = Vec::new();
    for package in packages {
        let manifest = std::path::Path::new(package["manifest_path"].as_str().unwrap());
        let from = manifest.parent().and_then(|folder| folder.file_name());
        let from = from.and_then(|name| name.to_str()).unwrap().to_owned();
        for dependency in package["dependencies"].as_array().unwrap() {
            if let Some(to) = room(&dependency["path"]) {
                let is_for_tests = dependency["kind"] == "dev";
                edges.push(Edge {
                    from: from.clone(),
                    to,
                    is_for_tests,
                });
            }
        }
    }
    edges
}

#[test]
fn nothing_points_back() {
    let edges = edges();
    assert!(
        edges.len() >= ROOMS.len(),
        "the house has more edges than {edges:?}"
    );
    let faults: Vec<_> = edges.iter().filter_map(Edge::fault).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn an_edge_against_the_direction_is_seen() {
    let edge = |from: &str, to: &str, is_for_tests| Edge {
        from: from.to_owned(),
        to: to.to_owned(),
        is_for_tests,
    };
    assert!(edge("wire", "turn", false).fault().is_some());
    assert!(edge("store", "agents", false).fault().is_some());
    assert!(edge("engine", "testkit", false).fault().is_some());
    assert!(edge("engine", "testkit", true).fault().is_none());
    assert!(edge("view", "turn", false).fault().is_none());
    assert!(edge("turn", "wire", false).fault().is_some());
    assert!(edge("turn", "engine", true).fault().is_some());
    assert!(edge("server", "emulator", false).fault().is_some());
    assert!(edge("server", "emulator", true).fault().is_none());
}

#[test]
fn every_room_is_a_crate() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    for (room, _) in ROOMS {
        let lib = std::fs::read_to_string(crates.join(room).join("src/lib.rs")).unwrap();
        let owns = ["**Owns**", "**Does not own**"];
        assert!(
            owns.iter().all(|words| lib.contains(words)),
            "{room} does not say what it owns"
        );
    }
}

/// Names of tools that are not the product's, with the places that may know them.
const FOREIGN: [(&str, &[&str]); 5] = [
    (
        "adk_request_confirmation",
        &["wire/src/legacy", "agents/src/adk"],
    ),
    ("process_payment", &["view/src/legacy"]),
    ("get_location", &["view/src/legacy"]),
    ("change_bgm", &["view/src/legacy"]),
    ("get_weather", &["view/src/legacy"]),
];

#[test]
fn only_the_legacy_bridge_knows_the_demos_tools() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    let rooms = ["wire", "turn", "view", "agents", "engine", "server"];
    let mut folders: Vec<_> = rooms.map(|room| crates.join(room).join("src")).into();
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let place = path.strip_prefix(crates).unwrap().to_str().unwrap();
            if place.contains("/demo") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let code = std::fs::read_to_string(&path).unwrap();
            // Tests may name what they like.
            let code = code.split("#[cfg(test)]").next().unwrap();
            for (name, places) in FOREIGN {
                let may = places.iter().any(|known| place.starts_with(known));
                assert!(may || !code.contains(name), "{place} names {name}");
            }
            read += 1;
        }
    }
    assert!(read > 100, "{read} files were read");
}

/// The packages that a package of the workspace is built from, without those of its tests.
fn built_from(arguments: &[&str]) -> Vec<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("cargo writes text");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_product_is_built_without_the_emulator() {
    let product = built_from(&["--package", "adk-stream"]);
    for name in ["adk-stream", "adk-stream-engine", "axum"] {
        assert!(product.iter().any(|it| it == name), "{product:?}");
    }
    for name in ["adk-stream-emulator", "adk-stream-testkit", "rcgen"] {
        assert!(!product.iter().any(|it| it == name), "{name} is built in");
    }
    assert!(product.iter().any(|it| it == "adk-stream-demo"));
}

#[test]
fn the_product_can_be_built_without_the_demo() {
    let product = built_from(&["--package", "adk-stream", "--no-default-features"]);
    for name in ["adk-stream-demo", "adk-stream-emulator", "rcgen"] {
        assert!(!product.iter().any(|it| it == name), "{name} is built in");
    }
}
