//! Resources as they go over the wire: lists, reading, subscriptions of both life cycles, and what becomes of them.

use dtmcp_core::resource::Address;
use serde_json::{Value, json};

use super::client::{Client, Era};
use super::desk::PATIENCE;

/// Waits for the next notification and gives its method and address.
async fn told(client: &mut Client) -> (String, Value) {
    let message = client.next().await;
    assert!(message.get("id").is_none(), "{message}");
    (message["method"].as_str().unwrap().to_owned(), message["params"]["uri"].clone())
}

/// Waits until this many sessions are watched by anybody.
async fn watched(client: &Client, count: usize) {
    let mut watched = client.desk.updates.watched();
    let reached = watched.wait_for(|sessions| sessions.len() == count);
    assert!(tokio::time::timeout(PATIENCE, reached).await.is_ok_and(|reached| reached.is_ok()), "{count} watched");
}

#[tokio::test]
async fn what_can_be_read_is_listed_page_by_page() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        let page = client.request("resources/list", json!({})).await["result"].clone();
        let uris = |page: &Value| {
            let listed = page["resources"].as_array().unwrap().iter();
            listed.map(|entry| entry["uri"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(uris(&page), ["dtmcp://t1", "dtmcp://t2"], "{page}");
        assert_eq!(page["resources"][0]["mimeType"], "text/plain");
        let rest = client.request("resources/list", json!({"cursor": page["nextCursor"]})).await["result"].clone();
        assert_eq!((uris(&rest), &rest["nextCursor"]), (vec!["dtmcp://t3".to_owned()], &Value::Null));
        let wrong = client.request("resources/list", json!({"cursor": "page two"})).await;
        assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
        let templates = client.request("resources/templates/list", json!({})).await["result"].clone();
        assert_eq!(templates["resourceTemplates"][1]["uriTemplate"], "dtmcp://{session}/{region}", "{templates}");
    }
}

#[tokio::test]
async fn a_resource_reads_as_a_reply_does() {
    for (era, unknown) in [(Era::Initialize, -32002), (Era::Stateless, -32602)] {
        let mut client = Client::new(era).await;
        let read = client.request("resources/read", json!({"uri": "dtmcp://t1"})).await["result"].clone();
        let contents = &read["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!("dtmcp://t1"), &json!("text/plain")), "{read}");
        assert_eq!(contents["text"], "[t1] \\x1b[2J", "{read}");
        for uri in ["dtmcp://t9", "dtmcp://t9/1", "file:///etc/passwd", "dtmcp://../x/y", ""] {
            let answer = client.request("resources/read", json!({"uri": uri})).await;
            assert_eq!(answer["error"]["code"], unknown, "{uri}: {answer}");
        }
        let answer = client.request("resources/read", json!({"uri": "dtmcp://broken"})).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
}

#[tokio::test]
async fn a_subscription_is_told_until_it_is_ended() {
    let mut client = Client::new(Era::Initialize).await;
    let desk = client.desk.clone();
    // Nobody has asked for anything yet, and nobody is woken.
    desk.updates.list_changed();
    for uri in ["dtmcp://t1/", "dtmcp://t1/2"] {
        let answer = client.request("resources/subscribe", json!({"uri": uri})).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    for uri in ["dtmcp://t9", "file:///etc/passwd"] {
        let answer = client.request("resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
    for _ in 0..50 {
        desk.updates.changed("t1", Some(2));
    }
    let first = [told(&mut client).await, told(&mut client).await];
    let updated = |uri: &str| ("notifications/resources/updated".to_owned(), json!(uri));
    assert_eq!(first, [updated("dtmcp://t1/"), updated("dtmcp://t1/2")]);
    client.request("resources/unsubscribe", json!({"uri": "dtmcp://t1/"})).await;
    client.request("resources/unsubscribe", json!({"uri": "dtmcp://t3"})).await;
    // Whatever was told twice comes before this.
    desk.updates.list_changed();
    desk.updates.changed("t1", Some(1));
    let mut next = told(&mut client).await;
    if next == updated("dtmcp://t1/2") || next == updated("dtmcp://t1/") {
        // Some of the fifty came after the first batch had gone.
        next = told(&mut client).await;
    }
    assert_eq!(next.0, "notifications/resources/list_changed");
    client.request("resources/unsubscribe", json!({"uri": "dtmcp://t1/2"})).await;
    watched(&client, 0).await;
}

#[tokio::test]
async fn who_listens_is_told_under_the_name_of_its_request() {
    let mut client = Client::new(Era::Stateless).await;
    let desk = client.desk.clone();
    let uris = ["dtmcp://t1", "file:///etc/passwd", "dtmcp://t2/3"];
    let wanted = json!({"notifications": {"resourceSubscriptions": uris, "resourcesListChanged": true}});
    let id = client.begin("subscriptions/listen", wanted).await;
    let accepted = client.next().await;
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
    let taken = &accepted["params"]["notifications"];
    assert_eq!(taken["resourceSubscriptions"], json!(["dtmcp://t1", "dtmcp://t2/3"]), "{accepted}");
    assert_eq!(taken["toolsListChanged"], Value::Null, "nobody asked for it");
    watched(&client, 2).await;
    desk.updates.changed("t2", Some(3));
    let update = client.next().await;
    assert_eq!(update["params"]["uri"], "dtmcp://t2/3", "{update}");
    assert_eq!(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{update}");
    desk.updates.list_changed();
    assert_eq!(told(&mut client).await.0, "notifications/resources/list_changed");
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    watched(&client, 0).await;
    let old = client.request("resources/subscribe", json!({"uri": "dtmcp://t1"})).await;
    assert_eq!(old["error"]["code"], -32601, "this life cycle has another way: {old}");
}

#[tokio::test]
async fn streams_and_subscriptions_have_limits() {
    let mut client = Client::new(Era::Stateless).await;
    for _ in 0..32 {
        client.begin("subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}})).await;
        client.next().await;
    }
    client.begin("subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}})).await;
    client.next().await;
    // One of them is one too many, whichever was begun last.
    let refused = client.next().await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let mut client = Client::new(Era::Initialize).await;
    for region in 0..512 {
        let answer = client.request("resources/subscribe", json!({"uri": format!("dtmcp://t1/{region}")})).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let answer = client.request("resources/subscribe", json!({"uri": "dtmcp://t1"})).await;
    assert!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("512")), "{answer}");
}

#[tokio::test]
async fn subscriptions_go_with_their_client() {
    for era in Era::BOTH {
        let mut client = Client::new(era).await;
        if era == Era::Initialize {
            client.request("resources/subscribe", json!({"uri": "dtmcp://t1"})).await;
        } else {
            let wanted = json!({"notifications": {"resourceSubscriptions": ["dtmcp://t1"]}});
            client.begin("subscriptions/listen", wanted).await;
            client.next().await;
        }
        watched(&client, 1).await;
        let updates = client.desk.updates.clone();
        client.leave().await;
        assert!(updates.watched().borrow().is_empty(), "{era:?}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_nobody_up() {
    let mut client = Client::new(Era::Initialize).await;
    client.request("resources/subscribe", json!({"uri": "dtmcp://t1"})).await;
    let updates = client.desk.updates.clone();
    for _ in 0..100_000 {
        updates.changed("t1", None);
    }
    let other = updates.subscriber().unwrap();
    other.subscribe(Address::session("t1"), "dtmcp://t1").unwrap();
    updates.changed("t1", None);
    assert!(other.ear().next().await.is_some());
    client.leave().await;
}
