//! The checker gives, on every stream of the corpus, the verdict of the real clients.

use std::collections::HashSet;
use std::path::Path;

use adk_stream_testkit::checker::Kind;
use adk_stream_testkit::corpus;
use wire::assembler::Sdk;

fn streams() -> Vec<corpus::Stream> {
    corpus::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"))
}

#[test]
fn checker_agrees_with_the_real_clients() {
    let mut disagreements = Vec::new();
    for stream in streams() {
        for sdk in [Sdk::V6, Sdk::V7] {
            let (verdict, findings, _) = stream.play(sdk);
            let expected = stream.expected(sdk);
            // A finding is a promise about what comes; the outcome is what came.
            let found = |kind| findings.iter().any(|finding| finding.kind == kind);
            let loops_unseen = expected.outcome == "loops" && !found(Kind::Loops);
            let loops_invented = expected.outcome == "ok" && found(Kind::Loops);
            let stuck_invented = expected.outcome == "ok" && found(Kind::Stuck);
            if verdict != *expected || loops_unseen || loops_invented || stuck_invented {
                disagreements.push(format!(
                    "{} on {sdk:?}: the client says {expected:?}, the checker {verdict:?} {findings:?}",
                    stream.name
                ));
            }
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

#[test]
fn corpus_is_large_and_has_good_and_bad_of_every_kind() {
    let streams = streams();
    let names: HashSet<_> = streams.iter().map(|stream| &stream.name).collect();
    assert_eq!(names.len(), streams.len(), "names are unique");
    let verdicts: Vec<_> = streams
        .iter()
        .map(|stream| stream.expected(Sdk::V7))
        .collect();
    let is_good = |verdict: &&&corpus::Verdict| verdict.outcome == "ok" && verdict.wrong.is_empty();
    let good = verdicts.iter().filter(is_good).count();
    assert!(good >= 20, "{good} good streams");
    assert!(
        streams.len() - good >= 40,
        "{} bad streams",
        streams.len() - good
    );
    for kind in ["throws", "loops", "stuck"] {
        assert!(
            verdicts.iter().any(|verdict| verdict.outcome == kind),
            "{kind}"
        );
    }
    for kind in [
        Kind::PartTwice,
        Kind::Split,
        Kind::StateBack,
        Kind::Invalid,
        Kind::Unfinished,
    ] {
        let name = kind.name().to_owned();
        assert!(
            verdicts.iter().any(|verdict| verdict.wrong.contains(&name)),
            "{name}"
        );
    }
}
