//! The dependency rules: which crate may depend on which.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::process::Command;

use serde_json::Value;

/// Each crate with the crates that it may depend on. `testkit` may use any, and is used by none of the
/// product, and neither is `emulator`: only tests use them; `bench` is outside as well, and measures what a user of the library would build.
const CRATES: [(&str, &[&str]); 13] = [
    ("wire", &[]),
    ("gemini", &[]),
    ("turn", &[]),
    ("view", &["wire", "turn"]),
    ("agents", &["wire", "turn", "gemini"]),
    ("store", &["turn"]),
    ("tools", &["turn"]),
    (
        "engine",
        &["wire", "turn", "view", "agents", "tools", "store"],
    ),
    (
        "demo",
        &["wire", "turn", "view", "agents", "tools", "store", "engine"],
    ),
    ("emulator", &["turn", "agents", "gemini", "demo"]),
    (
        "server",
        &[
            "wire", "turn", "view", "agents", "tools", "store", "engine", "gemini", "demo",
        ],
    ),
    (
        "testkit",
        &[
            "wire", "turn", "view", "agents", "tools", "store", "engine", "gemini", "demo",
            "emulator", "server",
        ],
    ),
    ("bench", &["server", "wire", "testkit"]),
];

/// A dependency: of which crate, on which, and whether the product has it or only its tests.
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
        let Some((_, allowed)) = CRATES.iter().find(|(name, _)| name == from) else {
            return Some(format!("{from} is not in the list of crates"));
        };
        if *is_for_tests && ["testkit", "emulator", "demo"].contains(&to.as_str()) {
            return None;
        }
        let known = allowed.contains(&to.as_str());
        (!known).then(|| format!("{from} must not depend on {to}"))
    }
}

/// The packages of the workspace, as cargo describes them.
fn packages() -> Vec<Value> {
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
    let packages = metadata["packages"].as_array();
    packages.expect("cargo lists packages").clone()
}

/// The edges between the workspace's crates, by the names of their folders.
fn edges() -> Vec<Edge> {
    let crate_of = |path: &Value| {
        let path = std::path::Path::new(path.as_str()?);
        Some(path.file_name()?.to_str()?.to_owned())
    };
    let mut edges = Vec::new();
    for package in packages() {
        let manifest = std::path::Path::new(package["manifest_path"].as_str().unwrap());
        let from = manifest.parent().and_then(|folder| folder.file_name());
        let from = from.and_then(|name| name.to_str()).unwrap().to_owned();
        for dependency in package["dependencies"].as_array().unwrap() {
            if let Some(to) = crate_of(&dependency["path"]) {
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
        edges.len() >= CRATES.len(),
        "there are more edges than {edges:?}"
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

/// The files of a folder of Rust code, with those of the folders in it.
fn sources(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                sources(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn a_target_without_a_test_harness_has_no_tests() {
    let mut checked = 0;
    for package in packages() {
        for target in package["targets"].as_array().unwrap() {
            let is_program = target["kind"] == serde_json::json!(["bin"]);
            let is_library = target["kind"] == serde_json::json!(["lib"]);
            if target["test"] != false || !(is_program || is_library) {
                continue;
            }
            checked += 1;
            let path = std::path::Path::new(target["src_path"].as_str().unwrap());
            let files = if is_library {
                sources(path.parent().unwrap())
            } else {
                vec![path.to_owned()]
            };
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                let attributes = ["#[test]", "::test]", "::test(", "cfg(test)"];
                assert!(
                    !attributes.iter().any(|attribute| text.contains(attribute)),
                    "{} has tests, and its manifest says `test = false`",
                    file.display()
                );
            }
        }
    }
    assert!(checked >= 4, "only {checked} targets say `test = false`");
}

#[test]
fn every_crate_says_what_it_owns() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    for (name, _) in CRATES {
        let lib = std::fs::read_to_string(crates.join(name).join("src/lib.rs")).unwrap();
        let owns = ["**Owns**", "**Does not own**"];
        assert!(
            owns.iter().all(|words| lib.contains(words)),
            "{name} does not say what it owns"
        );
    }
}

/// Names of tools that are not the product's, with the places that may know them.
const FOREIGN: [(&str, &[&str]); 5] = [
    (
        "adk_request_confirmation",
        &[
            "wire/src/legacy",
            "agents/src/adk",
            "agents/src/ag_ui/adk.rs",
        ],
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
    let names = ["wire", "turn", "view", "agents", "engine", "server"];
    let mut folders: Vec<_> = names.map(|name| crates.join(name).join("src")).into();
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
            if path.ends_with("tests.rs") {
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

/// What the driver may not name: it knows no clock, no task and no I/O, or the simulator would not drive
/// all of it.
const OUTSIDE: [&str; 8] = [
    "tokio",
    "futures",
    "async ",
    "std::thread",
    "std::fs",
    "std::net",
    "Instant",
    "SystemTime",
];

/// The lines of a source that name something from outside, comments apart.
fn outside(source: &str) -> Vec<&str> {
    let lines = source.lines().map(str::trim);
    let code = lines.filter(|line| !line.starts_with("//"));
    code.filter(|line| OUTSIDE.iter().any(|name| line.contains(name)))
        .collect()
}

#[test]
fn the_driver_names_no_runtime_and_no_clock() {
    let engine = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src");
    let mut files = sources(&engine.join("driver"));
    assert!(files.len() > 5, "{files:?}");
    files.push(engine.join("driver.rs"));
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        assert_eq!(outside(&source), Vec::<&str>::new(), "{}", file.display());
    }
    // The task of a chat is where they are, so this can fail.
    let actor = std::fs::read_to_string(engine.join("actor.rs")).unwrap();
    assert!(outside(&actor).iter().any(|line| line.contains("tokio")));
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
    let others = BROUGHT.iter().map(|(feature, _)| *feature);
    let others: Vec<_> = others.filter(|feature| *feature != "demo").collect();
    let others = others.join(",");
    let features = ["--no-default-features", "--features", &others];
    let product = built_from(&[&["--package", "adk-stream"][..], &features].concat());
    for name in ["clap", "opentelemetry-otlp", "rust-embed"] {
        assert!(product.iter().any(|it| it == name), "{product:?}");
    }
    // The demo and its emulator, and what the tests of both make certificates with.
    for name in ["adk-stream-demo", "adk-stream-emulator", "rcgen"] {
        assert!(!product.iter().any(|it| it == name), "{name} is built in");
    }
}

/// What each feature brings, which a build without any feature does not have.
const BROUGHT: [(&str, &[&str]); 11] = [
    (
        "cli",
        &[
            "brotli",
            "clap",
            "flate2",
            "mimalloc",
            "toml",
            "tracing-subscriber",
            "utoipa",
        ],
    ),
    ("cluster", &["reqwest", "rustls"]),
    ("demo", &["adk-stream-demo"]),
    ("http", &["reqwest", "rustls"]),
    ("mcp", &["rmcp", "reqwest"]),
    ("openapi", &["serde-saphyr"]),
    ("otel", &["opentelemetry-otlp", "prost"]),
    ("page", &["rust-embed"]),
    ("postgres", &["tokio-postgres"]),
    (
        "remote-agents",
        &[
            "adk-stream-gemini",
            "reqwest",
            "tokio-rustls",
            "webpki-roots",
        ],
    ),
    ("sqlite", &["rusqlite"]),
];

#[test]
fn the_library_alone_is_small() {
    let library = built_from(&["--package", "adk-stream", "--no-default-features"]);
    for name in ["adk-stream-engine", "adk-stream-store", "axum"] {
        assert!(library.iter().any(|it| it == name), "{library:?}");
    }
    let tests = ["adk-stream-emulator", "adk-stream-testkit", "rcgen"];
    let brought = BROUGHT.iter().flat_map(|(_, names)| *names);
    for name in brought.chain(&tests) {
        assert!(!library.iter().any(|it| it == name), "{name} is built in");
    }
}

#[test]
fn each_feature_brings_what_it_is_for() {
    for (feature, names) in BROUGHT {
        let selected = ["--no-default-features", "--features", feature];
        let product = built_from(&[&["--package", "adk-stream"][..], &selected].concat());
        for name in names {
            assert!(product.iter().any(|it| it == name), "{feature}: {name}");
        }
    }
}

#[test]
fn every_feature_is_listed() {
    let packages = packages();
    let product = packages.iter().find(|it| it["name"] == "adk-stream");
    let features = product.unwrap()["features"].as_object().unwrap();
    let named: Vec<_> = features.keys().filter(|name| *name != "default").collect();
    let listed: Vec<_> = BROUGHT.iter().map(|(feature, _)| *feature).collect();
    assert_eq!(named, listed);
}
