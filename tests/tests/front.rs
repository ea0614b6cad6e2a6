//! The MCP front over in-memory pipes and as a process: life cycles, tools, errors, cancelling, and the client's going.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

#[path = "front/client.rs"]
mod client;
#[path = "front/desk.rs"]
mod desk;
#[path = "front/process.rs"]
mod process;
#[path = "front/resources.rs"]
mod resources;

use client::{Client, Era, LEGACY};
use serde_json::{Value, json};

#[tokio::test]
async fn every_revision_of_initialize_is_agreed_to() {
    for version in LEGACY {
        let mut client = Client::silent();
        let answer = client.initialize(version).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "docent-terminal-mcp");
        assert_eq!(answer["result"]["capabilities"]["tools"]["listChanged"], true);
        let instructions = answer["result"]["instructions"].as_str().unwrap();
        assert!(instructions.chars().count() < 2048);
    }
}

#[tokio::test]
async fn an_unknown_revision_is_answered_with_the_newest_of_its_kind() {
    let mut client = Client::silent();
    assert_eq!(client.initialize("2099-01-01").await["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn the_stateless_life_cycle_begins_with_a_probe_or_without() {
    let mut client = Client::new(Era::Stateless).await;
    let found = client.request("server/discover", json!({})).await;
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    assert!(!client.request("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().is_empty());
    let mut client = Client::new(Era::Stateless).await;
    assert_eq!(client.call("run", json!({"line": "echo hi"})).await.text, "[t1] echo hi");
}

#[tokio::test]
async fn the_list_of_tools_keeps_the_rules() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        let tools = client.request("tools/list", json!({})).await["result"]["tools"].clone();
        assert!(tools.to_string().len() <= 32_000, "{}", tools.to_string().len());
        for tool in tools.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            assert!(tool["description"].as_str().unwrap().chars().count() < 2048, "{name}");
            assert!(!tool["title"].as_str().unwrap().is_empty() && !tool["annotations"]["title"].is_null(), "{name}");
            assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true, "{name}");
            assert!(tool.get("outputSchema").is_none(), "{name}");
            let hints = &tool["annotations"];
            match name {
                "read" | "search" | "regions" | "session_list" | "guide" => assert_eq!(hints["readOnlyHint"], true),
                "wait" | "session_resize" => {
                    assert_eq!((&hints["destructiveHint"], &hints["openWorldHint"]), (&json!(false), &json!(false)));
                }
                _ => assert_eq!(hints["destructiveHint"], true, "{name}"),
            }
        }
    }
}

#[tokio::test]
async fn a_call_reaches_the_desk_and_its_reply_the_client() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        let got = client.call("run", json!({"line": "echo hi", "session": "t7", "timeout": "5"})).await;
        assert_eq!((got.text.as_str(), got.is_error), ("[t7] echo hi", false));
        assert_eq!(got.reply["session"], "t7");
        assert!(got.result.get("structuredContent").is_none());
        assert_eq!(client.desk.calls(), ["drive.client: run t7 [\"echo hi\"] 5s"]);
    }
}

#[tokio::test]
async fn a_reply_steers_no_terminal() {
    let mut client = Client::new(Era::Initialize).await;
    let got = client.call("run", json!({"line": "escapes"})).await;
    assert_eq!(got.text, "[t1] \\x1b[2J<U+202E>\n\ttail");
    assert_eq!(got.reply["prompt"], "\\x1b]0;x\\x07");
}

#[tokio::test]
async fn what_does_not_fit_is_an_error_that_the_model_reads() {
    let mut client = Client::new(Era::Initialize).await;
    for (tool, arguments, expected) in [
        ("run", json!({}), "`line` is missing"),
        ("run", json!({"line": "x", "lines": 3}), "Did you mean `line`"),
        ("run", json!({"line": "x", "timeout": 3601}), "seconds from 0 to 3600"),
        ("search", json!({"pattern": "("}), "does not compile"),
        ("guide", json!({"topic": "cooking"}), "one of \"patterns\""),
    ] {
        let got = client.call(tool, arguments).await;
        assert!(got.is_error && got.text.starts_with("error: ") && got.text.contains(expected), "{}", got.text);
        assert_eq!(got.reply["status"], "error");
    }
    assert!(client.desk.calls().is_empty());
}

#[tokio::test]
async fn arguments_as_one_json_text_are_read() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        let answer = client.request("tools/call", json!({"name": "run", "arguments": "{\"line\": \"x\"}"})).await;
        assert_eq!(answer["result"]["content"][0]["text"], "[t1] x", "{answer}");
        assert_eq!(answer["result"].get("isError").unwrap_or(&json!(false)), &json!(false));
        let answer = client.request("tools/call", json!({"name": "run", "arguments": [1]})).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let answer = client.request("tools/call", json!({"name": "session_list"})).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[tokio::test]
async fn only_an_unknown_tool_is_a_protocol_error() {
    let mut client = Client::new(Era::Initialize).await;
    let answer = client.request("tools/call", json!({"name": "no_such_tool", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("session_create"), "{answer}");
    let answer = client.request("no/such/method", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    // A request that leaves out what it is about is told what it takes.
    for era in Era::BOTH {
        let answer = Client::new(era).await.request("tools/call", json!({"arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("`name` is missing"), "{answer}");
    }
    for (era, code) in [(Era::Initialize, -32601), (Era::Stateless, -32602)] {
        let answer = Client::new(era).await.request("subscriptions/listen", json!({})).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        let says = answer["error"]["message"].as_str().unwrap().contains("resourceSubscriptions");
        assert_eq!(says, era == Era::Stateless, "{answer}");
    }
}

#[tokio::test]
async fn the_guide_is_answered_in_front_of_the_desk() {
    let mut client = Client::new(Era::Stateless).await;
    let contents = client.call("guide", json!({})).await;
    assert!(contents.text.contains("fullscreen: "), "{}", contents.text);
    for topic in ["patterns", "programs", "output", "fullscreen", "sharing"] {
        let got = client.call("guide", json!({"topic": topic})).await;
        assert!(!got.is_error && got.text.starts_with("# "), "{topic}");
        assert_eq!(got.reply["status"], "ok");
    }
    assert!(client.desk.calls().is_empty());
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting_and_others_go_on() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        let id = client.begin("tools/call", json!({"name": "run", "arguments": {"line": "wait"}})).await;
        client.desk.until("the call waits", |desk| desk.waiting() == 1).await;
        assert_eq!(client.call("run", json!({"line": "other"})).await.text, "[t1] other");
        client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"})).await;
        client.desk.until("the call is cancelled", |desk| desk.cancelled() == 1).await;
        assert_eq!(client.call("run", json!({"line": "after"})).await.text, "[t1] after");
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_reports_progress_where_a_token_was_given() {
    let mut client = Client::new(Era::Initialize).await;
    let call = json!({"name": "run", "arguments": {"line": "sleep 17"}, "_meta": {"progressToken": "p1"}});
    let id = client.begin("tools/call", call).await;
    let mut seen = Vec::new();
    let answer = loop {
        let message = client.next().await;
        if message["id"] == id {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "p1");
        seen.push(message["params"]["progress"].as_f64().unwrap());
    };
    assert_eq!(answer["result"]["content"][0]["text"], "[t1] sleep 17");
    assert_eq!(seen, [4.0, 8.0, 12.0, 16.0]);
    let quiet = client.begin("tools/call", json!({"name": "run", "arguments": {"line": "sleep 17"}})).await;
    assert_eq!(client.next().await["id"], quiet);
}

#[tokio::test]
async fn a_call_that_fails_inside_is_told() {
    let mut client = Client::new(Era::Initialize).await;
    let got = client.call("run", json!({"line": "panic"})).await;
    assert!(got.is_error && got.text.starts_with("error: dtmcp failed at this call"), "{}", got.text);
    assert_eq!(client.call("run", json!({"line": "after"})).await.text, "[t1] after");
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_and_the_next_one_too() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        for (line, code, id) in [
            ("{this is not json", -32700, Value::Null),
            ("\u{feff}]", -32700, Value::Null),
            ("{\"jsonrpc\":\"2.0\",\"id\":77}", -32600, json!(77)),
            ("[]", -32600, Value::Null),
            ("42", -32600, Value::Null),
        ] {
            client.line(line).await;
            let answer = client.next().await;
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
        }
        client.line("").await;
        client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/of/another/time\"}").await;
        assert_eq!(client.call("run", json!({"line": "x"})).await.text, "[t1] x");
    }
}

#[tokio::test]
async fn bytes_outside_utf8_and_long_lines_are_answered() {
    let mut client = Client::new(Era::Initialize).await;
    client.bytes(b"{\"a\xff\": 1}\n").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..17 {
        client.bytes(&piece).await;
    }
    client.bytes(b"\n").await;
    let answer = client.next().await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("16777216 bytes"), "{answer}");
    assert_eq!(client.call("run", json!({"line": "x"})).await.text, "[t1] x");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_reach_the_desk_in_the_order_of_their_lines() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        for n in 0..50 {
            // What never gets to the desk, or waits there, holds nobody up.
            match n % 10 {
                3 => client.begin("tools/call", json!({"name": "run", "arguments": {"lime": "x"}})).await,
                4 => client.begin("tools/call", json!({"name": "nosuch", "arguments": {}})).await,
                5 => client.begin("tools/call", json!({"name": "guide"})).await,
                6 => client.begin("tools/call", json!({"name": "run", "arguments": {"line": "wait"}})).await,
                7 => client.begin("tools/call", json!({"name": "run", "arguments": [n]})).await,
                _ => Value::Null,
            };
            let line = format!("call {n}");
            // Every other one as some models send it, which takes another way through rmcp.
            let arguments =
                if n % 2 == 0 { json!({ "line": line }) } else { json!(json!({ "line": line }).to_string()) };
            client.begin("tools/call", json!({"name": "run", "arguments": arguments})).await;
        }
        let count = |desk: &desk::Recorder| desk.calls().iter().filter(|call| call.contains("call ")).count();
        client.desk.until("all calls are there", |desk| count(desk) == 50).await;
        let calls = client.desk.calls();
        let got: Vec<&str> = calls.iter().filter(|call| call.contains("call ")).map(String::as_str).collect();
        let want: Vec<String> = (0..50).map(|n| format!("drive.client: run t1 [\"call {n}\"] 30s")).collect();
        assert_eq!(got, want);
        assert_eq!(client.leave().await.cancelled(), 5);
    }
}

#[tokio::test]
async fn a_batch_is_answered_message_by_message() {
    let mut client = Client::new(Era::Initialize).await;
    client.line("[{\"jsonrpc\":\"2.0\",\"id\":501,\"method\":\"ping\"},7,{\"jsonrpc\":\"2.0\",\"id\":502,\"method\":\"ping\"}]").await;
    let mut ids =
        vec![client.next().await["id"].clone(), client.next().await["id"].clone(), client.next().await["id"].clone()];
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(501), json!(502), Value::Null]);
}

#[tokio::test]
async fn a_notification_before_the_beginning_ends_nothing() {
    let mut client = Client::silent();
    client.line("not json").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
    client.notify("notifications/initialized", json!({})).await;
    client.notify("notifications/cancelled", json!({"requestId": 4})).await;
    assert_eq!(client.initialize("2025-06-18").await["result"]["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn a_client_that_goes_cancels_its_calls_and_gives_up_the_lock() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        client.begin("tools/call", json!({"name": "run", "arguments": {"line": "wait"}})).await;
        client.desk.until("the call waits", |desk| desk.waiting() == 1).await;
        if era == Era::Stateless {
            client.begin("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
            assert_eq!(client.next().await["method"], "notifications/subscriptions/acknowledged");
        }
        let desk = client.leave().await;
        assert_eq!((desk.cancelled(), desk.released()), (1, 1));
    }
}

#[tokio::test]
async fn a_client_that_goes_before_it_says_anything_ends_the_server() {
    assert_eq!(Client::silent().leave().await.released(), 1);
}

#[tokio::test]
async fn a_last_line_without_its_break_is_read() {
    let mut client = Client::new(Era::Initialize).await;
    client.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"ping\"}").await;
    client.close_input().await;
    assert_eq!(client.next().await["id"], 900);
}

#[tokio::test]
async fn a_stopped_server_lets_its_calls_go() {
    let mut client = Client::new(Era::Initialize).await;
    client.begin("tools/call", json!({"name": "run", "arguments": {"line": "wait"}})).await;
    client.desk.until("the call waits", |desk| desk.waiting() == 1).await;
    let desk = client.stop().await;
    assert_eq!((desk.cancelled(), desk.released()), (1, 1));
}

#[tokio::test]
async fn every_call_is_logged_without_what_was_typed() {
    let mut client = Client::new(Era::Initialize).await;
    client.call("run", json!({"line": "echo sekrit123", "session": "t3"})).await;
    client.call("guide", json!({})).await;
    client.call("search", json!({"pattern": "sekrit123("})).await;
    let log = client.calls_log();
    assert!(!log.contains("sekrit"), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<(&str, &str)> =
        lines.iter().map(|l| (l["tool"].as_str().unwrap(), l["result"].as_str().unwrap())).collect();
    assert_eq!(told, [("run", "ok"), ("guide", "ok"), ("search", "error")]);
    assert_eq!((&lines[0]["session"], &lines[0]["agent"]), (&json!("t3"), &json!("drive.client")));
}

#[tokio::test]
async fn a_flood_of_calls_is_refused_and_ends_with_them() {
    let mut client = Client::new(Era::Initialize).await;
    for _ in 0..256 {
        client.begin("tools/call", json!({"name": "run", "arguments": {"line": "wait"}})).await;
    }
    client.desk.until("all wait", |desk| desk.waiting() == 256).await;
    let got = client.call("run", json!({"line": "one more"})).await;
    assert!(got.is_error && got.text.contains("256 calls are in flight"), "{}", got.text);
    assert_eq!(client.leave().await.cancelled(), 256);
}
