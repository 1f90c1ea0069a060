#include "runtimes/opencl/events.hpp"

#include <algorithm>
#include <chrono>

#include "runtimes/opencl/repeats.hpp"

namespace kernelcast::opencl {

namespace {

cl_ulong now_ns() {
  using namespace std::chrono;
  return static_cast<cl_ulong>(
      (duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()) + left_out()).count());
}

// Callbacks that wait for a status that the event has reached.
void notify(_cl_event& event) {
  auto& due = shared().due;
  std::erase_if(event.callbacks, [&](_cl_event::Callback const& one) {
    if (event.status > one.status) return false;
    // A failed command is complete for those who wait for that.
    cl_int const told = event.status < 0 ? event.status : one.status;
    due.emplace_back([held = Held<_cl_event>(&event), one, told] { one.function(held.get(), told, one.data); });
    return true;
  });
}

void end(_cl_event& event, cl_int status) {
  event.status = std::min<cl_int>(status, CL_COMPLETE);
  event.times[3] = now_ns();
  notify(event);
  shared().changed.notify_all();
}

void run_command(_cl_command_queue::Command& command) {
  auto& event = *command.event;
  event.times[1] = std::max(event.times[0], event.times[1]);
  event.times[2] = now_ns();
  event.status = CL_RUNNING;
  bool const failed = std::ranges::any_of(command.waits, [](auto const& wait) { return wait->status < 0; });
  if (!failed && may_change_all(event.type)) changed_all();
  end(event, failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : guarded(command.work));
}

bool is_ready(_cl_command_queue::Command const& command) {
  auto const ended = [](auto const& wait) { return wait->ended(); };
  return std::ranges::all_of(command.waits, ended) && std::ranges::all_of(command.after, ended);
}

// One command of the queue that can run; false where there is none.
bool run_one(_cl_command_queue& queue) {
  if (queue.busy) return false;  // in another thread, which goes on with it
  auto const last = queue.out_of_order() ? queue.commands.end() : queue.commands.begin() + !queue.commands.empty();
  auto const at = std::find_if(queue.commands.begin(), last, is_ready);
  if (at == last) return false;
  auto command = std::move(*at);
  queue.commands.erase(at);
  queue.busy = true;
  run_command(command);
  queue.busy = false;
  shared().changed.notify_all();
  if (queue.barrier && queue.barrier->ended()) queue.barrier = {};  // whose event holds the queue
  return true;
}

}  // namespace

void run_ready() {
  for (bool some = true; some;) {
    some = false;
    std::vector<Held<_cl_command_queue>> queues;  // a native kernel, run without the lock, may release one
    for (auto* queue : shared().queues) queues.emplace_back(queue);
    for (auto const& queue : queues) {
      while (run_one(*queue)) some = true;
    }
  }
}

void wait_until(Lock& lock, std::function<bool()> const& holds) {
  while (!holds()) {
    run_ready();
    if (holds()) return;
    if (!run_callbacks(lock)) shared().changed.wait(lock);
  }
}

cl_int enqueue(Lock& lock, Enqueued const& given, std::function<cl_int()> work) {
  auto& queue = *given.queue;
  require((given.waits == 0) == (given.wait_list == nullptr), CL_INVALID_EVENT_WAIT_LIST);
  _cl_command_queue::Command command;
  for (cl_uint w = 0; w < given.waits; ++w) {
    auto& event = known(given.wait_list[w], Kind::event, CL_INVALID_EVENT_WAIT_LIST);
    require(event.context.get() == queue.context.get(), CL_INVALID_CONTEXT);
    command.waits.emplace_back(&event);
  }
  using Order = Enqueued::Order;
  if (queue.out_of_order()) {
    bool const for_all = given.order == Order::barrier || (given.order == Order::marker && given.waits == 0);
    if (for_all && given.waits == 0)
      for (auto const& earlier : queue.commands) command.after.push_back(earlier.event);
    if (queue.barrier && !queue.barrier->ended()) command.after.push_back(queue.barrier);
  }
  auto event = std::make_unique<_cl_event>();
  event->context = queue.context;
  event->queue = &queue;
  event->type = given.type;
  event->profiled = (queue.properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  event->times[0] = now_ns();
  event->references = given.event ? 1 : 0;
  Held<_cl_event> const held(event.release());
  if (given.event) *given.event = held.get();
  if (given.order == Order::barrier && queue.out_of_order()) queue.barrier = held;
  command.event = held;
  command.work = std::move(work);
  queue.commands.push_back(std::move(command));
  run_ready();
  if (!given.blocking) return CL_SUCCESS;
  wait_until(lock, [&] { return held->ended(); });
  return std::min<cl_int>(held->status, CL_SUCCESS);
}

namespace api {

cl_int CL_API_CALL clRetainEvent(cl_event event) {
  return retain(event, Kind::event, CL_INVALID_EVENT);
}
cl_int CL_API_CALL clReleaseEvent(cl_event event) {
  return release(event, Kind::event, CL_INVALID_EVENT);
}

cl_int CL_API_CALL clWaitForEvents(cl_uint count, cl_event const* events) {
  return call([&](Lock& lock) {
    require(count > 0 && events, CL_INVALID_VALUE);
    std::vector<Held<_cl_event>> all;
    for (cl_uint e = 0; e < count; ++e) {
      all.emplace_back(&known_event(events[e]));
      require(all.back()->context.get() == all.front()->context.get(), CL_INVALID_CONTEXT);
    }
    wait_until(lock, [&] { return std::ranges::all_of(all, [](auto const& event) { return event->ended(); }); });
    bool const failed = std::ranges::any_of(all, [](auto const& event) { return event->status < 0; });
    return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetEventInfo(cl_event given, cl_event_info what, std::size_t capacity, void* value,
                                  std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& event = known_event(given);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_EVENT_COMMAND_QUEUE:
        return answer(event.queue.get());
      case CL_EVENT_CONTEXT:
        return answer(event.context.get());
      case CL_EVENT_COMMAND_TYPE:
        return answer(event.type);
      case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return answer(event.status);
      case CL_EVENT_REFERENCE_COUNT:
        return answer(event.references);
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event given, cl_profiling_info what, std::size_t capacity, void* value,
                                           std::size_t* bytes) {
  return call([&](Lock&) {
    auto const& event = known_event(given);
    require(event.profiled && event.status == CL_COMPLETE, CL_PROFILING_INFO_NOT_AVAILABLE);
    Answer const answer{capacity, value, bytes};
    switch (what) {
      case CL_PROFILING_COMMAND_QUEUED:
        return answer(event.times[0]);
      case CL_PROFILING_COMMAND_SUBMIT:
        return answer(event.times[1]);
      case CL_PROFILING_COMMAND_START:
        return answer(event.times[2]);
      case CL_PROFILING_COMMAND_END:
      case CL_PROFILING_COMMAND_COMPLETE:
        return answer(event.times[3]);
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  });
}

cl_int CL_API_CALL clSetEventCallback(cl_event given, cl_int status,
                                      void(CL_CALLBACK* function)(cl_event, cl_int, void*), void* data) {
  return call([&](Lock&) {
    auto& event = known_event(given);
    require(function && (status == CL_SUBMITTED || status == CL_RUNNING || status == CL_COMPLETE), CL_INVALID_VALUE);
    event.callbacks.push_back({status, function, data});
    notify(event);
  });
}

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* error) {
  return make(error, [&](Lock&) {
    auto& in = known_context(context);
    auto made = std::make_unique<_cl_event>();
    made->context = &in;
    made->status = CL_SUBMITTED;
    return made.release();
  });
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event given, cl_int status) {
  return call([&](Lock&) {
    auto& event = known_event(given);
    require(!event.queue, CL_INVALID_EVENT);
    require(status <= CL_COMPLETE, CL_INVALID_VALUE);
    require(!event.ended(), CL_INVALID_OPERATION);
    Held<_cl_event> const held(&event);
    end(event, status);
    run_ready();
  });
}

cl_int CL_API_CALL clFlush(cl_command_queue queue) {
  return call([&](Lock&) {
    known_queue(queue);
    run_ready();
  });
}

cl_int CL_API_CALL clFinish(cl_command_queue given) {
  return call([&](Lock& lock) {
    Held<_cl_command_queue> const queue(&known_queue(given));
    wait_until(lock, [&] { return queue->commands.empty() && !queue->busy; });
  });
}

cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong* of_device, cl_ulong* of_host) {
  return call([&](Lock&) {
    known_device(device);
    require(of_device && of_host, CL_INVALID_VALUE);
    *of_device = *of_host = now_ns();
  });
}
cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong* of_host) {
  return call([&](Lock&) {
    known_device(device);
    require(of_host != nullptr, CL_INVALID_VALUE);
    *of_host = now_ns();
  });
}

}  // namespace api
}  // namespace kernelcast::opencl
