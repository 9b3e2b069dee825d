#include "transport/response_request.h"

#include <gtest/gtest.h>

#include <string>

#include "transport/response_form.h"

namespace saccade::transport {
namespace {

using Kind = ChatPart::Kind;
using Role = ChatMessage::Role;

// The field at fault; "(none)" when the request was taken.
std::string fault_of(const std::string& body) {
  std::string fault;
  const auto request = parse_response_request(body, fault);
  return request ? "(none)" : fault;
}

TEST(ResponseRequest, ATextIsAQuestion) {
  std::string fault;
  const auto request = parse_response_request(
      R"({"model":"m","input":"hi","instructions":"be short","max_output_tokens":7})", fault);
  ASSERT_TRUE(request.ok());
  ASSERT_EQ(2U, request->chat.messages.size());
  EXPECT_EQ(Role::kSystem, request->chat.messages[0].role);
  EXPECT_EQ("be short", request->chat.messages[0].parts[0].text);
  EXPECT_EQ("hi", request->chat.messages[1].parts[0].text);
  EXPECT_EQ(7, request->chat.max_tokens);
}

TEST(ResponseRequest, ItemsAreAConversation) {
  std::string fault;
  const auto request = parse_response_request(
      R"({"input":[{"role":"user","content":[{"type":"input_text","text":"A"},
          {"type":"input_image","image_url":"data:image/png;base64,QQ==","detail":"auto"}]},
          {"type":"message","role":"assistant","content":[{"type":"output_text","text":"B"}]},
          {"role":"user","content":"C"}]})",
      fault);
  ASSERT_TRUE(request.ok()) << request.error().message;
  const auto& messages = request->chat.messages;
  ASSERT_EQ(3U, messages.size());
  EXPECT_EQ(Kind::kImage, messages[0].parts[1].kind);
  EXPECT_EQ("input[0].content[1]", messages[0].parts[1].where);
  EXPECT_EQ(Role::kAssistant, messages[1].role);
  EXPECT_EQ("B", messages[1].parts[0].text);
  EXPECT_EQ("C", messages[2].parts[0].text);
}

TEST(ResponseRequest, WhatCannotBeDoneIsRefusedByName) {
  const auto with = [](const std::string& field) {
    return fault_of(R"({"input":"hi",)" + field + "}");
  };
  EXPECT_EQ("(none)", with(R"("store":false,"tools":[],"text":{"format":{"type":"text"}})"));
  EXPECT_EQ("previous_response_id", with(R"("previous_response_id":"resp_1")"));
  EXPECT_EQ("store", with(R"("store":true)"));
  EXPECT_EQ("background", with(R"("background":true)"));
  EXPECT_EQ("tools", with(R"("tools":[{"type":"web_search"}])"));
  EXPECT_EQ("text", with(R"("text":{"format":{"type":"json_schema"}})"));
  EXPECT_EQ("truncation", with(R"("truncation":"auto")"));
  EXPECT_EQ("max_output_tokens", with(R"("max_output_tokens":0)"));
  EXPECT_EQ("input", fault_of("{}"));
  EXPECT_EQ("input", fault_of(R"({"input":[]})"));
  EXPECT_EQ("input[0].type", fault_of(R"({"input":[{"type":"function_call_output"}]})"));
  EXPECT_EQ("input[0].content[0].type",
            fault_of(R"({"input":[{"role":"user","content":[{"type":"input_file"}]}]})"));
}

TEST(ResponseForm, AStreamHasItsEventsInOrderAndNumbersThem) {
  ResponseFrame frame;
  frame.chat.model = "m";
  frame.id = "resp_1";
  const auto form = response_form(frame);
  SseEvents all = form->begin(0);
  const auto add = [&](SseEvents more) { all.insert(all.end(), more.begin(), more.end()); };
  ChatChoice piece;
  piece.text = "a \"b\"";
  add(form->piece(0, piece));
  add(form->end(0, "length"));
  add(form->finish({.prompt_tokens = 3, .visual_tokens = 0, .answer_tokens = 2}));
  const char* names[] = {"response.created",           "response.in_progress",
                         "response.output_item.added", "response.content_part.added",
                         "response.output_text.delta", "response.output_text.done",
                         "response.content_part.done", "response.output_item.done",
                         "response.incomplete"};
  ASSERT_EQ(std::size(names), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(names[i], all[i].name);
    const std::string head = std::string(R"({"type":")") + names[i] + R"(","sequence_number":)" +
                             std::to_string(i) + ",";
    EXPECT_EQ(0U, all[i].data.find(head)) << all[i].data;
  }
  EXPECT_NE(std::string::npos, all.back().data.find(R"("reason":"max_output_tokens")"));
  EXPECT_NE(std::string::npos, all.back().data.find(R"("total_tokens":5)"));
}

}  // namespace
}  // namespace saccade::transport
