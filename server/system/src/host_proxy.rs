//! The HTTP proxy of a sandbox whose network is limited to a list of hosts. A job has a network namespace with nothing
//! but a loopback interface; its warden listens there and passes the listening socket to this process, which is outside.
//! The job therefore reaches what this proxy connects to, and no path or port of the machine leads to the proxy.
//!
//! It runs in a separate thread, so that no download delays the keeper. The thread starts with the first job that needs
//! it.

mod connection;
pub mod listener_channel;
mod relay;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use loopkeeper_core::network::host_list::{Destination, HostList};
use loopkeeper_text::tr;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Where a warden listens for its job; above the ports that the kernel assigns to connections.
pub const ADDRESS: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 61_080);

/// Concurrent connections; further ones wait.
const MAX_CONNECTIONS: usize = 128;
/// Concurrent name lookups.
const MAX_LOOKUPS: usize = 4;
/// Denied hosts that are named in one iteration.
const MAX_NAMED: usize = 5;
/// Delay before another attempt to accept a connection, if descriptors have run out.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// A proxy for the jobs of one kind.
#[derive(Debug, Clone)]
pub struct HostProxy(Arc<SharedProxy>);

#[derive(Debug)]
struct SharedProxy {
    rules: Arc<ProxyRules>,
    /// Starts with the first warden. It ends when this is dropped.
    thread: Mutex<Option<mpsc::UnboundedSender<AttachedWarden>>>,
}

/// State shared by the connections.
#[derive(Debug)]
pub(crate) struct ProxyRules {
    hosts: HostList,
    denied: Mutex<BTreeSet<String>>,
}

#[derive(Debug)]
struct AttachedWarden {
    channel: UnixStream,
    /// Closed when the warden has ended.
    lease: oneshot::Receiver<()>,
}

/// Keeps the proxy of one warden; dropped when the warden has ended.
#[derive(Debug)]
pub struct ProxyLease(#[expect(dead_code, reason = "its end is the message")] oneshot::Sender<()>);

impl PartialEq for HostProxy {
    fn eq(&self, other: &Self) -> bool {
        self.0.rules.hosts == other.0.rules.hosts
    }
}

impl Eq for HostProxy {}

impl HostProxy {
    pub fn new(hosts: HostList) -> Self {
        let rules = Arc::new(ProxyRules { hosts, denied: Mutex::default() });
        Self(Arc::new(SharedProxy { rules, thread: Mutex::default() }))
    }

    /// Another proxy with the same list and a separate record.
    pub fn separate(&self) -> Self {
        Self::new(self.hosts().clone())
    }

    pub fn hosts(&self) -> &HostList {
        &self.0.rules.hosts
    }

    /// Serves the socket that arrives on `channel`. Does not wait for it.
    pub fn attach(&self, channel: UnixStream) -> io::Result<ProxyLease> {
        let mut thread = lock(&self.0.thread);
        let wardens = match thread.as_ref() {
            Some(wardens) => wardens,
            None => thread.insert(start_thread(&self.0.rules)?),
        };
        let (holder, lease) = oneshot::channel();
        wardens
            .send(AttachedWarden { channel, lease })
            .map_err(|_| io::Error::other(tr!("the proxy of the sandbox has ended")))?;
        Ok(ProxyLease(holder))
    }

    /// The hosts that were denied since the last call, the first few of them.
    pub fn take_denied(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.0.rules.denied)).into_iter().collect()
    }

    /// The variables that direct the clients of a job to the proxy. Each program reads some of them.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let url = format!("http://{ADDRESS}");
        let all = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, url.clone()));
        let rest = [("NO_PROXY", self.hosts().no_proxy())];
        let both = all
            .into_iter()
            .chain(rest)
            .flat_map(|(name, value)| [(name.to_owned(), value.clone()), (name.to_ascii_lowercase(), value)]);
        // Node.js uses no proxy without it.
        let node = [("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned())];
        both.chain(node).map(|(name, value)| (name.into(), value.into())).collect()
    }
}

impl ProxyRules {
    fn record_denied(&self, to: &Destination) {
        let mut denied = lock(&self.denied);
        if denied.len() < MAX_NAMED {
            denied.insert(to.to_string());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start_thread(rules: &Arc<ProxyRules>) -> io::Result<mpsc::UnboundedSender<AttachedWarden>> {
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(MAX_LOOKUPS).build()?;
    let (wardens, attached) = mpsc::unbounded_channel();
    let rules = Arc::clone(rules);
    let name = "host-proxy".to_owned();
    thread::Builder::new().name(name).spawn(move || serve_wardens(runtime, attached, &rules))?;
    Ok(wardens)
}

fn serve_wardens(
    runtime: Runtime,
    mut attached: mpsc::UnboundedReceiver<AttachedWarden>,
    rules: &Arc<ProxyRules>,
) {
    runtime.block_on(async {
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        while let Some(AttachedWarden { channel, lease }) = attached.recv().await {
            let (rules, permits) = (Arc::clone(rules), Arc::clone(&permits));
            tokio::spawn(async move {
                tokio::select! {
                    _ = lease => {}
                    () = serve_warden(channel, &rules, &permits) => {}
                }
            });
        }
    });
    // A name lookup cannot be cancelled.
    runtime.shutdown_background();
}

async fn serve_warden(channel: UnixStream, rules: &Arc<ProxyRules>, permits: &Arc<Semaphore>) {
    match listener_channel::receive_listener(channel).await {
        Ok(Some(listener)) => accept_connections(&listener, rules, permits).await,
        // The warden could not be set up, which it reports itself.
        Ok(None) => {}
        Err(error) => tracing::warn!("the proxy of a sandbox has no socket: {error}"),
    }
}

/// Never returns. Dropping it ends the connections.
async fn accept_connections(listener: &TcpListener, rules: &Arc<ProxyRules>, permits: &Arc<Semaphore>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(permits).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((client, _)) => {
                let rules = Arc::clone(rules);
                connections.spawn(async move {
                    connection::serve_client(client, &rules).await;
                    drop(permit);
                });
            }
            Err(_) => sleep(ACCEPT_RETRY_DELAY).await,
        }
        while connections.try_join_next().is_some() {}
    }
}
