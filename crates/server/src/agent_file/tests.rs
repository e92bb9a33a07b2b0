use super::*;
use crate::config_file;

const REFUND: &str = r#"
[agents.support]
model = "gemini:gemini-flash-latest"
instruction = "@support.md"
tools = ["refund", "get_location"]

[http.refund]
description = "Refunds an order."
input = "@refund.json"
request = { method = "POST", url = "https://shop.example/orders/{order}/refunds", headers = { Authorization = "Bearer env:SHOP_TOKEN" }, idempotency-header = "Idempotency-Key" }
ask = "Refund {{input.amount}} for order {{input.order}}?"

[client.get_location]
description = "Where the user is."
input = { type = "object", properties = {} }
allow = true
"#;

const SCHEMA: &str = r#"{"type": "object", "properties": {"order": {"type": "string"},
    "amount": {"type": "number"}}, "required": ["order", "amount"]}"#;

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter();
    variables
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn load(files: &[(&str, &str)]) -> Result<FileAgent, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = format!("{}/", folder.path().display());
    let lines = |problems: Vec<Problem>| -> Vec<String> {
        problems
            .iter()
            .map(|problem| problem.to_string().replace(&path, ""))
            .collect()
    };
    let mut layers = config_file::read(Some(folder.path().to_owned()), "".as_ref()).unwrap();
    let file = AgentFile::take(&mut layers).map_err(lines)?;
    let variables = [
        ("GEMINI_API_KEY", "k3y-of-gemini"),
        ("SHOP_TOKEN", "t0ken-of-shop"),
    ];
    let name = file.agents().next().unwrap().to_owned();
    let agent = file.agent(&name, &environment(&variables), TimeLimit::default());
    agent.map_err(lines)
}

fn with(toml: &str) -> Vec<String> {
    let files = [
        ("a.toml", toml),
        ("support.md", "Be kind.\n"),
        ("refund.json", SCHEMA),
    ];
    load(&files).unwrap_err()
}

#[test]
fn agent_has_the_tools_that_it_names_and_asks_unless_it_is_allowed() {
    let files = [
        ("a.toml", REFUND),
        ("support.md", "Be kind.\n"),
        ("refund.json", SCHEMA),
    ];
    let agent = load(&files).unwrap();
    assert_eq!(agent.instruction.as_deref(), Some("Be kind."));
    let description = agent.description();
    let tools = "tool refund (ask: Refund {{input.amount}} for order {{input.order}}?; POST https://shop.example)";
    assert!(description.contains(tools), "{description}");
    let tools = "tool get_location (allow; run by the page)";
    assert!(description.contains(tools), "{description}");
    // Nothing of it may hold a secret, wherever it is printed.
    let printed = format!("{description}{agent:?}");
    assert!(
        !printed.contains("k3y") && !printed.contains("t0ken"),
        "{printed}"
    );
    let refund = agent
        .tools
        .iter()
        .find(|built| built.tool.name() == "refund")
        .unwrap();
    assert!(refund.tool.is_idempotent());
}

#[test]
fn examples_of_the_document_are_a_file_that_loads() {
    let document = include_str!("../../../../docs/http-tools.md");
    let blocks = document.split("```toml\n").skip(1);
    let block = |begins: &str| {
        let mut blocks = blocks.clone().filter_map(|rest| rest.split("```").next());
        blocks.find(|block| block.starts_with(begins)).unwrap()
    };
    let agent = "[agents.support]\nmodel = \"gemini:gemini-flash-latest\"\ntools = [\"refund\"]\n";
    let toml = [
        agent,
        block("[http.refund]"),
        block("lookup = "),
        block("on-takeover = "),
        block("[network]"),
    ]
    .concat();
    let schema = SCHEMA.replace(
        "\"amount\":",
        "\"currency\": {\"type\": \"string\"}, \"amount\":",
    );
    let schema = ("refund.schema.json", &*schema);
    let agent = load(&[("a.toml", &toml), schema]).unwrap();
    assert_eq!(agent.tools.len(), 1);
    let of_a_call = toml.replace("/fences\"", "/fences/{$call}\"");
    let problems = load(&[("a.toml", &of_a_call), schema]).unwrap_err();
    let problem = "the request on a takeover is of no call, and can have no parameters";
    assert!(problems[0].ends_with(problem), "{problems:?}");
}

#[test]
fn tools_that_are_not_named_are_not_there_and_their_secrets_are_not_wanted() {
    let toml = REFUND
        .replace("\"refund\", ", "")
        .replace("SHOP_TOKEN", "NOT_SET");
    let files = [
        ("a.toml", &*toml),
        ("support.md", "x"),
        ("refund.json", SCHEMA),
    ];
    let agent = load(&files).unwrap();
    let names: Vec<&str> = agent.tools.iter().map(|built| built.tool.name()).collect();
    assert_eq!(names, ["get_location"]);
}

#[test]
fn everything_that_is_wrong_is_said_with_its_place() {
    let toml = REFUND
        .replace("\"refund\", ", "\"refnd\", \"refund\", ")
        .replace("SHOP_TOKEN", "NOT_SET")
        .replace("{{input.amount}}", "{{input.amont}}")
        .replace("@support.md", "@nowhere.md");
    let problems = with(&toml);
    let expected = [
        "a.toml:4:15: can't read nowhere.md: No such file or directory (os error 2)",
        "a.toml:5:10: there is no tool `refnd`; did you mean `refund`?",
        "a.toml:10:",
    ];
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.starts_with(expected), "{problem}");
    }
    assert!(
        problems[2].ends_with("the variable NOT_SET is not set"),
        "{problems:?}"
    );
}

#[test]
fn mistakes_in_tools_are_found_before_anything_runs() {
    for (from, to, why) in [
        (
            "{{input.amount}}",
            "{{input.amont}}",
            "{{input.amont}} is not a property of the input",
        ),
        (
            "{order}/refunds",
            "{ordr}/refunds",
            "`{ordr}` is not a property of the input",
        ),
        (
            "https://shop.example",
            "https://{order}",
            "a parameter can't choose the host",
        ),
        (
            "Bearer env:SHOP_TOKEN",
            "Bearer t0ken-of-shop",
            "a secret must not be written in the file",
        ),
        (
            "Idempotency-Key",
            "Content-Length",
            "is a header that the connection sets",
        ),
        (
            "gemini:gemini",
            "gmini:gemini",
            "`gmini` is no kind of model",
        ),
        (
            "type = \"object\", properties = {}",
            "type = \"objekt\"",
            "expected a JSON Schema with type",
        ),
        (
            "allow = true",
            "allow = true\ndeny = true",
            "only one of allow, ask and deny",
        ),
        (
            "\"get_location\"",
            "\"get_*n\", \"crm.*\"",
            "there is no tool `crm.*`",
        ),
    ] {
        assert!(REFUND.contains(from), "{from}");
        let problems = with(&REFUND.replacen(from, to, 1));
        assert!(
            problems.iter().any(|problem| problem.contains(why)),
            "{why}: {problems:?}"
        );
        assert!(!problems.join("").contains("t0ken"), "{problems:?}");
    }
}

#[test]
fn names_are_given_once_in_all_files() {
    let agent = "[agents.a]\nmodel = 'gemini:x'\n";
    let problems = load(&[("a.toml", agent), ("b.toml", agent)]).unwrap_err();
    assert_eq!(
        problems,
        ["b.toml:1:9: [agents.a] is in another file of this folder too"]
    );
    let settings = "store = 'memory'\n";
    let files = [("a.toml", settings), ("b.toml", settings)];
    let problems = load(&files).unwrap_err();
    assert!(
        problems[0].starts_with("b.toml:1:1: `store` is in "),
        "{problems:?}"
    );
    let problems = load(&[("a.toml", "[agents.demo]\nmodel = 'gemini:x'\n")]).unwrap_err();
    assert_eq!(
        problems,
        ["a.toml:1:9: `demo` is a built-in agent; choose another name"]
    );
    let problems = load(&[("a.toml", "[agents.'a b']\nmodel = 'gemini:x'\n")]).unwrap_err();
    assert!(problems[0].contains("`a b` is no name"), "{problems:?}");
}

#[test]
fn models_of_the_file_are_found_by_name() {
    let toml = "[agents.a]\nmodel = 'lokal'\n[models.local]\nkind = 'openai'\nmodel = 'qwen3'\n\
                base-url = 'http://127.0.0.1:1/v1'\n";
    let problems = load(&[("a.toml", toml)]).unwrap_err();
    assert_eq!(
        problems,
        ["a.toml:2:9: `lokal` is no model; did you mean `local`?"]
    );
    // A server of one's own needs no key.
    let agent = load(&[("a.toml", &toml.replace("lokal", "local"))]).unwrap();
    assert_eq!(agent.probe.what.url, "http://127.0.0.1:1/v1/models");
}

#[test]
fn servers_of_which_tools_are_named_are_part_of_the_agent() {
    let toml = "[agents.a]\nmodel = 'gemini:x'\ntools = ['crm.*']\n\
                [mcp.crm]\ncommand = ['npx', '-y', 'crm']\nenv = { CRM_TOKEN = 'env:SHOP_TOKEN' }\nallow = ['get_*']\n\
                [mcp.other]\nurl = 'http://127.0.0.1:1/mcp'\n";
    let agent = load(&[("a.toml", toml)]).unwrap();
    let names: Vec<&str> = agent
        .servers
        .iter()
        .map(|server| server.what.name.as_str())
        .collect();
    assert_eq!(names, ["crm"]);
    assert!(!format!("{agent:?}").contains("t0ken"));
    let literal = toml.replace("env:SHOP_TOKEN", "t0ken-of-shop");
    let problems = load(&[("a.toml", &literal)]).unwrap_err();
    assert_eq!(
        problems,
        ["a.toml:6:21: a secret must not be written in the file; write env:NAME or file:PATH"]
    );
}

#[test]
fn page_tools_of_the_document_are_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agent-file.md");
    let document = std::fs::read_to_string(path).unwrap();
    let start = document.find("[agents.painter]").unwrap();
    let end = start + document[start..].find("```").unwrap();
    let agent = load(&[("a.toml", &document[start..end])]).unwrap();
    let description = agent.description();
    for line in [
        "tools pick_* (allow; declared by the page)",
        "tools erase (ask; declared by the page)",
    ] {
        assert!(description.contains(line), "{description}");
    }
}

#[test]
fn client_tool_that_only_pages_declare_is_described_as_such() {
    let toml = r#"
[agents.painter]
model = "gemini:gemini-flash-latest"
page-tools = ["pick_color", "erase"]

[client.pick_color]
description = "Picks."
input = { type = "object", properties = {} }

[client.erase]
description = "Erases."
input = { type = "object", properties = {} }
deny = true
"#;
    let agent = load(&[("a.toml", toml)]).unwrap();
    let description = agent.description();
    assert!(
        description.contains("tool pick_color (as in [client]; if the page declares it)"),
        "{description}"
    );
    assert!(
        description.contains("tools erase (deny; declared by the page)"),
        "{description}"
    );
}

const ROUTE: &str = r#"
[agents.shop.ai-sdk]
url = "http://127.0.0.1:3000/api/chat"
headers = { authorization = "Bearer env:SHOP_TOKEN" }
client-tools = ["get_location"]
"#;

#[test]
fn agent_that_runs_elsewhere_takes_the_place_of_a_model() {
    let agent = load(&[("a.toml", ROUTE)]).unwrap();
    assert_eq!(agent.model, "ai-sdk http://127.0.0.1:3000/api/chat");
    assert!(agent.remote.has_tools());
    assert_eq!(agent.probe.what.url, "http://127.0.0.1:3000/api/chat");
    assert!(!format!("{agent:?}").contains("t0ken"));
    for (wrong, problem) in [
        (
            ROUTE.replace("env:SHOP_TOKEN", "t0ken"),
            "a.toml:4:29: a secret must not be written in the file; write env:NAME or file:PATH",
        ),
        (
            ROUTE.replace("http://127.0.0.1:3000/api/chat", "ftp://a"),
            "a.toml:3:7: not a base URL: it is not http; expected one as https://HOST or \
             http://HOST:PORT/PATH",
        ),
        (
            format!("[agents.shop]\nmodel = 'gemini:x'\n{ROUTE}"),
            "a.toml:1:9: expected one of model, ai-sdk, ag-ui",
        ),
        (
            format!("[agents.shop]\ninstruction = 'Be brief.'\n{ROUTE}"),
            "a.toml:2:15: an agent behind adk-stream has an instruction of its own",
        ),
        (
            format!("[agents.shop]\npage-tools = ['pick_*']\n{ROUTE}"),
            "a.toml:1:9: an agent behind adk-stream has tools of its own, and takes none of a page",
        ),
        (
            "[agents.shop]\n".to_owned(),
            "a.toml:1:9: expected one of model, ai-sdk, ag-ui",
        ),
    ] {
        assert_eq!(load(&[("a.toml", &wrong)]).unwrap_err(), [problem]);
    }
}

const AG_UI: &str = r#"
[agents.payer]
page-tools = ["pick_*"]

[agents.payer.ag-ui]
url = "http://127.0.0.1:8000/"
headers = { authorization = "Bearer env:SHOP_TOKEN" }
"#;

#[test]
fn agent_that_speaks_ag_ui_is_offered_the_tools_of_pages() {
    let agent = load(&[("a.toml", AG_UI)]).unwrap();
    assert_eq!(agent.model, "ag-ui http://127.0.0.1:8000/");
    assert!(!agent.remote.has_tools() && agent.page_rules.is_some());
    assert!(!format!("{agent:?}").contains("t0ken"));
    let both = format!("{AG_UI}[agents.payer.ai-sdk]\nurl = 'http://127.0.0.1:3000/'\n");
    let problem = "a.toml:2:9: expected one of model, ai-sdk, ag-ui";
    assert_eq!(load(&[("a.toml", &both)]).unwrap_err(), [problem]);
}

#[test]
fn api_and_headers_of_a_model_are_for_kinds_that_have_them() {
    let toml = |kind: &str, more: &str| {
        format!(
            "[agents.a]\nmodel = 'm'\n[models.m]\nkind = '{kind}'\nmodel = 'x'\n\
             base-url = 'http://127.0.0.1:1/v1'\nkey = 'env:SHOP_TOKEN'\n{more}\n"
        )
    };
    let headers = "headers = { x-proxy-token = 'Bearer env:SHOP_TOKEN', x-team = 'shop' }";
    for kind in ["openai", "anthropic"] {
        let agent = load(&[("a.toml", &toml(kind, headers))]).unwrap();
        let sent = &agent.probe.what.headers;
        let is_sent = |name: &str, value: &str| sent.contains(&(name.into(), value.into()));
        assert!(is_sent("x-team", "shop"), "{kind}");
        assert!(sent.iter().any(|(name, _)| name == "x-proxy-token"));
        assert!(!format!("{agent:?}").contains("t0ken"));
    }
    let agent = load(&[("a.toml", &toml("openai", "api = 'responses'"))]).unwrap();
    assert!(format!("{agent:?}").contains("Responses"), "{agent:?}");
    for (kind, more, problem) in [
        (
            "anthropic",
            "api = 'responses'",
            "a.toml:8:7: api is for models of kind openai only",
        ),
        (
            "gemini",
            "headers = { x-team = 'shop' }",
            "a.toml:8:22: headers are for models of kind openai and anthropic only",
        ),
        (
            "openai",
            "headers = { x-api-key = 'written' }",
            "a.toml:8:25: a secret must not be written in the file; write env:NAME or file:PATH",
        ),
    ] {
        assert_eq!(
            load(&[("a.toml", &toml(kind, more))]).unwrap_err(),
            [problem]
        );
    }
}

#[test]
fn bytes_of_an_mcp_server_are_kept_where_the_file_says_so() {
    let toml = "[agents.a]\nmodel = 'gemini:x'\ntools = ['crm.*']\n\
                [mcp.crm]\ncommand = ['crm']\n";
    let media = |toml: &str| load(&[("a.toml", toml)]).unwrap().servers[0].what.media;
    assert_eq!(media(toml), tools::mcp::Media::Describe);
    let inline = format!("{toml}media = 'inline'\n");
    assert_eq!(media(&inline), tools::mcp::Media::Inline);
}

#[test]
fn agents_that_one_uses_are_checked() {
    let agent = |name: &str, rest: &str| {
        format!("[agents.{name}]\nmodel = \"gemini:gemini-flash-latest\"\n{rest}\n")
    };
    let used = "description = \"Helps.\"";
    let uses = |name: &str| format!("{used}\nagents = [\"{name}\"]");
    let files = [
        ("a.toml", agent("a", "agents = [\"clerk\"]")),
        ("b.toml", agent("clerk", used)),
    ];
    let [(a, first), (b, clerk)] = &files;
    let built = load(&[(a, first), (b, clerk)]).unwrap();
    assert_eq!(built.agents[0].agent.name, "clerk");
    let tool = "tool clerk (allow; its own tools ask; agent of this file)\n    Helps.";
    assert!(
        built.description().contains(tool),
        "{}",
        built.description()
    );

    let route = "[agents.a.ai-sdk]\nurl = \"http://127.0.0.1:1/api/chat\"\n";
    let page = "[client.pick]\ndescription = \"Picks.\"\ninput = { type = \"object\" }\n";
    for (toml, wrong) in [
        (
            agent("a", "agents = [\"clark\"]") + &agent("clerk", used),
            "a.toml:3:11: there is no agent `clark`; did you mean `clerk`?",
        ),
        (
            agent("a", &uses("b")) + &agent("b", &uses("a")),
            "a.toml:8:11: an agent can't use itself: a → b → a",
        ),
        (
            agent("a", &uses("b"))
                + &agent("b", &uses("c"))
                + &agent("c", &uses("d"))
                + &agent("d", &uses("e"))
                + &agent("e", used),
            "more than 4 agents inside of one another: a → b → c → d → e",
        ),
        (
            agent("a", "agents = [\"clerk\"]") + &agent("clerk", ""),
            "a.toml:3:11: [agents.clerk] needs a description to be used as a tool",
        ),
        (
            format!("[agents.a]\nagents = [\"clerk\"]\n{route}") + &agent("clerk", used),
            "a.toml:2:11: an agent behind adk-stream can't use agents of this file",
        ),
        (
            agent("a", "agents = [\"pick\"]") + &agent("pick", used) + page,
            "a.toml:3:11: `pick` is the name of a tool too",
        ),
        (
            agent("a", "agents = [\"clerk\"]")
                + &agent("clerk", &format!("{used}\ntools = [\"pick\"]"))
                + page,
            "`clerk` has the page's tool `pick`, which needs an approval",
        ),
        (
            agent("a", "agents = [\"clerk\"]")
                + &agent("clerk", used).replace("gemini:gemini-flash-latest", "gemini-live:x"),
            "only an agent with a model that is not live can be a tool",
        ),
    ] {
        let problems = load(&[("a.toml", &toml)]).unwrap_err();
        let is_said = problems.iter().any(|problem| problem.contains(wrong));
        assert!(is_said, "{wrong}: {problems:?}");
    }
}

#[test]
fn documented_example_of_an_agent_as_a_tool_is_one() {
    let example = include_str!("inner_agent.toml");
    // The first agent of a file is the one that is loaded, by name.
    let files = [
        (
            "a.toml",
            example.replace("agents.support", "agents.a_support"),
        ),
        ("refund.json", SCHEMA.to_owned()),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let agent = load(&files).unwrap();
    let clerk = &agent.agents[0].agent;
    assert_eq!((clerk.name.as_str(), clerk.tools.len()), ("clerk", 1));
}
