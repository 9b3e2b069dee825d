#include "engine/gguf/weight_file.h"

#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>
#include <gguf.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

namespace saccade::engine::gguf {
namespace {

std::string text_of(const Shape& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return out + "]";
}

Shape shape_of(const ggml_tensor* tensor) {
  Shape out(tensor->ne, tensor->ne + GGML_MAX_DIMS);
  while (out.size() > 1 && out.back() == 1) out.pop_back();
  return out;
}

bool same(Shape a, Shape b) {
  const auto trim = [](Shape& s) {
    while (s.size() > 1 && s.back() == 1) s.pop_back();
  };
  trim(a);
  trim(b);
  return a == b;
}

}  // namespace

void WeightFile::Deleter::operator()(ggml_context* context) const { ggml_free(context); }
void WeightFile::Deleter::operator()(gguf_context* context) const { gguf_free(context); }
void WeightFile::Deleter::operator()(ggml_backend_buffer* buffer) const {
  ggml_backend_buffer_free(buffer);
}

WeightFile::WeightFile(std::string path, OpenedHeader opened)
    : path_(std::move(path)), opened_(std::move(opened)) {}
WeightFile::~WeightFile() = default;

core::Error WeightFile::unusable(const std::string& what) const {
  return core::error(core::ErrorCode::kModelUnusable, path_ + ": " + what,
                     "use the file as it was published");
}

core::Result<std::unique_ptr<WeightFile>> WeightFile::open(const std::string& path) {
  auto opened = read_gguf(path);
  if (!opened) return opened.error();
  return open(path, std::move(*opened));
}

core::Result<std::unique_ptr<WeightFile>> WeightFile::open(const std::string& path,
                                                           OpenedHeader opened) {
  std::unique_ptr<WeightFile> out(new WeightFile(path, std::move(opened)));
  ggml_context* described = nullptr;
  gguf_init_params params{};
  params.no_alloc = true;
  params.ctx = &described;
  out->file_.reset(gguf_init_from_file(path.c_str(), params));
  out->described_.reset(described);
  if (!out->file_ || !out->described_) return out->unusable("cannot be read as GGUF");
  return core::Result<std::unique_ptr<WeightFile>>(std::move(out));
}

bool WeightFile::has(const std::string& name) const {
  return ggml_get_tensor(described_.get(), name.c_str()) != nullptr;
}

bool WeightFile::is_float(const std::string& name) const {
  const ggml_tensor* t = ggml_get_tensor(described_.get(), name.c_str());
  return t != nullptr &&
         (t->type == GGML_TYPE_F32 || t->type == GGML_TYPE_F16 || t->type == GGML_TYPE_BF16);
}

std::optional<int> WeightFile::type(const std::string& name) const {
  const ggml_tensor* t = ggml_get_tensor(described_.get(), name.c_str());
  if (t == nullptr) return std::nullopt;
  return t->type;
}

std::optional<Shape> WeightFile::shape(const std::string& name) const {
  const ggml_tensor* t = ggml_get_tensor(described_.get(), name.c_str());
  if (t == nullptr) return std::nullopt;
  return shape_of(t);
}

std::vector<float> WeightFile::floats(const std::string& key) const {
  const auto id = gguf_find_key(file_.get(), key.c_str());
  if (id < 0 || gguf_get_kv_type(file_.get(), id) != GGUF_TYPE_ARRAY ||
      gguf_get_arr_type(file_.get(), id) != GGUF_TYPE_FLOAT32) {
    return {};
  }
  const auto* data = static_cast<const float*>(gguf_get_arr_data(file_.get(), id));
  return {data, data + gguf_get_arr_n(file_.get(), id)};
}

std::vector<std::int64_t> WeightFile::whole_numbers(const std::string& key) const {
  const auto id = gguf_find_key(file_.get(), key.c_str());
  if (id < 0 || gguf_get_kv_type(file_.get(), id) != GGUF_TYPE_ARRAY) return {};
  const auto read = [&]<class T>(T) {
    const auto* data = static_cast<const T*>(gguf_get_arr_data(file_.get(), id));
    return std::vector<std::int64_t>(data, data + gguf_get_arr_n(file_.get(), id));
  };
  switch (gguf_get_arr_type(file_.get(), id)) {
    case GGUF_TYPE_INT32:
      return read(std::int32_t{});
    case GGUF_TYPE_UINT32:
      return read(std::uint32_t{});
    default:
      return {};
  }
}

core::Result<const ggml_tensor*> WeightFile::find(const std::string& name,
                                                  const Shape& shape) const {
  const ggml_tensor* t = ggml_get_tensor(described_.get(), name.c_str());
  if (t == nullptr) return unusable("tensor '" + name + "' is missing");
  if (!same(shape_of(t), shape)) {
    return unusable("tensor '" + name + "' has shape " + text_of(shape_of(t)) + ", expected " +
                    text_of(shape));
  }
  return t;
}

core::Result<std::vector<std::uint8_t>> WeightFile::read(const ggml_tensor* tensor) const {
  const auto id = gguf_find_tensor(file_.get(), tensor->name);
  const auto offset = gguf_get_data_offset(file_.get()) + gguf_get_tensor_offset(file_.get(), id);
  std::vector<std::uint8_t> out(ggml_nbytes(tensor));
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (!file) return unusable("tensor '" + std::string(tensor->name) + "' is cut off");
  return out;
}

core::Result<std::vector<float>> WeightFile::read_f32(const ggml_tensor* tensor) const {
  const auto raw = read(tensor);
  if (!raw) return raw.error();
  std::vector<float> out(static_cast<std::size_t>(ggml_nelements(tensor)));
  if (tensor->type == GGML_TYPE_F32) {
    std::memcpy(out.data(), raw->data(), raw->size());
  } else {
    const auto* traits = ggml_get_type_traits(tensor->type);
    if (traits->to_float == nullptr) {
      return unusable("tensor '" + std::string(tensor->name) + "' has type " +
                      ggml_type_name(tensor->type) + ", which cannot be read as numbers");
    }
    traits->to_float(raw->data(), out.data(), ggml_nelements(tensor));
  }
  if (!std::all_of(out.begin(), out.end(), [](float x) { return std::isfinite(x); })) {
    return unusable("tensor '" + std::string(tensor->name) + "' holds NaN or infinity");
  }
  return out;
}

ggml_tensor* WeightFile::keep(const std::string& name, int type, const Shape& shape,
                              const void* data) {
  ggml_init_params params{};
  params.mem_size = ggml_tensor_overhead();
  params.no_alloc = true;
  contexts_.emplace_back(ggml_init(params));
  ggml_tensor* tensor = ggml_new_tensor(contexts_.back().get(), static_cast<ggml_type>(type),
                                        static_cast<int>(shape.size()), shape.data());
  ggml_set_name(tensor, name.c_str());
  buffers_.emplace_back(ggml_backend_alloc_ctx_tensors_from_buft(contexts_.back().get(),
                                                                 ggml_backend_cpu_buffer_type()));
  if (!buffers_.back()) throw std::bad_alloc();
  ggml_backend_buffer_set_usage(buffers_.back().get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
  return tensor;
}

core::Result<std::vector<std::uint8_t>> WeightFile::read_checked(const ggml_tensor* tensor) const {
  auto data = read(tensor);
  if (data && !ggml_validate_row_data(tensor->type, data->data(), data->size())) {
    return unusable("tensor '" + std::string(tensor->name) + "' holds NaN or infinity");
  }
  return data;
}

core::Result<ggml_tensor*> WeightFile::load(const std::string& name, const Shape& shape) {
  const auto described = find(name, shape);
  if (!described) return described.error();
  const auto data = read_checked(*described);
  if (!data) return data.error();
  return keep(name, (*described)->type, shape, data->data());
}

core::Result<ggml_tensor*> WeightFile::load_joined(const std::vector<std::string>& names,
                                                   std::int64_t inner, std::int64_t rows) {
  std::vector<std::uint8_t> joined;
  std::int64_t found = 0;
  for (const auto& name : names) {
    const auto own = shape(name);
    if (!own || own->size() != 2 || own->front() != inner || type(name) != type(names.front())) {
      return unusable("tensor '" + name + "' has not rows of " + std::to_string(inner) +
                      " of its neighbours' type");
    }
    const auto data = read_checked(ggml_get_tensor(described_.get(), name.c_str()));
    if (!data) return data.error();
    joined.insert(joined.end(), data->begin(), data->end());
    found += own->back();
  }
  if (found != rows) {
    return unusable("tensor '" + names.front() + "' and its neighbours hold " +
                    std::to_string(found) + " rows, expected " + std::to_string(rows));
  }
  return keep(names.front(), *type(names.front()), {inner, rows}, joined.data());
}

core::Result<ggml_tensor*> WeightFile::load_f32(const std::string& name, const Shape& shape) {
  const auto described = find(name, shape);
  if (!described) return described.error();
  const auto data = read_f32(*described);
  if (!data) return data.error();
  return keep(name, GGML_TYPE_F32, shape, data->data());
}

core::Result<ggml_tensor*> WeightFile::load_joined_f32(const std::vector<std::string>& names,
                                                       std::int64_t count) {
  std::vector<float> joined;
  for (const auto& name : names) {
    const ggml_tensor* described = ggml_get_tensor(described_.get(), name.c_str());
    if (described == nullptr) return unusable("tensor '" + name + "' is missing");
    const auto data = read_f32(described);
    if (!data) return data.error();
    joined.insert(joined.end(), data->begin(), data->end());
  }
  if (static_cast<std::int64_t>(joined.size()) != count) {
    return unusable("tensor '" + names.front() + "' and its neighbours hold " +
                    std::to_string(joined.size()) + " numbers, expected " + std::to_string(count));
  }
  return keep(names.front(), GGML_TYPE_F32, {count}, joined.data());
}

core::Result<std::unique_ptr<kernels::PackedMatrix>> WeightFile::pack(
    const std::vector<std::string>& names, std::int64_t inner) {
  std::vector<std::vector<float>> parts;
  std::int64_t columns = 0;
  for (const auto& name : names) {
    const auto shape = this->shape(name);
    if (!shape) return unusable("tensor '" + name + "' is missing");
    std::int64_t elements = 1;
    for (const auto side : *shape) elements *= side;
    if (inner <= 0 || elements % inner != 0) {
      return unusable("tensor '" + name + "' has shape " + text_of(*shape) + ", expected rows of " +
                      std::to_string(inner));
    }
    auto data = read_f32(ggml_get_tensor(described_.get(), name.c_str()));
    if (!data) return data.error();
    columns += elements / inner;
    parts.push_back(std::move(*data));
  }
  const auto width = static_cast<std::size_t>(inner);
  std::size_t part = 0;
  std::size_t row = 0;
  auto packed = std::make_unique<kernels::PackedMatrix>(
      static_cast<int>(columns), static_cast<int>(inner), [&](int, std::span<float> out) {
        // Columns are asked for once each, in order.
        if ((row + 1) * width > parts[part].size()) {
          ++part;
          row = 0;
        }
        std::copy_n(parts[part].begin() + static_cast<std::ptrdiff_t>(row++ * width), width,
                    out.begin());
      });
  return core::Result<std::unique_ptr<kernels::PackedMatrix>>(std::move(packed));
}

}  // namespace saccade::engine::gguf
