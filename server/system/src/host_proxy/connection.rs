//! One connection of a job to the proxy: reads the request, checks its host and the addresses of that host, connects to
//! an address that was checked, and relays. A host that the list does not name is not looked up.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use loopkeeper_core::network::host_list::{Destination, HostMatch, is_address_allowed};
use loopkeeper_core::network::proxy_request::{HEAD_BYTES, ProxyRequest, head_end};
use loopkeeper_task::criterion::address::UrlHost;
use loopkeeper_text::message::Message;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::ProxyRules;
use super::relay::relay;

/// Timeout from the connection to the end of the request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for all addresses of a host together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout for sending a refusal and draining the client's data, because closing earlier would discard the refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);
const CHUNK: usize = 4096;
const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Why a request is not carried out.
#[derive(Debug, PartialEq, Eq)]
enum ProxyRefusal {
    Malformed(&'static str),
    TooLong,
    TimedOut,
    /// The list does not name the host.
    NotListed(Destination),
    /// The list names the host, but not with such an address.
    Address(Destination, IpAddr),
    Unreachable(Destination, String),
}

/// A request and the bytes that came after its head.
struct ReceivedRequest {
    request: ProxyRequest,
    rest: Vec<u8>,
}

pub(super) async fn serve_client(mut client: TcpStream, rules: &ProxyRules) {
    let request = match timeout(HEAD_TIMEOUT, read_request(&mut client)).await {
        Ok(Ok(Some(request))) => request,
        // Closed without a request.
        Ok(Ok(None)) => return,
        Ok(Err(refusal)) => return refuse(client, &refusal).await,
        Err(_) => return refuse(client, &ProxyRefusal::TimedOut).await,
    };
    match connect(request.request.destination(), rules).await {
        Ok(server) => {
            // A closed connection is not an error of the proxy.
            let _ = carry_out(client, server, request).await;
        }
        Err(refusal) => {
            if let ProxyRefusal::NotListed(to) | ProxyRefusal::Address(to, _) = &refusal {
                rules.record_denied(to);
                tracing::debug!(%to, "connection denied");
            }
            refuse(client, &refusal).await;
        }
    }
}

async fn read_request(client: &mut TcpStream) -> Result<Option<ReceivedRequest>, ProxyRefusal> {
    let mut bytes = Vec::with_capacity(CHUNK);
    let mut seen = 0;
    loop {
        if let Some(end) = head_end(&bytes, seen).filter(|it| *it <= HEAD_BYTES) {
            let rest = bytes.split_off(end);
            let request = ProxyRequest::parse(&bytes).map_err(ProxyRefusal::Malformed)?;
            return Ok(Some(ReceivedRequest { request, rest }));
        }
        if bytes.len() >= HEAD_BYTES {
            return Err(ProxyRefusal::TooLong);
        }
        seen = bytes.len();
        bytes.reserve(CHUNK);
        match client.read_buf(&mut bytes).await {
            Ok(1..) => {}
            Ok(0) if seen > 0 => return Err(ProxyRefusal::Malformed("the head does not end")),
            Ok(0) | Err(_) => return Ok(None),
        }
    }
}

async fn connect(to: &Destination, rules: &ProxyRules) -> Result<TcpStream, ProxyRefusal> {
    let found = rules.hosts.find(to).ok_or_else(|| ProxyRefusal::NotListed(to.clone()))?;
    let unreachable = |why: String| ProxyRefusal::Unreachable(to.clone(), why);
    let timed_out = |_| unreachable("no answer".to_owned());
    let addresses = timeout(LOOKUP_TIMEOUT, look_up(to)).await.map_err(timed_out)?;
    let addresses = addresses.map_err(|_| unreachable("the host was not found".to_owned()))?;
    check_addresses(to, found, &addresses)?;
    let connected = timeout(CONNECT_TIMEOUT, connect_to_first(&addresses)).await.map_err(timed_out)?;
    connected.map_err(|error| unreachable(error.to_string()))
}

async fn look_up(to: &Destination) -> io::Result<Vec<SocketAddr>> {
    match &to.host {
        UrlHost::Literal(address) => Ok(vec![SocketAddr::new(*address, to.port)]),
        UrlHost::Localhost => Ok(lookup_host(("localhost", to.port)).await?.collect()),
        UrlHost::Name(name) => Ok(lookup_host((name.as_str(), to.port)).await?.collect()),
    }
}

/// All addresses or none: a name that leads to several places, one of them internal, is not trusted with any.
fn check_addresses(to: &Destination, found: HostMatch, addresses: &[SocketAddr]) -> Result<(), ProxyRefusal> {
    let refused = addresses.iter().map(SocketAddr::ip).find(|it| !is_address_allowed(found, to, *it));
    refused.map_or(Ok(()), |address| Err(ProxyRefusal::Address(to.clone(), address)))
}

async fn connect_to_first(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut failed = io::Error::other("the host was not found");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

async fn carry_out(
    mut client: TcpStream,
    mut server: TcpStream,
    ReceivedRequest { request, rest }: ReceivedRequest,
) -> io::Result<()> {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    match request {
        ProxyRequest::Tunnel(_) => client.write_all(ESTABLISHED).await?,
        ProxyRequest::Forward { head, .. } => server.write_all(head.as_bytes()).await?,
    }
    server.write_all(&rest).await?;
    drop(rest);
    relay(client, server).await
}

async fn refuse(mut client: TcpStream, refusal: &ProxyRefusal) {
    let response = refusal.response();
    let _ = timeout(REFUSAL_TIMEOUT, async {
        client.write_all(response.as_bytes()).await?;
        client.shutdown().await?;
        let mut chunk = [0; CHUNK];
        while client.read(&mut chunk).await? > 0 {}
        io::Result::Ok(())
    })
    .await;
}

impl ProxyRefusal {
    /// Clients that tunnel show the first line alone.
    fn response(&self) -> String {
        let status = match self {
            Self::Malformed(_) => "400 Bad Request",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::TimedOut => "408 Request Timeout",
            Self::NotListed(_) | Self::Address(..) => "403 Denied by sandbox.network",
            Self::Unreachable(..) => "502 Bad Gateway",
        };
        let body = format!("loopkeeper: {}\n", self.message());
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
    }

    fn message(&self) -> Message {
        match self {
            Self::Malformed(why) => {
                Message::new(format!("the proxy of the sandbox cannot read this request: {why}"))
            }
            Self::TooLong => {
                Message::new(format!("the head of the request is longer than {HEAD_BYTES} bytes"))
            }
            Self::TimedOut => Message::new(format!("no request came within {} s", HEAD_TIMEOUT.as_secs())),
            Self::NotListed(to) => Message::new(format!("the sandbox denies {to}"))
                .with_hint("`sandbox.network` lists the hosts that can be reached."),
            Self::Address(to, address) => Message::new(format!(
                "the sandbox denies {to}, which leads to {address}"
            ))
            .with_hint(
                "an address that is not public is reached only if `sandbox.network` names it or its host.",
            ),
            Self::Unreachable(to, why) => Message::new(format!("{to} cannot be reached: {why}")),
        }
    }
}
