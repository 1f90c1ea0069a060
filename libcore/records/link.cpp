#include "records/link.hpp"

namespace kernelcast::record {

Schema<Link> const& Link::schema() {
  static auto const schema =
      Schema<Link>("link", "a link of a multi-GPU system")
          .column("link", &Link::link, Unit::none, "name of the link")
          .column("from", &Link::from, Unit::none, "node at one end: gpuN, hostN (memory of a socket) or switchN")
          .column("to", &Link::to, Unit::none, "node at the other end")
          .column("bandwidth_bytes_per_s", &Link::bandwidth_bytes_per_s, Unit::bytes_per_s,
                  "what the link carries: in each direction when full, in both together when shared")
          .column("latency_s", &Link::latency_s, Unit::seconds,
                  "what the link adds to the time of a copy; empty: unknown, taken as 0")
          .column("duplex", &Link::duplex, Unit::none, "full or shared")
          .column("source", &Link::source, Unit::none, "where the figures come from")
          .may_be_empty()
          .column("assumed", &Link::assumed, Unit::none, "which columns are assumptions, each with its reason")
          .may_be_empty()
          .optional_column("class", &Link::link_class, Unit::none,
                           "links of one class are varied together by the sensitivity analysis; empty: by their ends")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
