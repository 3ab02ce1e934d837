//! Passes a listening socket from a warden to the proxy of its sandbox. A socket stays in the network namespace in which
//! it was made, so that the proxy accepts connections from a namespace that it is not in.

use std::io;
use std::net::TcpListener as StdTcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::RecvFlags;
use tokio::io::Interest;
use tokio::net::TcpListener;

use crate::descriptor_passing::{receive_descriptors, send_descriptors};

/// The byte that carries the socket.
const MESSAGE: u8 = b'l';

/// The warden's side.
pub fn send_listener(channel: impl AsFd, listener: &StdTcpListener) -> io::Result<()> {
    send_descriptors(channel, MESSAGE, &[listener.as_fd()])
}

/// Waits for the socket; `None` if the channel is closed before.
pub(super) async fn receive_listener(channel: UnixStream) -> io::Result<Option<TcpListener>> {
    channel.set_nonblocking(true)?;
    let channel = tokio::net::UnixStream::from_std(channel)?;
    let received = channel.async_io(Interest::READABLE, || try_receive(&channel)).await?;
    let Some(socket) = received else { return Ok(None) };
    let listener = StdTcpListener::from(socket);
    // Fails for anything but an internet socket.
    if !listener.local_addr()?.ip().is_loopback() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener).map(Some)
}

fn try_receive(channel: impl AsFd) -> io::Result<Option<OwnedFd>> {
    let Some(sockets) = receive_descriptors(channel, RecvFlags::DONTWAIT)? else { return Ok(None) };
    sockets.into_iter().next().map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
