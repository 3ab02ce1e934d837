//! Passes a listening socket from a warden to the proxy of its sandbox. A socket stays in the network namespace in which
//! it was made, so that the proxy accepts connections from a namespace that it is not in.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener as StdTcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::TcpListener;

const WORD: &[u8] = b"l";

/// The warden's side.
pub fn send_listener(channel: impl AsFd, listener: &StdTcpListener) -> io::Result<()> {
    let parts = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&parts)) {
        return Err(io::Error::other("no room for a socket"));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(channel, &[IoSlice::new(WORD)], &mut ancillary, flags)?;
    Ok(())
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
    let mut word = [0; WORD.len()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = recvmsg(channel, &mut [IoSliceMut::new(&mut word)], &mut ancillary, flags)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let sockets = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
        _ => None,
    });
    sockets.flatten().next().map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
