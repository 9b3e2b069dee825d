#pragma once
// Weights of one GGUF file for our own graphs. The header is checked by read_gguf first; here every
// tensor's type and shape is checked against what the architecture wants before a byte is used.
// Weights are read, not mapped: a file that is cut short while we run cannot take the process down
// (docs/decisions/0004). Packed weights replace the originals, so nothing is held twice.
// Threads: one at a time.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "engine/gguf/inspect_gguf.h"
#include "engine/kernels/packed.h"

struct ggml_context;
struct ggml_tensor;
struct gguf_context;
struct ggml_backend_buffer;

namespace saccade::engine::gguf {

using Shape = std::vector<std::int64_t>;  // fastest first, without trailing ones

class WeightFile {
 public:
  // Errors: kModelUnusable with path and reason.
  static core::Result<std::unique_ptr<WeightFile>> open(const std::string& path);
  // With the header that read_gguf gave for it.
  static core::Result<std::unique_ptr<WeightFile>> open(const std::string& path,
                                                        OpenedHeader opened);
  ~WeightFile();
  WeightFile(const WeightFile&) = delete;
  WeightFile& operator=(const WeightFile&) = delete;

  const Header& header() const { return opened_.header; }
  const std::string& path() const { return path_; }
  bool has(const std::string& name) const;
  // F32, F16 and BF16: worth packing. False for quantised and absent ones.
  bool is_float(const std::string& name) const;
  // ggml's number of the type in which a tensor is stored; nothing when absent.
  std::optional<int> type(const std::string& name) const;
  // Nothing when absent.
  std::optional<Shape> shape(const std::string& name) const;
  // Numbers of an F32 array entry; empty when absent.
  std::vector<float> floats(const std::string& key) const;
  // Of an I32 or U32 one.
  std::vector<std::int64_t> whole_numbers(const std::string& key) const;

  // The tensor as it is stored; lives as long as this object. Errors: absent, other shape, cut off.
  core::Result<ggml_tensor*> load(const std::string& name, const Shape& shape);
  // Rows of several [inner][n] tensors of one type one after the other, as they are stored.
  core::Result<ggml_tensor*> load_joined(const std::vector<std::string>& names, std::int64_t inner,
                                         std::int64_t rows);
  // One tensor turned to F32: for biases, norms and tables that graphs add.
  core::Result<ggml_tensor*> load_f32(const std::string& name, const Shape& shape);
  // Several of them one after the other, `count` numbers in all.
  core::Result<ggml_tensor*> load_joined_f32(const std::vector<std::string>& names,
                                             std::int64_t count);
  // Rows of several [inner][n] tensors one after the other as one packed matrix.
  core::Result<std::unique_ptr<kernels::PackedMatrix>> pack(const std::vector<std::string>& names,
                                                            std::int64_t inner);
  // kModelUnusable with the path: for what an architecture finds wrong as well.
  core::Error unusable(const std::string& what) const;

 private:
  WeightFile(std::string path, OpenedHeader opened);
  core::Result<const ggml_tensor*> find(const std::string& name, const Shape& shape) const;
  core::Result<std::vector<std::uint8_t>> read_checked(const ggml_tensor* tensor) const;
  core::Result<std::vector<std::uint8_t>> read(const ggml_tensor* tensor) const;
  core::Result<std::vector<float>> read_f32(const ggml_tensor* tensor) const;
  ggml_tensor* keep(const std::string& name, int type, const Shape& shape, const void* data);

  struct Deleter {
    void operator()(ggml_context* context) const;
    void operator()(gguf_context* context) const;
    void operator()(ggml_backend_buffer* buffer) const;
  };
  std::string path_;
  OpenedHeader opened_;
  std::unique_ptr<gguf_context, Deleter> file_;
  std::unique_ptr<ggml_context, Deleter> described_;  // tensors without data
  std::vector<std::unique_ptr<ggml_context, Deleter>> contexts_;
  std::vector<std::unique_ptr<ggml_backend_buffer, Deleter>> buffers_;
};

}  // namespace saccade::engine::gguf
