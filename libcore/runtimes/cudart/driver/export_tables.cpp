// cuGetExportTable: tables of functions without names, by which the runtime that is linked into an application
// (libcudart_static.a of CUDA 12 and 13, up to 13.4) asks the driver for what cuda.h does not declare.
//
// Facts: which tables there are, what their functions take and give, and how the runtime makes sure that the driver is
// whole are those that the ZLUDA project found (github.com/vosen/ZLUDA: dark_api, zluda/src/impl/driver.rs). A function
// that none of these runtimes was seen to call is refused by name.
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "runtimes/cudart/attributes.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/driver/call.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;

extern "C" {
Code cuDriverGetVersion(int*);
}

namespace {

using Identity = std::array<unsigned char, 16>;
using Entry = void const*;

template <class Function>
Entry entry(Function* function) {
  return reinterpret_cast<Entry>(function);
}

// Most begin with their size in bytes.
template <std::size_t count>
struct Table {
  Identity identity;
  std::array<Entry, count> entries;
};

Code refused() {
  return cudart::unsupported("a function of the driver without a name (cuGetExportTable)");
}

template <std::size_t count>
Entry size_of_table() {
  return reinterpret_cast<Entry>(count * sizeof(Entry));
}

template <std::size_t count>
std::array<Entry, count> all_refused() {
  std::array<Entry, count> entries;
  entries.fill(entry(refused));
  entries[0] = size_of_table<count>();
  return entries;
}

// ---------------------------------------------------------------- contexts and tools

// Neither retained nor active by that.
Code primary_context(Context* out, Device device) {
  return out ? primary_context_of(device, *out) : Code::invalid_value;
}

// Called once, when a runtime of CUDA 13.1 or later begins.
Code runtime_begins() {
  return Code::success;
}

// One word for each function of the runtime, by its number in cupti_runtime_cbid.h: whether a tool wants to be told.
// The runtime reads its own at each call, and takes it for granted that there are as many as it has functions.
template <std::size_t words>
void hooks(void** out, std::size_t* count) {
  static std::array<std::uint32_t, words> none{};
  *out = none.data();
  *count = none.size();
}

// ---------------------------------------------------------------- storage of a context

using Destroy = void (*)(Context, void* key, void* value);
struct Stored {
  Context context;
  void *key, *value;
  Destroy destroy;
};
// Guarded by the runtime's lock.
std::vector<Stored>& storage() {
  static auto* const all = new std::vector<Stored>;
  return *all;
}
std::atomic<unsigned> changes = 1;  // of the storage

bool erase_stored(Context context, void* key) {
  ++changes;
  return std::erase_if(storage(), [&](Stored const& s) { return s.context == context && s.key == key; }) > 0;
}

Code store(Context context, void* key, void* value, Destroy destroy) {
  if (!context) context = current_context();
  if (!context) return Code::device_uninitialized;
  return cudart::locked([&]() {
    erase_stored(context, key);
    storage().push_back({context, key, value, destroy});
    return Code::success;
  });
}
Code remove_stored(Context context, void* key) {
  if (!context) context = current_context();
  return cudart::locked([&]() { return erase_stored(context, key) ? Code::success : Code::invalid_resource_handle; });
}
// The runtime begins each of its calls with this one: what this thread has found last is at hand.
Code find_stored(void** value, Context context, void* key) {
  if (!context) context = current_context();
  if (!context) return Code::device_uninitialized;
  thread_local constinit struct {
    unsigned changes = 0;
    Context context = nullptr;
    void *key = nullptr, *value = nullptr;
  } last;
  unsigned const now = changes;
  if (last.changes == now && last.context == context && last.key == key) return *value = last.value, Code::success;
  return cudart::locked([&]() {
    for (auto const& stored : storage())
      if (stored.context == context && stored.key == key) {
        last = {now, context, key, stored.value};
        *value = stored.value;
        return Code::success;
      }
    return Code::invalid_resource_handle;
  });
}

Code check_context(Context, unsigned* result, void const**) {
  *result = 0;
  return Code::success;
}
unsigned none_of_these() {
  return 0;
}

// ---------------------------------------------------------------- is the driver whole?

// RFC 1319. Twenty years out of use for anything else.
class Md2 {
 public:
  void add(void const* data, std::size_t size, unsigned char flipped = 0) {
    for (std::size_t i = 0; i < size; ++i)
      add(static_cast<unsigned char>(static_cast<unsigned char const*>(data)[i] ^ flipped));
  }
  Identity finish() {
    auto const padding = static_cast<unsigned char>(16 - filled_);
    for (int i = 0; i < padding; ++i) add(padding);
    auto const sum = checksum_;
    add(sum.data(), sum.size());
    Identity out;
    std::memcpy(out.data(), state_.data(), out.size());
    return out;
  }

 private:
  void add(unsigned char byte) {
    last_ = checksum_[filled_] ^= substitution[byte ^ last_];
    block_[filled_++] = byte;
    if (filled_ < 16) return;
    filled_ = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      state_[16 + i] = block_[i];
      state_[32 + i] = state_[i] ^ block_[i];
    }
    unsigned t = 0;
    for (unsigned round = 0; round < 18; ++round) {
      for (auto& byte_of_state : state_) t = byte_of_state ^= substitution[t];
      t = (t + round) % 256;
    }
  }

  static constexpr unsigned char substitution[256] = {
      41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,   243, 192, 199,
      115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212, 224, 22,  103, 66,  111, 24,
      138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160, 251, 245, 142, 187, 47,  238, 122, 169, 104,
      121, 145, 21,  178, 7,   63,  148, 194, 16,  137, 11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,
      53,  62,  204, 231, 191, 247, 151, 3,   255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,
      170, 198, 79,  184, 56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,
      100, 113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246, 28,  70,
      97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249, 206, 186, 197, 234, 38,
      44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129, 77,  82,  106, 220, 55,  200, 108, 193,
      171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120, 136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254,
      59,  0,   29,  57,  242, 239, 183, 14,  102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,  49,  68,
      80,  180, 143, 237, 31,  26,  219, 153, 141, 51,  159, 17,  131, 20};

  std::array<unsigned char, 48> state_{};
  std::array<unsigned char, 16> checksum_{}, block_{};
  unsigned char last_ = 0;
  std::size_t filled_ = 0;
};

struct Checked {  // tables that the digest is of
  Entry runtime, check, function;
};
Checked checked();

// What the runtime expects back: a keyed digest of what both know. Two older versions expect constants.
Code check_driver(unsigned version, unsigned long long seconds, unsigned long long* result) {
  if (version % 10 < 2) {
    result[0] = version % 10 ? 0x1841181C03CB675C : 0x3341181C03CB675C;
    result[1] = 0x8ED383AA1F4CD1E8;
    return Code::success;
  }
  static constexpr unsigned char key[] = {0x14, 0x6A, 0xDD, 0xAE, 0x53, 0xA9, 0xA7, 0x52,
                                          0xAA, 0x08, 0x41, 0x36, 0x0B, 0xF5, 0x5A, 0x9F};
  constexpr unsigned char inner_pad = 0x36, outer_pad = 0x5c;
  auto const tables = checked();
  struct {
    unsigned driver, runtime, process, thread;
    Entry runtime_table, check_table, function;
    unsigned long long seconds;
  } message{0,
            version,
            static_cast<unsigned>(getpid()),
            static_cast<unsigned>(pthread_self()),
            tables.runtime,
            tables.check,
            tables.function,
            seconds};
  int driver = 0;
  cuDriverGetVersion(&driver);
  message.driver = static_cast<unsigned>(driver);
  Md2 inner, outer;
  inner.add(key, sizeof key, inner_pad);
  inner.add(&message, sizeof message);
  cudart::locked([&](cudart::Devices const& devices) {
    for (int d = 0; d < devices.count(); ++d) {
      struct {
        char uuid[16];
        int domain, bus, device;
      } identity{};
      cudart::write_uuid(devices[d], d, identity.uuid);
      auto const value = [&](Attribute a) { return cudart::value_of(a, devices[d], d).value_or(0); };
      identity.domain = value(Attribute::pci_domain);
      identity.bus = value(Attribute::pci_bus);
      identity.device = value(Attribute::pci_device);
      inner.add(&identity, sizeof identity);
    }
  });
  auto const digest = inner.finish();
  outer.add(key, sizeof key, outer_pad);
  outer.add(digest.data(), digest.size());
  auto const answer = outer.finish();
  std::memcpy(result, answer.data(), answer.size());
  return Code::success;
}

// ---------------------------------------------------------------- tables

Entry const no = entry(refused);

Table<13> const runtime_table{
    {0x6B, 0xD5, 0xFB, 0x6C, 0x5B, 0xF4, 0xE7, 0x4A, 0x89, 0x87, 0xD9, 0x39, 0x12, 0xFD, 0x9D, 0xF9},
    {size_of_table<13>(), no, entry(primary_context), no, no, no, no, no, no, no, no, no, entry(runtime_begins)}};
Table<4> const tools_storage_table{
    {0x42, 0xD8, 0x5A, 0x81, 0x23, 0xF6, 0xCB, 0x47, 0x82, 0x98, 0xF6, 0xE7, 0x8A, 0x3A, 0xEC, 0xDC},
    {size_of_table<4>(), no, no, no}};
Table<7> const hooks_table{
    {0xA0, 0x94, 0x79, 0x8C, 0x2E, 0x74, 0x2E, 0x74, 0x93, 0xF2, 0x08, 0x00, 0x20, 0x0C, 0x0A, 0x66},
    {size_of_table<7>(), no, entry(hooks<4096>), no, no, no, entry(hooks<64>)}};
Table<4> const storage_table{
    {0xC6, 0x93, 0x33, 0x6E, 0x11, 0x21, 0xDF, 0x11, 0xA8, 0xC3, 0x68, 0xF3, 0x55, 0xD8, 0x95, 0x93},
    {entry(store), entry(remove_stored), entry(find_stored), nullptr}};
Table<3> const check_table{
    {0xD4, 0x08, 0x20, 0x55, 0xBD, 0xE6, 0x70, 0x4B, 0x8D, 0x34, 0xBA, 0x12, 0x3C, 0x66, 0xE1, 0xF2},
    {size_of_table<3>(), entry(check_driver), no}};
// The runtime of CUDA 13.4 wants it to be there, and calls none of it. NVIDIA's has as many entries.
Table<95> const tools_context_table{
    {0x21, 0x31, 0x8C, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8C, 0xA6, 0x41, 0xFF, 0x73, 0x24, 0xC8, 0xF2},
    all_refused<95>()};
Table<4> const contexts_table{
    {0x26, 0x3E, 0x88, 0x60, 0x7C, 0xD2, 0x61, 0x43, 0x92, 0xF6, 0xBB, 0xD5, 0x00, 0x6D, 0xFA, 0x7E},
    {size_of_table<4>(), no, entry(check_context), entry(none_of_these)}};

Checked checked() {
  return {runtime_table.entries.data(), check_table.entries.data(), check_table.entries[1]};
}

template <std::size_t count>
bool is(Table<count> const& table, Identity const& identity, void const** out) {
  if (table.identity != identity) return false;
  *out = table.entries.data();
  return true;
}

}  // namespace

void kernelcast::driver::clear_storage(Context context) {
  std::vector<Stored> cleared;
  cudart::locked([&]() {
    std::erase_if(storage(), [&](Stored const& stored) {
      if (stored.context == context) cleared.push_back(stored);
      return stored.context == context;
    });
    ++changes;
  });
  for (auto const& [of, key, value, destroy] : cleared)
    if (destroy) destroy(of, key, value);
}

KERNELCAST_CUDA_EXPORT Code cuGetExportTable(void const** out, Identity const* identity) {
  if (!out || !identity) return Code::invalid_value;
  *out = nullptr;
  bool const found = is(runtime_table, *identity, out) || is(tools_storage_table, *identity, out) ||
                     is(hooks_table, *identity, out) || is(storage_table, *identity, out) ||
                     is(check_table, *identity, out) || is(contexts_table, *identity, out) ||
                     is(tools_context_table, *identity, out);
  return found ? Code::success : Code::invalid_value;
}
