//! Performs one HTTP request in a separate process (`loopkeeper-request`). Each host is resolved once, every address is
//! checked against the core's rules, and the connection uses that checked address: no proxy, no second lookup, no
//! cookies. A redirect is treated as a new request.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::process::ExitCode;
use std::time::Duration;

use loopkeeper_core::check::answer::{BODY_BYTES, HttpOutcome, HttpResponse};
use loopkeeper_task::criterion::address::{AllowedHosts, UrlHost};
use loopkeeper_text::tr;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use super::super::internal_program;
use super::wire::{RequestKind, VARIABLE, WireRequest, WireResponse};

/// The subcommand's name.
pub const SUBCOMMAND: &str = "request";

/// A local server accepts a connection immediately or does not exist.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// Performs the request from the environment and writes the result.
pub fn main() -> ExitCode {
    let request = std::env::var(VARIABLE).ok().and_then(|it| WireRequest::decode(&it));
    let Some(request) = request else {
        return internal_program::refuse_user();
    };
    let reply = match request.what {
        RequestKind::Answer => WireResponse::Reply(perform_request(&request)),
        RequestKind::Listener => WireResponse::Taken(is_taken(&request)),
    };
    // A keeper that gave up no longer reads the response.
    reply.write(&mut io::stdout().lock()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn is_taken(request: &WireRequest) -> bool {
    let listener = || {
        let uri: Uri = request.url.parse().ok()?;
        let found = resolve(&uri).ok()?;
        let allowed = check_addresses(&allowed_hosts(request), &uri, found).ok()?;
        allowed.into_iter().find(|it| TcpStream::connect_timeout(it, CONNECT_TIMEOUT).is_ok())
    };
    listener().is_some()
}

fn perform_request(request: &WireRequest) -> HttpOutcome {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .max_redirects(request.redirects)
        .max_idle_connections(0)
        .timeout_global(Some(request.timeout))
        .user_agent("loopkeeper")
        .build();
    let resolver = FilteringResolver { named: allowed_hosts(request), resolver: DefaultResolver::default() };
    let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
    let response = match agent.get(request.url.as_str()).call() {
        Ok(response) => response,
        Err(error) => return no_answer(&error, request),
    };
    let status = response.status().as_u16();
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
    match read_body(response.into_body().into_reader()) {
        Ok((body, cut)) => HttpOutcome::Answered(HttpResponse { status, headers, body, cut }),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => HttpOutcome::TimedOut,
        Err(error) => match error.downcast::<Error>() {
            Ok(error) => no_answer(&error, request),
            Err(error) => HttpOutcome::None(tr!("the answer was cut off: {error}", error)),
        },
    }
}

fn authority(request: &WireRequest) -> String {
    let uri = request.url.parse::<Uri>().ok();
    uri.and_then(|it| it.authority().map(ToString::to_string)).unwrap_or_default()
}

fn read_body(reader: impl Read) -> io::Result<(Vec<u8>, bool)> {
    let mut body = Vec::new();
    reader.take(BODY_BYTES as u64 + 1).read_to_end(&mut body)?;
    let cut = body.len() > BODY_BYTES;
    body.truncate(BODY_BYTES);
    Ok((body, cut))
}

fn no_answer(error: &Error, request: &WireRequest) -> HttpOutcome {
    let why = match error {
        Error::Timeout(_) => return HttpOutcome::TimedOut,
        Error::TooManyRedirects => tr!("more than {redirects} redirects", redirects = request.redirects),
        Error::Other(refused) => refused.to_string(),
        Error::HostNotFound => tr!("the host was not found").to_owned(),
        Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => return HttpOutcome::TimedOut,
        Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            tr!("nothing listens at {address}", address = authority(request))
        }
        Error::Io(error) => tr!("no answer: {error}", error),
        other => tr!("no answer: {error}", error = other),
    };
    HttpOutcome::None(why)
}

/// Resolves names and returns only the addresses that the rules allow, which are the ones connected to.
#[derive(Debug)]
struct FilteringResolver {
    named: AllowedHosts,
    resolver: DefaultResolver,
}

impl Resolver for FilteringResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        match check_addresses(&self.named, uri, found.iter().copied()) {
            Ok(_) => Ok(found),
            Err(why) => Err(Error::Other(why.into())),
        }
    }
}

/// All addresses or none: a name that leads to several places, one of them internal, is not trusted with any.
fn check_addresses(
    named: &AllowedHosts,
    uri: &Uri,
    found: impl IntoIterator<Item = SocketAddr>,
) -> Result<Vec<SocketAddr>, String> {
    let host = UrlHost::of(uri.host().unwrap_or_default());
    found.into_iter().map(|it| named.allows(&host, it.ip()).map(|()| it)).collect()
}

fn resolve(uri: &Uri) -> io::Result<Vec<SocketAddr>> {
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let host = uri.host().unwrap_or_default();
    Ok((host.trim_start_matches('[').trim_end_matches(']'), port).to_socket_addrs()?.collect())
}

/// Uses the same URL parser as the request, so that an address cannot be read in two ways.
fn allowed_hosts(request: &WireRequest) -> AllowedHosts {
    let host = |url: &String| Some(UrlHost::of(url.parse::<Uri>().ok()?.host()?));
    AllowedHosts { check: host(&request.url), servers: request.servers.iter().filter_map(host).collect() }
}

#[cfg(test)]
mod tests;
