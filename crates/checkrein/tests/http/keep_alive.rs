use checkrein::{Decision, Engine};

use crate::server::{Server, Then, respond};
use crate::{ALLOW, engine, event, hook};

#[tokio::test]
async fn fires_share_a_connection() {
    let server = Server::saying("200 OK", "", ALLOW);
    let engine = engine(server.url("/"), |http| http);
    for _ in 0..20 {
        assert_eq!(engine.fire(event()).await.decision(), Decision::Allow);
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 20));
    let requests = server.requests();
    let ids: std::collections::HashSet<_> = requests.iter().map(|request| request.header("webhook-id")).collect();
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn failures_and_chunked_responses_share_a_connection() {
    let server = Server::new(|request, stream| {
        if request.path == "/chunked" {
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{{\"dec\r\nf\r\nision\":\"allow\"}}\r\n0\r\n\r\n"
            );
            return Then::Keep;
        }
        respond(stream, "500 Internal Server Error", "", "<html>")
    });
    let hooks = [hook(server.url("/chunked"), |http| http), hook(server.url("/broken"), |http| http)];
    let engine = Engine::builder().hooks(hooks).at_once(1).build();
    for _ in 0..5 {
        let (_, record) = engine.fire_recorded(event()).await;
        assert_eq!(record.hooks[0].decision, Some(Decision::Allow));
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 10));
}

#[tokio::test]
async fn new_hooks_reuse_open_connections() {
    let server = Server::saying("200 OK", "", ALLOW);
    let engine = engine(server.url("/"), |http| http);
    engine.fire(event()).await;
    engine.replace_all(vec![hook(server.url("/other"), |http| http)]);
    engine.fire(event()).await;
    assert_eq!((server.connections(), server.requests().len()), (1, 2));
}

#[tokio::test]
async fn closed_connections_are_replaced() {
    // With and without an announcement.
    for header in ["connection: close\r\n", ""] {
        let server = Server::new(move |_, stream| {
            respond(stream, "200 OK", header, ALLOW);
            Then::Close
        });
        let engine = engine(server.url("/"), |http| http);
        for _ in 0..10 {
            assert_eq!(engine.fire(event()).await.decision(), Decision::Allow);
        }
        assert_eq!(server.connections(), 10);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_fires_get_their_own_responses() {
    // Replies with the session of the event.
    let server = Server::new(|request, stream| {
        let session = request.body.split('"').find(|text| text.starts_with("session-")).unwrap();
        respond(stream, "200 OK", "", &format!(r#"{{"decision":"deny","reason":"{session}"}}"#))
    });
    let engine = engine(server.url("/"), |http| http);
    let fires: Vec<_> = (0..64)
        .map(|number| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let session = format!("session-{number}");
                for _ in 0..5 {
                    let mut event = event();
                    event.envelope.session_id = Some(session.clone());
                    assert_eq!(engine.fire(event).await.reason(), Some(session.as_str()));
                }
            })
        })
        .collect();
    for fire in fires {
        fire.await.unwrap();
    }
    assert_eq!(server.requests().len(), 320);
    // 16 at a time. A connection becomes available shortly after its response, so there may be some more.
    assert!(server.connections() <= 64, "{}", server.connections());
}

/// Otherwise the response would apply to the next event, which the endpoint has not seen.
#[tokio::test]
async fn unsolicited_response_is_not_used_for_the_next_event() {
    let with_length = |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let in_chunks = |body: &str| {
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
    };
    let deny = r#"{"decision":"deny","reason":"asked"}"#;
    for (asked, decision) in [
        (with_length(deny), Decision::Deny),
        (in_chunks(deny), Decision::Deny),
        (with_length(""), Decision::NoOpinion),
        ("HTTP/1.1 204 No Content\r\n\r\n".to_owned(), Decision::NoOpinion),
    ] {
        let (answer, unasked) = (asked.clone(), with_length(ALLOW));
        let server = Server::new(move |_, stream| {
            let _ = stream.write_all(format!("{answer}{unasked}").as_bytes());
            Then::Keep
        });
        let engine = engine(server.url("/"), |http| http);
        for _ in 0..4 {
            assert_eq!(engine.fire(event()).await.decision(), decision, "{asked}");
        }
        assert_eq!(server.requests().len(), 4);
    }
}
