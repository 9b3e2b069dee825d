#include "ingest/pass_packet.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

namespace saccade::ingest {
namespace {

TEST(PassPacket, WhatAPeerSentBeforeItLeftIsStillRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()));
  const Fd ours(ends[0]);
  std::array<std::byte, 3> packet{std::byte{1}, std::byte{2}, std::byte{3}};
  {
    const Fd theirs(ends[1]);
    ASSERT_TRUE(send_packet(theirs.get(), packet, Waiting::kBlock));
    // A packet of ours that the peer never reads: its close then resets the connection.
    ASSERT_TRUE(send_packet(ours.get(), packet, Waiting::kBlock));
  }
  std::array<std::byte, 16> buffer{};
  const Received received =
      receive_packet(ours.get(), buffer, Waiting::kDontBlock, Descriptors::kRefuse);
  EXPECT_EQ(3U, received.bytes);
  const Received end =
      receive_packet(ours.get(), buffer, Waiting::kDontBlock, Descriptors::kRefuse);
  EXPECT_EQ(0U, end.bytes);
  EXPECT_FALSE(end.would_block);
}

}  // namespace
}  // namespace saccade::ingest
