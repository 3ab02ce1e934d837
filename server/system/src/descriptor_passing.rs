//! Passes file descriptors over a Unix socket, with one byte that carries them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

/// The longest list that is passed: a job request.
const MAX_DESCRIPTORS: usize = 4;

/// Never blocks: if the socket cannot take the message now, this fails.
pub(crate) fn send_descriptors(
    channel: impl AsFd,
    message: u8,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(channel, &[IoSlice::new(&[message])], &mut ancillary, flags)?;
    Ok(())
}

/// The descriptors of the next message, closed on `exec`; `None` if the other side closed the channel.
pub(crate) fn receive_descriptors(channel: impl AsFd, flags: RecvFlags) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut message = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(channel, &mut [IoSliceMut::new(&mut message)], &mut ancillary, flags)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let lists = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok(Some(lists.flatten().collect()))
}
