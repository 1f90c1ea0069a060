// The application's command queues, where launches may be sent to other devices of their contexts.
//
// Problem: a launch that is sent elsewhere becomes several commands in its queue; in an in-order queue no command of
// another thread may come between them.
// Method: each queue whose context has several devices has a lock, held while a command is enqueued. A call that waits
// for its command does so after the lock: the command is enqueued as one that does not wait.
// Limits: commands of extensions (command buffers, sharing with Direct3D and EGL) pass by.
#pragma once

#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kernelcast::attach {

struct Device {
  cl_device_id id = nullptr;
  unsigned number = 0;  // of this process: decisions.hpp
  std::string name;
};

struct Queue {
  cl_command_queue handle = nullptr;
  cl_context context = nullptr;
  Device device;
  std::vector<Device> others;  // of its context
  bool in_order = true, profiling = false;
  std::recursive_mutex mutex;  // an event's callback may enqueue, within a call that enqueues
  // Guarded by the mutex: a queue of ours on each device that was sent to, and the last barrier of a queue that is not
  // in order.
  std::map<cl_device_id, cl_command_queue> ours;
  cl_event barrier = nullptr;
  unsigned references = 1;  // the application's
};

void take_queues(cl_icd_dispatch& layer);  // after those that launch

// As the application listed them: PoCL gives the whole device in place of its parts.
std::vector<cl_device_id> devices_of(cl_context);

// Null where its launches cannot be sent anywhere else.
std::shared_ptr<Queue> find_queue(cl_command_queue);

// Made where there is none yet; null where the device has no such queue. With the mutex held.
cl_command_queue our_queue(Queue&, Device const&);

}  // namespace kernelcast::attach
