//! Requests of `GET` checks and of servers that are waited for. Each host is resolved once, every address is judged
//! by the core's rules, and one that passed is what is connected to: no proxy, no second look-up, no cookie. A
//! redirect is a request like the first. Judges no answer.

use std::fmt;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loopkeeper_core::check::address::{Host, Named};
use loopkeeper_core::check::answer::{Answer, BODY_BYTES, Reply};
use tokio::sync::oneshot;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use super::trust::permit::Approved;

/// A server that somebody else runs answers at once, or is not there.
const LISTENING: Duration = Duration::from_millis(300);

/// One request, with the addresses that it may lead to besides public ones.
#[derive(Debug, Clone)]
pub struct Request {
    pub url: Approved<String>,
    /// Where the servers that are started for it get ready.
    pub servers: Vec<String>,
    pub timeout: Duration,
    pub redirects: u32,
}

/// Asks, and waits for the answer. Dropping the future gives the request up.
pub async fn get(request: Request) -> Reply {
    let given_up = GivenUp::default();
    let flag = Arc::clone(&given_up.0);
    on_thread(move || ask(&request, &flag))
        .await
        .unwrap_or_else(|| Reply::None("could not be asked".to_owned()))
}

/// Whether anybody listens where a server is to get ready.
pub async fn is_taken(request: Request) -> bool {
    let looked = on_thread(move || {
        let named = named(&request);
        let uri: Uri = request.url.value().parse().ok()?;
        let found = addresses(&uri).ok()?;
        let allowed = allowed(&named, &uri, found).ok()?;
        allowed.iter().find(|it| TcpStream::connect_timeout(it, LISTENING).is_ok()).copied()
    });
    looked.await.flatten().is_some()
}

/// A thread of its own, that nobody waits for at the end: names can take minutes to resolve.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (tell, told) = oneshot::channel();
    let thread = std::thread::Builder::new().name("request".to_owned());
    // Who gave up hears no answer.
    thread.spawn(move || drop(tell.send(work()))).ok()?;
    told.await.ok()
}

/// Set when nobody waits any more.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn ask(request: &Request, given_up: &AtomicBool) -> Reply {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .max_redirects(request.redirects)
        .max_idle_connections(0)
        .timeout_global(Some(request.timeout))
        .user_agent("loopkeeper")
        .build();
    let resolver = Guarded { named: named(request), resolver: DefaultResolver::default() };
    let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
    let response = match agent.get(request.url.value().as_str()).call() {
        Ok(response) => response,
        Err(error) => return no_answer(&error, request),
    };
    let status = response.status().as_u16();
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
    match body(response.into_body().into_reader(), given_up) {
        Ok((body, cut)) => Reply::Answered(Answer { status, headers, body, cut }),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Reply::TimedOut,
        Err(error) => match error.downcast::<Error>() {
            Ok(error) => no_answer(&error, request),
            Err(error) => Reply::None(format!("the answer broke off: {error}")),
        },
    }
}

fn authority(request: &Request) -> String {
    let uri = request.url.value().parse::<Uri>().ok();
    uri.and_then(|it| it.authority().map(ToString::to_string)).unwrap_or_default()
}

fn body(mut reader: impl Read, given_up: &AtomicBool) -> io::Result<(Vec<u8>, bool)> {
    let mut body = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    while !given_up.load(Ordering::Relaxed) {
        let read = reader.read(&mut chunk)?;
        if read == 0 {
            return Ok((body, false));
        }
        body.extend_from_slice(chunk.get(..read).unwrap_or_default());
        if body.len() > BODY_BYTES {
            body.truncate(BODY_BYTES);
            return Ok((body, true));
        }
    }
    Ok((body, true))
}

fn no_answer(error: &Error, request: &Request) -> Reply {
    let why = match error {
        Error::Timeout(_) => return Reply::TimedOut,
        Error::TooManyRedirects => format!("more than {} redirects", request.redirects),
        Error::Other(refused) => refused.to_string(),
        Error::HostNotFound => "the host was not found".to_owned(),
        Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => return Reply::TimedOut,
        Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            format!("nobody answers at {}", authority(request))
        }
        Error::Io(error) => format!("no answer: {error}"),
        other => format!("no answer: {other}"),
    };
    Reply::None(why)
}

/// Resolves, and lets pass what the rules allow: what it gives is what is connected to.
struct Guarded {
    named: Named,
    resolver: DefaultResolver,
}

impl Resolver for Guarded {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        match allowed(&self.named, uri, found.iter().copied()) {
            Ok(_) => Ok(found),
            Err(why) => Err(Error::Other(why.into())),
        }
    }
}

/// All of them, or none: a name that leads to several places, one of them inside, is not to be trusted with any.
fn allowed(
    named: &Named,
    uri: &Uri,
    found: impl IntoIterator<Item = SocketAddr>,
) -> Result<Vec<SocketAddr>, String> {
    let host = Host::of(uri.host().unwrap_or_default());
    found.into_iter().map(|it| named.allows(&host, it.ip()).map(|()| it)).collect()
}

fn addresses(uri: &Uri) -> io::Result<Vec<SocketAddr>> {
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let host = uri.host().unwrap_or_default();
    Ok((host.trim_start_matches('[').trim_end_matches(']'), port).to_socket_addrs()?.collect())
}

/// By the reader that makes the request, so that no two readings of one address differ.
fn named(request: &Request) -> Named {
    let host = |url: &String| Some(Host::of(url.parse::<Uri>().ok()?.host()?));
    Named { check: host(request.url.value()), servers: request.servers.iter().filter_map(host).collect() }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.named)
    }
}

#[cfg(test)]
mod tests;
