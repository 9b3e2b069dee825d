#include "transport/chat_request.h"

#include <gtest/gtest.h>

#include <string>

namespace saccade::transport {
namespace {

using Kind = ChatPart::Kind;

ChatRequest parsed(const std::string& body) {
  std::string fault;
  auto request = parse_chat_request(body, fault);
  EXPECT_TRUE(request.ok()) << request.error().message;
  return request ? std::move(*request) : ChatRequest{};
}

// The field at fault; "(none)" when the request was taken.
std::string fault_of(const std::string& body) {
  std::string fault;
  const auto request = parse_chat_request(body, fault);
  return request ? "(none)" : fault;
}

std::string with(const std::string& field) {
  return R"({"messages":[{"role":"user","content":"hi"}],)" + field + "}";
}

// vllm-project/vllm#15125, OpenGVLab/InternVL#1065: pictures moved in front of the text.
TEST(ChatRequest, PartsKeepTheirOrderInEverySpelling) {
  const ChatRequest request = parsed(R"({"model":"m","messages":[
      {"role":"developer","content":"short"},
      {"role":"user","content":[
        {"type":"text","text":"A"},
        {"type":"image_url","image_url":{"url":"data:image/png;base64,QQ==","detail":"low"}},
        {"type":"text","text":"B"},
        {"type":"image_url","image_url":"QkI="},
        {"type":"input_audio","input_audio":{"data":"Q0ND","format":"mp3"}},
        {"type":"video_url","video_url":{"url":"data:video/mp4;base64,RA==","fps":2}},
        {"type":"input_video","input_video":{"data":"RQ=="}},
        {"type":"text","text":"C"}]}]})");
  ASSERT_EQ(request.messages.size(), 2U);
  EXPECT_EQ(request.messages[0].role, ChatMessage::Role::kSystem);
  std::string shown;
  for (const ChatPart& part : request.messages[1].parts)
    shown += part.text + part.media.bytes + "|";
  EXPECT_EQ(shown, "A|A|B|BB|CCC|D|E|C|");
  EXPECT_EQ(request.messages[1].parts[5].kind, Kind::kVideo);
  EXPECT_EQ(request.messages[1].parts[5].fps, 2);
  EXPECT_EQ(request.messages[1].parts[4].where, "messages[1].content[4]");
}

TEST(ChatRequest, SamplingFieldsAreReadWithTheirRanges) {
  const ChatRequest request = parsed(
      with(R"("temperature":0.5,"top_p":0.9,"min_p":0.1,"seed":7,"max_tokens":5,"n":2,"stop":"x",
              "stream":true,"stream_options":{"include_usage":true},"logprobs":true)"));
  EXPECT_FLOAT_EQ(*request.temperature, 0.5F);
  EXPECT_EQ(*request.seed, 7U);
  EXPECT_EQ(*request.max_tokens, 5);
  EXPECT_EQ(request.choices, 2);
  EXPECT_EQ(request.stops, std::vector<std::string>{"x"});
  EXPECT_TRUE(request.stream && request.include_usage && request.logprobs);
  EXPECT_EQ(*parsed(with(R"("max_tokens":5,"max_completion_tokens":9)")).max_tokens, 9);

  for (const auto& [field, fault] : std::vector<std::pair<std::string, std::string>>{
           {R"("temperature":-0.01)", "temperature"},
           {R"("temperature":5.01)", "temperature"},
           {R"("temperature":"warm")", "temperature"},
           {R"("top_p":0)", "top_p"},
           {R"("top_p":1.01)", "top_p"},
           {R"("min_p":1)", "min_p"},
           {R"("seed":-1)", "seed"},
           {R"("seed":1e300)", "seed"},
           {R"("max_tokens":0)", "max_tokens"},
           {R"("max_completion_tokens":-5)", "max_completion_tokens"},
           {R"("n":0)", "n"},
           {R"("n":9)", "n"},
           {R"("n":16384)", "n"},
           {R"("stop":[""])", "stop"},
           {R"("stop":[1])", "stop[0]"},
           {R"("stream":"yes")", "stream"},
           {R"("stream_options":[])", "stream_options"},
           {R"("tools":[{}])", "tools"},
           {R"("logit_bias":{"5":1})", "logit_bias"},
           {R"("top_logprobs":3)", "top_logprobs"},
           {R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
           {R"("presence_penalty":0.5)", "presence_penalty"},
           {R"("response_format":{"type":"json_object"})", "response_format"},
           {R"("modalities":["audio"])", "modalities"}}) {
    EXPECT_EQ(fault_of(with(field)), fault) << field;
  }
  EXPECT_EQ(fault_of(with("\"stop\":\"" + std::string(257, 'x') + "\"")), "stop");
}

TEST(ChatRequest, FieldsThatChangeNothingAreIgnored) {
  EXPECT_EQ(fault_of(with(R"("user":"u","metadata":{"a":"b"},"store":false,"tools":[],
      "tool_choice":"auto","presence_penalty":0,"response_format":{"type":"text"},
      "modalities":["text"],"service_tier":"auto","some_new_field":[1,2,{"a":null}])")),
            "(none)");
}

TEST(ChatRequest, MessagesThatAskNothingSensibleAreRefused) {
  const auto messages = [](const std::string& list) {
    return fault_of("{\"messages\":" + list + "}");
  };
  EXPECT_EQ(fault_of("{}"), "messages");
  EXPECT_EQ(fault_of("[]"), "");
  EXPECT_EQ(messages("[]"), "messages");
  EXPECT_EQ(messages("null"), "messages");
  EXPECT_EQ(messages("{}"), "messages");
  EXPECT_EQ(messages("[1]"), "messages[0]");
  EXPECT_EQ(messages(R"([{"role":"user","content":null}])"), "messages[0].content");
  EXPECT_EQ(messages(R"([{"role":"user"}])"), "messages[0].content");
  EXPECT_EQ(messages(R"([{"role":"user","content":7}])"), "messages[0].content");
  EXPECT_EQ(messages(R"([{"role":"king","content":"x"}])"), "messages[0].role");
  EXPECT_EQ(messages(R"([{"role":"tool","content":"x"}])"), "messages[0].role");
  EXPECT_EQ(messages(R"([{"role":"user","content":[{"type":"smell"}]}])"),
            "messages[0].content[0].type");
  EXPECT_EQ(messages(R"([{"role":"user","content":[{"type":"image_url"}]}])"),
            "messages[0].content[0].image_url");
  EXPECT_EQ(messages(R"([{"role":"user","content":[{"type":"image_url",
                       "image_url":{"url":"http://127.0.0.1/"}}]}])"),
            "messages[0].content[0]");
  EXPECT_EQ(messages(R"([{"role":"assistant","content":null},{"role":"user","content":"x"}])"),
            "(none)");
}

TEST(ChatRequest, TheNumberOfMediaIsBounded) {
  std::string parts;
  for (int i = 0; i < 65; ++i) {
    parts += std::string(i ? "," : "") + R"({"type":"image_url","image_url":"QQ=="})";
  }
  EXPECT_EQ(fault_of(R"({"messages":[{"role":"user","content":[)" + parts + "]}]}"), "messages");
}

}  // namespace
}  // namespace saccade::transport
