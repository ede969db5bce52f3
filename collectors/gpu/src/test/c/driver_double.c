/* A stand-in for libcuda.so.1: answers what a probe asks, as the environment tells it to.
 * DRIVER_DOUBLE_INIT     what cuInit returns (default 0)
 * DRIVER_DOUBLE_DEVICES  how many devices there are (default 1)
 * DRIVER_DOUBLE_MEMORY   what cuDeviceTotalMem returns (default 0)
 * DRIVER_DOUBLE_END      if set, cuInit ends the process as a driver that fails an assertion does
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 3, INVALID_DEVICE = 101 };
enum { ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76 };

static int initialised;

static long setting(const char *name, long fallback) {
    const char *value = getenv(name);
    return value == NULL ? fallback : strtol(value, NULL, 10);
}

static int knows(int device) {
    return device >= 0 && device < setting("DRIVER_DOUBLE_DEVICES", 1);
}

int cuInit(unsigned flags) {
    (void)flags;
    if (getenv("DRIVER_DOUBLE_END") != NULL) {
        abort();
    }
    int answer = (int)setting("DRIVER_DOUBLE_INIT", SUCCESS);
    initialised = answer == SUCCESS;
    return answer;
}

int cuDriverGetVersion(int *version) {
    *version = 13010;
    return SUCCESS;
}

int cuDeviceGetCount(int *count) {
    *count = (int)setting("DRIVER_DOUBLE_DEVICES", 1);
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return knows(ordinal) ? SUCCESS : INVALID_DEVICE;
}

int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "Double %d", device);
    return knows(device) ? SUCCESS : INVALID_DEVICE;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = 150754820096u;
    return knows(device) ? (int)setting("DRIVER_DOUBLE_MEMORY", SUCCESS) : INVALID_DEVICE;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
    return knows(device) ? SUCCESS : INVALID_DEVICE;
}
