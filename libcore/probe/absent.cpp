#include "probe/probe.hpp"
namespace kernelcast::probe {
namespace {
class Absent final : public Backend {
 public:
  explicit Absent(std::string n) : n_(std::move(n)) {}
  std::string name() const override { return n_; }
  std::vector<Listed> list() override { return {}; }
  std::string absence() const override { return "absent"; }
  std::string absence_hint() const override { return {}; }
  std::unique_ptr<Probe> open(Facts const&) override { return nullptr; }

 private:
  std::string n_;
};
}  // namespace
std::unique_ptr<Backend> opencl_backend() {
  return std::make_unique<Absent>("opencl");
}
std::unique_ptr<Backend> cuda_backend() {
  return std::make_unique<Absent>("cuda");
}
}  // namespace kernelcast::probe
