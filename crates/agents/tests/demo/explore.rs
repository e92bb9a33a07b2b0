#[test]
fn explore() {
    let Ok(path) = std::env::var("EXPLORE") else {
        return;
    };
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let t = std::time::Instant::now();
        let mut d = crate::dialogue::Dialogue::of(adk_stream_agents::Demo::new(), line);
        let (_, text) = d.finish(&mut crate::dialogue::approve);
        let c = crate::phrases::calls(line);
        println!(
            "{line}\n    => {c}   {}",
            if c.is_empty() { text } else { String::new() }
        );
    }
}
