/* A stand-in for NVIDIA's libnvidia-ml.so.1 with known counters.

   GPU g draws (g + 1) * (100 + 10 t) W, t in s of CLOCK_MONOTONIC since STAND_IN_T0_NS, and has counted
   (g + 1) * (100 t + 5 t^2) J. A power is of the moment at which the counter was read before it.

   STAND_IN_DRIVER=0       the driver is not loaded
   STAND_IN_WRAP_MJ=N      counters wrap around at N mJ
   STAND_IN_LOST_AFTER=N   GPU 1 has fallen off the bus after N readings of its counter */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK = 0, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15, GPUS = 2 };

static double read_at[GPUS];
static int readings[GPUS];

static long long number(const char *name, long long otherwise) {
    const char *value = getenv(name);
    return value ? atoll(value) : otherwise;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec * 1000000000LL + now.tv_nsec - number("STAND_IN_T0_NS", 0)) / 1e9;
}

static int gpu_of(void *handle) { return (int)(intptr_t)handle - 1; }

static int lost(int gpu) { return gpu == 1 && readings[gpu] > number("STAND_IN_LOST_AFTER", 1LL << 60); }

int nvmlInitWithFlags(unsigned flags) { (void)flags; return number("STAND_IN_DRIVER", 1) ? OK : DRIVER_NOT_LOADED; }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int error) { return error == GPU_IS_LOST ? "GPU is lost" : "Driver Not Loaded"; }
int nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "575.1"); return OK; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = GPUS; return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) { *handle = (void *)(intptr_t)(index + 1); return OK; }
int nvmlDeviceGetName(void *handle, char *text, unsigned length) { (void)handle; snprintf(text, length, "Stand-in"); return OK; }
int nvmlDeviceGetUUID(void *handle, char *text, unsigned length) { snprintf(text, length, "GPU-%d", gpu_of(handle)); return OK; }
int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned *mw) { (void)handle; *mw = 700000; return OK; }

int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *mj) {
    int gpu = gpu_of(handle);
    readings[gpu]++;
    if (lost(gpu)) return GPU_IS_LOST;
    double t = read_at[gpu] = seconds();
    *mj = (unsigned long long)((gpu + 1) * (100e3 * t + 5e3 * t * t));
    *mj %= (unsigned long long)number("STAND_IN_WRAP_MJ", 1LL << 62);
    return OK;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned *mw) {
    int gpu = gpu_of(handle);
    *mw = (unsigned)((gpu + 1) * (100e3 + 10e3 * read_at[gpu]));
    return lost(gpu) ? GPU_IS_LOST : OK;
}

int nvmlDeviceGetUtilizationRates(void *handle, unsigned *rates) { (void)handle; rates[0] = 90; rates[1] = 30; return OK; }
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *info) { (void)handle; info[0] = 100; info[1] = 60; info[2] = 40; return OK; }
int nvmlDeviceGetClockInfo(void *handle, int kind, unsigned *mhz) { (void)handle; *mhz = kind == 1 ? 1980 : 3201; return OK; }
int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius) { (void)handle; (void)sensor; *celsius = 61; return OK; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *reasons) { (void)handle; *reasons = 4; return OK; }
