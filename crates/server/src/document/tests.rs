//! The document against the routes that are mounted, and against what the documentation says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;

/// For a server's peers alone, and not in the document.
const INTERNAL: [&str; 2] = ["/internal/command", "/internal/lineage"];

/// Codes of no route: of paths and methods that are not there, and of a connection.
const OF_NO_ROUTE: [&str; 2] = ["method_not_allowed", "tls_required"];

fn read(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::fs::read_to_string(Path::new(root).join(path)).unwrap()
}

/// Each operation: its method, its path and what is said of it.
fn operations() -> Vec<(String, String, Value)> {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, operations)| {
        let operations = operations.as_object().unwrap().iter();
        operations.map(move |(method, operation)| {
            (method.to_uppercase(), path.clone(), operation.clone())
        })
    });
    each.collect()
}

/// Each code of an operation, with its status.
fn codes(operation: &Value) -> Vec<(String, String)> {
    let document = document();
    let responses = operation["responses"].as_object().unwrap();
    let each = responses.iter().flat_map(|(status, response)| {
        let named = response["$ref"].as_str();
        let named = named.and_then(|name| document.pointer(name.strip_prefix('#').unwrap()));
        let response = named.unwrap_or(response);
        let schema = &response["content"]["application/json"]["schema"];
        let listed = &schema["allOf"][1]["properties"]["error"]["properties"]["code"]["enum"];
        let listed = listed.as_array().cloned().unwrap_or_default().into_iter();
        listed.map(move |code| (code.as_str().unwrap().to_owned(), status.clone()))
    });
    each.collect()
}

#[test]
fn published_document_is_current() {
    let path = "docs/openapi.json";
    assert!(
        read(path) == text(),
        "{path} is out of date: `adk-stream reference openapi > {path}`"
    );
}

/// The paths that this crate mounts: the first argument of each `.route(…)`, resolved where it is a
/// constant.
fn mounted() -> BTreeSet<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs")
                || path.ends_with("document/tests.rs")
            {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            // Tests may mount what they like.
            let source = source.split("#[cfg(test)]").next().unwrap();
            for call in source.split(".route(").skip(1) {
                let argument = call.trim_start().split([',', ')']).next().unwrap();
                found.insert(match argument.strip_prefix('"') {
                    Some(literal) => literal.trim_end_matches('"').to_owned(),
                    None => constant(argument).to_owned(),
                });
            }
        }
    }
    found
}

fn constant(name: &str) -> &'static str {
    match name {
        "cluster::LINEAGE_PATH" => crate::cluster::LINEAGE_PATH,
        "cluster::PATH" => crate::cluster::PATH,
        "document::PATH" => PATH,
        "WALLET" => "/api/wallet",
        "PATH" => "/metrics",
        _ => panic!("{name} is a path that this test does not know"),
    }
}

#[test]
fn every_route_is_documented_and_nothing_else() {
    let documented = operations().into_iter().map(|(_, path, _)| path);
    let documented: BTreeSet<_> = documented.chain(INTERNAL.map(str::to_owned)).collect();
    assert_eq!(documented, mounted());
    assert!(documented.len() > 20);
}

#[test]
fn wallet_is_documented_by_the_demo_alone() {
    const WALLET: &str = "/api/wallet";
    assert!(!Annotated::openapi().paths.paths.contains_key(WALLET));
    let is_documented = document()["paths"].get(WALLET).is_some();
    assert_eq!(is_documented, cfg!(feature = "demo"));
}

#[test]
fn every_operation_has_an_id_of_its_own() {
    let operations = operations();
    let ids: BTreeSet<_> = operations
        .iter()
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), operations.len());
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(part: &Value, document: &Value) -> usize {
        let mut checked = 0;
        if let Some(reference) = part["$ref"].as_str() {
            let place = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(place).is_some(), "{reference}");
            checked += 1;
        }
        let items = part.as_array().into_iter().flatten();
        let values = part.as_object().into_iter().flat_map(Map::values);
        checked
            + items
                .chain(values)
                .map(|part| check(part, document))
                .sum::<usize>()
    }
    let document = document();
    assert!(check(&document, &document) > 50);
}

#[test]
fn guide_to_the_routes_lists_each() {
    let guide = read("docs/http.md");
    let rows: Vec<_> = guide
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let cell = |row: &str| row.split(" | ").next().unwrap().to_owned();
    let cells: Vec<_> = rows.iter().map(|row| cell(row)).collect();
    // The guide has names for ids, and says them in words where a route has several paths.
    let plain = |path: &str| {
        path.replace("{approvalId}", "{id}")
            .replace("{toolCallId}", "{id}")
    };
    for (method, path, _) in operations() {
        let is_listed = cells.iter().any(|cell| {
            let quoted: Vec<_> = cell.split('`').skip(1).step_by(2).map(plain).collect();
            let names_method = quoted
                .iter()
                .any(|name| name.starts_with(&format!("{method} ")));
            let has_path = |name: &String| name.split(' ').next_back() == Some(path.as_str());
            quoted.iter().any(has_path) && (names_method || method == "GET")
        }) || rows
            .iter()
            .any(|row| plain(row).contains(&format!("`{method} {path}`")));
        assert!(is_listed, "docs/http.md has no row for {method} {path}");
    }
    let known: BTreeSet<_> = operations()
        .into_iter()
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    let quoted = guide.split('`').skip(1).step_by(2).map(plain);
    let named = quoted.filter(|name| name.contains(" /") && name.starts_with(char::is_uppercase));
    let unknown: Vec<_> = named.filter(|name| !known.contains(name)).collect();
    assert!(
        unknown.is_empty(),
        "docs/http.md names no routes of ours: {unknown:?}"
    );
}

#[test]
fn every_code_is_in_the_reference_of_errors_with_its_status() {
    let reference = read("docs/errors.md");
    let http = reference.split("## HTTP").nth(1).unwrap();
    let http = http.split("\n## ").next().unwrap();
    let rows = http.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: BTreeMap<_, BTreeSet<_>> = rows
        .map(|row| {
            let mut cells = row.split(" | ");
            let code = cells.next().unwrap().trim_end_matches('`').to_owned();
            let statuses = cells.next().unwrap().split(", ").map(str::to_owned);
            (code, statuses.collect())
        })
        .collect();
    let mut documented: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, _, operation) in operations() {
        for (code, status) in codes(&operation) {
            documented.entry(code).or_default().insert(status);
        }
    }
    for code in OF_NO_ROUTE {
        assert!(!documented.contains_key(code), "{code} is of a route");
        documented.insert(code.to_owned(), listed[code].clone());
    }
    assert_eq!(documented, listed);
}
