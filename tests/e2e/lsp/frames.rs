//! Bytes that are no message of the protocol: answered with an error, and survived.

use serde_json::{Value, json};

use super::{code, greeted};
use crate::cli::Terminal;
use crate::support::lsp::{Editor, frame};

/// The errors that do not answer a request.
fn complaints(editor: &Editor) -> Vec<i64> {
    editor.messages().iter().filter(|it| it["id"].is_null() && it.get("error").is_some()).map(code).collect()
}

#[test]
fn absurd_frames_are_refused_and_survived() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    let absurd: [&[u8]; 9] = [
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 1000000000000000000\r\n\r\n{}",
        b"Content-Length: 340282366920938463463374607431768211456\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Type: application/json\r\n\r\n{}",
        b"\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: 3\r\n\r\n\xff\xfe\xfd",
    ];
    for (count, bytes) in absurd.iter().enumerate() {
        editor.write(bytes);
        let answer = editor.call("no/such", &json!({}));
        assert_eq!(code(&answer), -32601, "after {:?}", String::from_utf8_lossy(bytes));
        let refused = complaints(&editor);
        assert_eq!(refused.len(), count + 1, "after {:?}", String::from_utf8_lossy(bytes));
        assert!(refused.iter().all(|it| [-32700, -32600].contains(it)), "{refused:?}");
    }
    editor.quit();
}

#[test]
fn absurd_bodies_are_refused_and_survived() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    let request = r#"{"jsonrpc":"2.0","id":900,"method":"no/such"}"#;
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{}}}"#, "[".repeat(100_000));
    let bodies = [
        ("{", -32700),
        ("nonsense", -32700),
        (deep.as_str(), -32700),
        (r#"{"jsonrpc":"2.0","method":"\ud80"}"#, -32700),
        ("[]", -32600),
        (&format!("[{request},{request}]"), -32600),
        ("null", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"no/such"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"no/such"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"no/such"}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":7}"#, -32600),
    ];
    for (count, (body, expect)) in bodies.iter().enumerate() {
        editor.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        editor.call("no/such", &json!({}));
        let refused = complaints(&editor);
        assert_eq!(refused.len(), count + 1, "after {body:.80}");
        assert_eq!(refused.last(), Some(expect), "after {body:.80}");
    }
    editor.quit();
}

#[test]
fn a_body_over_16_mib_is_skipped() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    let text = "x".repeat(17 << 20);
    editor.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "no/such", "params": {"text": text}}));
    assert_eq!(code(&editor.call("no/such", &json!({}))), -32601);
    assert_eq!(complaints(&editor).len(), 1);
    // A message of exactly the maximum size is read.
    let text = "x".repeat(15 << 20);
    assert_eq!(code(&editor.call("no/such", &json!({"text": text}))), -32601);
    editor.quit();
}

#[test]
fn headers_are_read_as_clients_write_them() {
    let terminal = Terminal::new();
    let mut editor = greeted(&terminal);
    let headers = [
        "content-length: #\r\n\r\n",
        "CONTENT-LENGTH:#\r\n\r\n",
        "Content-Length: #\n\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: #\r\n\r\n",
        "Content-Length: #\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
        "\r\nContent-Length: #\r\n\r\n",
    ];
    for (id, header) in (100..).zip(headers) {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "no/such"}).to_string();
        editor.write(header.replace('#', &body.len().to_string()).as_bytes());
        editor.write(body.as_bytes());
        assert_eq!(code(&editor.answer(id)), -32601, "{header:?}");
    }
    // Finally, one byte at a time.
    for byte in frame(&json!({"jsonrpc": "2.0", "id": 200, "method": "no/such", "params": Value::Null})) {
        editor.write(&[byte]);
    }
    assert_eq!(code(&editor.answer(200)), -32601);
    assert_eq!(complaints(&editor), [] as [i64; 0]);
    editor.quit();
}
