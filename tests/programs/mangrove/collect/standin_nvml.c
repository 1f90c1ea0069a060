/* A stand-in for libnvidia-ml.so.1: one device whose power is what a test says.
   STANDIN_NVML_WATTS: the power (default 250). STANDIN_NVML_COUNTER=0: no energy counter. STANDIN_NVML_DEVICES=0: none.
   STANDIN_NVML_POWER=0: no power at all. The counter and the sensor change every 20 ms. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { success = 0, not_supported = 3, not_found = 6 };

static double number(char const* name, double otherwise) {
  char const* text = getenv(name);
  return text ? atof(text) : otherwise;
}
static double watts(void) {
  return number("STANDIN_NVML_WATTS", 250);
}
static double ticks_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double const s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  return (double)(long long)(s / 0.02) * 0.02;
}

int nvmlInit_v2(void) {
  return success;
}
char const* nvmlErrorString(int result) {
  return result == not_supported ? "Not Supported" : result == not_found ? "Not Found" : "Unknown Error";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = (unsigned)number("STANDIN_NVML_DEVICES", 1);
  return success;
}
static int device;
int nvmlDeviceGetHandleByIndex_v2(unsigned number_of, void** out) {
  *out = &device;
  return number_of == 0 ? success : not_found;
}
int nvmlDeviceGetHandleByPciBusId_v2(char const* address, void** out) {
  *out = &device;
  return strlen(address) >= 7 ? success : not_found;
}
int nvmlDeviceGetName(void* of, char* text, unsigned length) {
  (void)of;
  strncpy(text, "Tesla V100-SXM2-16GB", length);
  return success;
}
int nvmlDeviceGetPowerUsage(void* of, unsigned* mw) {
  (void)of;
  if (number("STANDIN_NVML_POWER", 1) == 0) return not_supported;
  *mw = (unsigned)(watts() * 1000);
  return success;
}
int nvmlDeviceGetTotalEnergyConsumption(void* of, unsigned long long* mj) {
  (void)of;
  if (number("STANDIN_NVML_COUNTER", 1) == 0) return not_supported;
  *mj = (unsigned long long)(watts() * ticks_s() * 1000);
  return success;
}
